"""Golden snapshots: written by people, compared by jobs, and never a place for a secret."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from ctxc.app import snapshots
from ctxc.app.bundle import read_bundle
from ctxc.app.diff import diff_workspace
from ctxc.app.diff_sides import DiffRequest
from ctxc.app.selection import Selection
from ctxc.app.workspace import Workspace, open_workspace
from ctxc.base.errors import NothingMatched, UnreadableSource, UsageError

KEY = "AKIA" + "Q7RT2M4WZX5LPN3V"
SOURCES = "fragments/core/sources.md"


def opened(root: Path) -> Workspace:
    return open_workspace(root, flags={}, environment={}, no_cache=True)


def check(root: Path, *fixtures: str) -> snapshots.Checked:
    return snapshots.check(opened(root), root / snapshots.FOLDER, Selection(fixtures=fixtures))


def save(root: Path) -> snapshots.Checked:
    checked = check(root)
    snapshots.write(root / snapshots.FOLDER, checked.texts, (*checked.missing, *checked.differ), {})
    return checked


def edit(root: Path, path: str, old: str, new: str) -> None:
    place = root / path
    text = place.read_text(encoding="utf-8")
    assert old in text
    place.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_saved_twice_is_the_same_bytes(starter: Path) -> None:
    first = save(starter)
    assert (first.missing, first.same, first.is_fine) == (("opening_hours", "refund_question"), (), False)
    folder = starter / snapshots.FOLDER
    before = {p.name: p.read_bytes() for p in folder.iterdir()}
    again = check(starter)
    assert again.is_fine and again.same == first.missing and again.change.is_empty
    snapshots.write(folder, again.texts, again.texts, {})
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == before
    assert all(b"\r" not in data and data.endswith(b"}\n") for data in before.values())
    assert not any(str(starter).encode() in data for data in before.values()), "no place of this machine"


def test_what_differs_is_a_diff_with_words(starter: Path) -> None:
    save(starter)
    (starter / SOURCES).write_text((starter / SOURCES).read_text() + "Answer in one sentence.\n")
    checked = check(starter)
    assert checked.differ == ("opening_hours", "refund_question") and checked.same == ()
    section = next(s for f in checked.change.fixtures for s in f.sections if s.hunks)
    assert [(r.op, r.text.strip()) for r in section.hunks[0].runs] == [("+", "Answer in one sentence.")]
    assert section.path == SOURCES
    one = check(starter, "opening_hours")
    assert (one.differ, one.orphans) == (("opening_hours",), ())


def test_a_snapshot_without_a_fixture_is_left_over(starter: Path) -> None:
    save(starter)
    (starter / "tests/fixtures/opening_hours.yaml").unlink()
    checked = check(starter)
    assert (checked.orphans, checked.same, checked.is_fine) == (("opening_hours",), ("refund_question",), False)
    assert check(starter, "refund_question").orphans == (), "a part of a project says nothing of the rest"
    assert snapshots.remove(starter / snapshots.FOLDER, checked.orphans, {}) == ["opening_hours.json"]
    assert check(starter).is_fine


def test_a_secret_is_never_written(starter: Path) -> None:
    (starter / SOURCES).write_text((starter / SOURCES).read_text() + f"aws_access_key_id = {KEY}\n")
    save(starter)
    for path in (starter / snapshots.FOLDER).iterdir():
        assert KEY not in path.read_text(encoding="utf-8")
    assert check(starter).is_fine, "masked on both sides"
    edit(starter, SOURCES, KEY, KEY[:-1] + "W")
    changed = check(starter)
    assert changed.differ == ("opening_hours", "refund_question"), "another secret is a change"
    told = repr(changed.change)
    assert KEY not in told and KEY[:-1] not in told


@pytest.mark.parametrize("value", ["true", "1", "yes"])
def test_a_job_writes_nothing(starter: Path, value: str) -> None:
    checked = check(starter)
    for act in (
        lambda: snapshots.write(starter / snapshots.FOLDER, checked.texts, checked.missing, {"CI": value}),
        lambda: snapshots.remove(starter / snapshots.FOLDER, ["opening_hours"], {"CI": value}),
    ):
        with pytest.raises(UsageError, match="not written where CI is set"):
            act()
    assert not (starter / snapshots.FOLDER).exists()
    snapshots.refuse_in_ci({"CI": "false"})
    snapshots.refuse_in_ci({})


def test_two_snapshots_of_one_fixture_are_refused(starter: Path) -> None:
    save(starter)
    folder = starter / snapshots.FOLDER
    shutil.copy(folder / "opening_hours.json", folder / "copy.json")
    with pytest.raises(UnreadableSource, match="a second snapshot of fixture 'opening_hours'"):
        check(starter)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (("sections", 0, "content_hash"), "/sections/0/content_hash"),
        (("sections", 0, "location"), "/sections/0/location"),
        (("cache", "segments", 0, "hash"), "/cache/segments/0/hash"),
        (("budget",), "/budget"),
    ],
)
def test_a_damaged_snapshot_is_refused_with_its_place(starter: Path, keys: tuple[str | int, ...], said: str) -> None:
    save(starter)
    place = starter / snapshots.FOLDER / "opening_hours.json"
    value = json.loads(place.read_text(encoding="utf-8"))
    here = value
    for key in keys[:-1]:
        here = here[key]
    here[keys[-1]] = [{"a": KEY}]
    place.write_text(json.dumps(value), encoding="utf-8")
    with pytest.raises(
        UnreadableSource, match=rf"opening_hours\.json: the saved snapshot is damaged: {said}"
    ) as refused:
        check(starter)
    assert KEY not in refused.value.message


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes and devices")
def test_a_pipe_is_not_waited_for_and_a_device_not_read(starter: Path) -> None:
    save(starter)
    place = starter / snapshots.FOLDER / "more.json"
    os.mkfifo(place)
    with pytest.raises(UnreadableSource, match=r"more\.json is not a regular file"):
        check(starter)
    place.unlink()
    place.symlink_to("/dev/zero")
    with pytest.raises(UnreadableSource, match=r"more\.json is not a regular file"):
        check(starter)
    with pytest.raises(UnreadableSource, match=r"is not a regular file"):
        read_bundle(place, "more.json")


def test_the_report_of_a_compile_is_a_base_too(starter: Path) -> None:
    """What ``ctxc compile --format json`` printed holds the snapshots of every fixture, without texts."""
    from ctxc.app.compiling import CompileOptions, compile_fixtures
    from ctxc.report import View, render_run

    run = compile_fixtures(opened(starter), Selection(), CompileOptions(with_packages=True)).run
    (starter / "before.json").write_text(render_run("json", run, View()), encoding="utf-8")
    edit(starter, SOURCES, "\n", "\nAnswer in one sentence.\n")
    change = diff_workspace(opened(starter), DiffRequest(base="snapshot:before.json")).change
    assert [(f.fixture_id, f.status) for f in change.fixtures] == [
        ("opening_hours", "changed"),
        ("refund_question", "changed"),
    ]
    first = change.fixtures[0].prefix
    assert first is not None and first.first_difference is not None
    assert change.base.kind == "snapshot"


def test_a_base_that_is_no_snapshot(starter: Path) -> None:
    for name, text in (
        ("a.json", "[]"),
        ("b.json", '{"schema": "ctxc.diff/1"}'),
        ("c.json", "{"),
        ("d.json", "[" * 9999),
    ):
        (starter / name).write_text(text)
        with pytest.raises(UnreadableSource):
            diff_workspace(opened(starter), DiffRequest(base=f"snapshot:{name}"))
    with pytest.raises(UnreadableSource, match=r"nowhere\.json cannot be read"):
        diff_workspace(opened(starter), DiffRequest(base="snapshot:nowhere.json"))
    (starter / "empty").mkdir()
    with pytest.raises(NothingMatched, match="empty holds no snapshot: nothing was compared"):
        diff_workspace(opened(starter), DiffRequest(base="snapshot:empty"))


def test_a_snapshot_is_valid_json_with_sorted_keys(starter: Path) -> None:
    checked = check(starter)
    for text in checked.texts.values():
        value = json.loads(text)
        assert list(value) == sorted(value)
        assert value["schema"] == "ctxc.snapshot/1"
        assert {c["section_id"] for c in value["content"]} <= {s["section_id"] for s in value["sections"]}


def test_the_example_library_is_as_it_was_saved(root: Path, tmp_path: Path) -> None:
    """Tools, marks, cuts and candidates that were left out, in every shape of request that the library has."""
    for name in ("templates", "fragments", "policies", "tests/fixtures"):
        shutil.copytree(root / name, tmp_path / name)
    saved = save(tmp_path)
    assert len(saved.missing) > 30
    again = check(tmp_path)
    assert (again.differ, again.change.is_empty) == ((), True)
    assert set(again.same) == set(saved.missing)
    place = tmp_path / "templates/claimant_v7/tools/claims_tools.yaml"
    text = place.read_text(encoding="utf-8")
    place.write_text(text.replace("Find a service", "Look for a service", 1), encoding="utf-8")
    changed = check(tmp_path)
    assert len(changed.differ) >= 9
    for fixture in changed.change.fixtures:
        if fixture.status == "changed":
            assert fixture.template == "claimant_v7"
            assert set(fixture.facets) <= {"content", "tokens", "prefix", "tools", "budget"}
            assert fixture.tools is None, "a saved snapshot has no definitions to compare with"
            assert not fixture.drops
            assert "tool definitions" in [f.name for f in fixture.fields]


def test_what_one_fixture_has_of_a_change(starter: Path) -> None:
    save(starter)
    (starter / SOURCES).write_text((starter / SOURCES).read_text() + "Answer in one sentence.\n")
    change = check(starter).change
    one = snapshots.of_fixture(change, "refund_question")
    assert [f.fixture_id for f in one.fixtures] == ["refund_question"]
    assert (change.totals.changed, one.totals.changed) == (2, 1)
    assert {name for edit in one.edits for name in edit.fixtures} == {"refund_question"}
