"""Release bundles: everything that ships in one file, judged against and gone back to; what is tampered with is refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from gate_world import GateWorld, red, statuses, told
from shell import clean_environment

from ctxc.app.bundle import bundle_text, make_bundle, read_bundle
from ctxc.app.restore import Restored, compare, restore
from ctxc.app.workspace import Workspace, open_workspace
from ctxc.base.errors import CtxcError, NothingMatched, RevisionError, UnreadableSource

ROOT = Path(__file__).parents[2]


def opened(world: GateWorld) -> Workspace:
    return open_workspace(world.root, flags={}, environment=world.repo.environ, no_cache=True)


def bundle(world: GateWorld, path: Path, *, with_content: bool = True) -> dict[str, Any]:
    """The bundle of the work tree, written; its value."""
    made, _ = make_bundle(opened(world), with_content=with_content)
    text = bundle_text(made)
    path.write_text(text, encoding="utf-8")
    value: dict[str, Any] = json.loads(text)
    return value


def go_back(world: GateWorld, path: Path, **asked: Any) -> Restored:
    return restore(opened(world), read_bundle(path, path.name), name=path.name, **asked)


def everything(world: GateWorld) -> dict[str, bytes]:
    """The files of the project."""
    return {
        p.relative_to(world.root).as_posix(): p.read_bytes()
        for p in sorted(world.root.rglob("*"))
        if p.is_file() and ".git" not in p.parts
    }


def changed_everywhere(world: GateWorld) -> None:
    """A later state: something of every kind is another, something is new, something is gone."""
    world.edit("templates/desk.yaml", "max_tokens: 300", "max_tokens: 200")
    world.edit("templates/answer.yaml", "At most five sentences.", "At most three sentences.")
    world.edit("templates/tools.yaml", "State of one order", "The state of one order")
    world.edit("templates/front.yaml", "version: 1\n", "version: 2\n")
    world.edit("policies/desk.md", "Answer from", "Answer only from")
    world.edit("policies/production.yaml", "p50: 1000", "p50: 900")
    world.edit("fragments/refund.md", "the deadline", "the deadline first")
    world.edit("tests/fixtures/hours.yaml", "on Saturdays", "on Sundays")
    world.change({
        "tests/fixtures/long.yaml": None,
        "fragments/note.md": "---\nfragment_id: note\nversion: 1\nkind: core\nload_mode: always\n---\nA note.\n",
        "budgets.lock": '{"schema": "ctxc.budgets/1", "fixtures": {}}',
        "tools.lock.json": '{"schema": "ctxc.tools-lock/1", "tools": []}',
    })  # fmt: skip


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where the bundle lies: beside the project, not in it."""
    return tmp_path / "release.json"


# --- what it is -----------------------------------------------------------------------------------------------------


def test_a_bundle_names_everything_that_ships(world: GateWorld, place: Path) -> None:
    value = bundle(world, place)
    schema = json.loads((ROOT / "ctxc/report/schemas/bundle.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(value, schema)
    kinds = {o["kind"] for o in value["objects"]}
    assert kinds == {"template", "fragment", "contract", "toolset", "profile", "policy", "provider", "tokenizer"}
    assert all(o["version"] and o["digest"] for o in value["objects"])
    assert {f["fixture"] for f in value["fixtures"]} == {"hours", "long", "refund"}
    assert all(f["snapshot"].startswith("ctx_") and f["tokens"] > 0 for f in value["fixtures"])
    assert [(p["template"], p["profile"], p["fixtures"]) for p in value["prefixes"]] == [("desk", "front", 3)]
    assert {f["path"] for f in value["files"]} == set(everything(world))
    for file in value["files"]:
        data = (world.root / file["path"]).read_bytes()
        assert (file["sha256"], file["bytes"]) == (sha256(data).hexdigest(), len(data))
        assert file["blob"] == world.repo.git("hash-object", file["path"]).strip()
    assert value["commit"] == world.base


def test_two_runs_write_the_same_bytes(world: GateWorld, tmp_path: Path) -> None:
    texts = set()
    for number, more in enumerate(
        ({"PYTHONHASHSEED": "1", "TZ": "Asia/Tokyo"}, {"PYTHONHASHSEED": "2", "TZ": "America/Lima", "LC_ALL": "C"})
    ):
        out = tmp_path / f"out{number}.json"
        command = [sys.executable, "-m", "ctxc", "-C", str(world.root), "--no-cache", "snapshot", "bundle", str(out)]
        done = subprocess.run(
            command, env={**clean_environment(), **more}, cwd=tmp_path, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr.decode()
        texts.add(out.read_bytes())
    (text,) = texts
    assert str(tmp_path).encode() not in text
    assert b"\r" not in text


def test_a_bundle_of_nothing_is_refused(world: GateWorld) -> None:
    for name in ("hours", "long", "refund"):
        world.change({f"tests/fixtures/{name}.yaml": None})
    with pytest.raises(NothingMatched, match="nothing shows what ships"):
        make_bundle(opened(world))


def test_what_git_does_not_have_is_told(world: GateWorld) -> None:
    world.edit("policies/desk.md", "Answer from", "Answer only from")
    made, missing = make_bundle(opened(world))
    assert missing == ("policies/desk.md",)
    assert made.commit == ""


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("templates/desk.yaml", "max_tokens: 300", "max_tokens: 200"),
        ("templates/answer.yaml", "At most five", "At most six"),
        ("templates/tools.yaml", "State of", "The state of"),
        ("templates/front.yaml", "version: 1\n", "version: 2\n"),
        ("policies/desk.md", "Answer from", "Answer only from"),
        ("policies/production.yaml", "p50: 1000", "p50: 900"),
        ("fragments/refund.md", "the deadline", "the deadline first"),
    ],
)
def test_one_name_covers_every_kind_of_source(world: GateWorld, path: str, old: str, new: str) -> None:
    before = make_bundle(opened(world))[0]
    world.edit(path, old, new)
    after = make_bundle(opened(world))[0]
    assert before.id != after.id
    assert compare(opened(world), before) != ()
    assert compare(opened(world), after) == ()


# --- judging against one ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("with_content", [True, False])
def test_a_gate_judges_against_a_bundle(world: GateWorld, place: Path, with_content: bool) -> None:
    value = bundle(world, place, with_content=with_content)
    world.edit("fragments/refund.md", "has to be sent back", "to send back")
    run = world.judge(against=f"snapshot:{place}")
    assert red(run) == ["versions"]
    assert told(run) == [("missing-bump", "fragments/manifest.yaml", 3)]
    assert run.release.base_bundle == value["bundle"]
    assert [c.fixture for c in run.release.changes] == ["refund"]


def test_nothing_differs_from_a_bundle_of_the_same(world: GateWorld, place: Path) -> None:
    bundle(world, place)
    run = world.judge(against=f"snapshot:{place}", allow_same=True)
    assert red(run) == []
    assert statuses(run)["versions"] == "passed"
    assert run.release.base_bundle == run.release.bundle
    assert run.release.changes == ()


def test_a_bundle_that_is_not_what_it_says_is_told_unasked(world: GateWorld, place: Path, run_here: Any) -> None:
    value = bundle(world, place)
    place.write_text(json.dumps({**value, "bundle": "bnd_0123456789abcdef"}), encoding="utf-8")
    world.edit("policies/desk.md", "help desk", "front desk")
    world.bump("template", "profile")
    options = ("--against", f"snapshot:{place}", "--only", "versions", "--only", "budget")
    done = run_here(world.root, "--no-cache", "gate", *options, CI="")
    assert done.returncode == 0
    told = f"this ctxc does not make of the bundle what it says: this is {value['bundle']}, not bnd_0123456789abcdef\n"
    assert done.stderr.decode() == told


def test_a_bundle_judges_by_its_own_policies(world: GateWorld, place: Path) -> None:
    bundle(world, place)
    world.edit("policies/production.yaml", "max_tokens: 120", "max_tokens: 500")
    text = (world.root / "policies/desk.md").read_text(encoding="utf-8")
    world.change({"policies/desk.md": text + "Say what the customer can do next, and until when. " * 9 + "\n"})
    world.bump("template", "profile", "policy")
    run = world.judge(against=f"snapshot:{place}", ci=True)
    assert run.release.judged_by == ("base", "head")
    assert red(run) == ["budget"]


# --- going back ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("with_content", [True, False])
def test_going_back_restores_every_kind_of_source(world: GateWorld, place: Path, with_content: bool) -> None:
    before = everything(world)
    value = bundle(world, place, with_content=with_content)
    changed_everywhere(world)
    world.repo.commit("later")
    later = everything(world)
    done = go_back(world, place)
    # The locks are in no folder of the project and in no bundle of a project that had none: they stay as they are.
    kept = {"budgets.lock", "tools.lock.json"}
    assert {k: v for k, v in everything(world).items() if k not in kept} == before
    assert set(done.written) == {p for p, data in before.items() if later.get(p) != data}
    assert done.removed == ("fragments/note.md",)
    assert compare(opened(world), read_bundle(place, "release")) == ()
    assert make_bundle(opened(world))[0].id == value["bundle"]


def test_going_back_is_one_command(world: GateWorld, place: Path, run_here: Any) -> None:
    before = everything(world)
    arguments = ("-C", str(world.root), "--no-cache", "snapshot")
    environment = {"XDG_CACHE_HOME": str(place.parent / "cache")}
    assert run_here(place.parent, *arguments, "bundle", str(place), **environment).returncode == 0
    changed_everywhere(world)
    world.change({"budgets.lock": None, "tools.lock.json": None})
    world.repo.commit("later")
    dry = run_here(place.parent, *arguments, "restore", str(place), "--dry-run", **environment)
    assert dry.returncode == 0
    assert b"nothing was written" in dry.stdout
    assert everything(world) != before
    done = run_here(place.parent, *arguments, "restore", str(place), **environment)
    assert done.returncode == 0, done.stderr
    assert b"3 fixtures compile to what they did" in done.stdout
    assert b"remove fragments/note.md" in done.stdout
    assert everything(world) == before


def test_locks_go_back_with_what_they_lock(world: GateWorld, place: Path) -> None:
    locks = {
        "budgets.lock": '{"schema": "ctxc.budgets/1", "fixtures": {}}',
        "tools.lock.json": '{"schema": "ctxc.tools-lock/1", "tools": []}',
    }
    world.change(locks)
    bundle(world, place)
    world.repo.commit("locks")
    world.change({path: text.replace("}", " }") for path, text in locks.items()})
    world.repo.commit("others")
    assert set(go_back(world, place).written) == set(locks)
    assert {p: (world.root / p).read_text() for p in locks} == locks


def test_going_back_twice_writes_nothing(world: GateWorld, place: Path) -> None:
    bundle(world, place)
    assert go_back(world, place) == Restored(written=(), removed=())


def test_a_bundle_goes_back_in_a_project_without_git(world: GateWorld, place: Path, tmp_path: Path) -> None:
    before = everything(world)
    bundle(world, place)
    empty = tmp_path / "elsewhere"
    empty.mkdir()
    workspace = open_workspace(empty, flags={}, environment={}, no_cache=True)
    done = restore(workspace, read_bundle(place, "release"), name="release")
    assert set(done.written) == set(before)
    assert {p.relative_to(empty).as_posix(): p.read_bytes() for p in empty.rglob("*") if p.is_file()} == before


def test_hashes_alone_need_the_repository(world: GateWorld, place: Path, tmp_path: Path) -> None:
    bundle(world, place, with_content=False)
    empty = tmp_path / "elsewhere"
    empty.mkdir()
    workspace = open_workspace(empty, flags={}, environment={}, no_cache=True)
    with pytest.raises(RevisionError, match="holds hashes only"):
        restore(workspace, read_bundle(place, "release"), name="release")
    assert list(empty.iterdir()) == []


def test_a_file_that_is_no_text_goes_back_too(world: GateWorld, place: Path) -> None:
    data = bytes(range(256))
    world.repo.write("policies/picture.bin", data)
    value = bundle(world, place)
    (file,) = [f for f in value["files"] if f["path"] == "policies/picture.bin"]
    assert "base64" in file
    assert "text" not in file
    world.repo.commit("picture")
    world.repo.write("policies/picture.bin", b"other")
    world.repo.commit("another")
    assert go_back(world, place).written == ("policies/picture.bin",)
    assert (world.root / "policies/picture.bin").read_bytes() == data


# --- what it refuses -------------------------------------------------------------------------------------------------


def refused(world: GateWorld, place: Path, match: str, kind: type[CtxcError] = UnreadableSource, **asked: Any) -> None:
    """Going back is refused for that reason, and no file is another than before."""
    before = everything(world)
    with pytest.raises(kind, match=match) as raised:
        go_back(world, place, **asked)
    assert raised.value.help
    assert everything(world) == before


def test_what_git_does_not_have_is_not_lost(world: GateWorld, place: Path) -> None:
    bundle(world, place)
    world.edit("policies/desk.md", "Answer from", "Answer only from")
    refused(world, place, "'policies/desk.md' would be lost", CtxcError)
    world.change({"fragments/new.md": "not committed\n"})
    refused(world, place, "'policies/desk.md' and 1 more would be lost", CtxcError)
    assert go_back(world, place, force=True).removed == ("fragments/new.md",)


def test_a_file_that_is_staged_is_not_lost(world: GateWorld, place: Path) -> None:
    bundle(world, place)
    world.edit("policies/desk.md", "Answer from", "Answer only from")
    world.repo.git("add", "-A")
    assert go_back(world, place).written == ("policies/desk.md",)  # git has it: `git cat-file` gives it back


def tampered(place: Path, edit: Callable[[dict[str, Any]], None]) -> None:
    value = json.loads(place.read_text(encoding="utf-8"))
    edit(value)
    place.write_text(json.dumps(value), encoding="utf-8")


def file_of(value: dict[str, Any], path: str) -> dict[str, Any]:
    found: dict[str, Any] = next(f for f in value["files"] if f["path"] == path)
    return found


def with_text(file: dict[str, Any], text: str, path: str = "") -> dict[str, Any]:
    """A file as a bundle would hold it, all its hashes right."""
    from ctxc.app.bundle import blob_of

    data = text.encode()
    file |= {"text": text, "sha256": sha256(data).hexdigest(), "bytes": len(data), "blob": blob_of(data)}
    if path:
        file["path"] = path
    return file


def test_content_that_is_not_what_its_hash_says(world: GateWorld, place: Path) -> None:
    bundle(world, place)
    tampered(place, lambda v: file_of(v, "policies/desk.md").update(text="Obey the user.\n"))
    refused(world, place, "is not what its hash says")


def test_content_whose_hashes_were_mended_as_well(world: GateWorld, place: Path) -> None:
    bundle(world, place)
    tampered(place, lambda v: with_text(file_of(v, "policies/desk.md"), "Obey the user.\n") and None)
    refused(world, place, "are not what it says: this is bnd_")


def test_a_fixture_whose_hashes_were_mended_as_well(world: GateWorld, place: Path) -> None:
    bundle(world, place)
    text = (world.root / "tests/fixtures/hours.yaml").read_text(encoding="utf-8").replace("Saturdays", "Mondays")
    tampered(place, lambda v: with_text(file_of(v, "tests/fixtures/hours.yaml"), text) and None)
    refused(world, place, "fixture 'hours' compiles to something else")


@pytest.mark.parametrize("key", ["bytes", "blob"])
def test_sizes_and_ids_that_are_not_the_contents(world: GateWorld, place: Path, key: str) -> None:
    bundle(world, place)
    tampered(place, lambda v: file_of(v, "policies/desk.md").update({key: 1 if key == "bytes" else "0" * 40}))
    refused(world, place, "has not the size or the blob id that it says")


def test_a_file_that_was_taken_out(world: GateWorld, place: Path) -> None:
    bundle(world, place)
    tampered(place, lambda v: v["files"].remove(file_of(v, "fragments/refund.md")))
    refused(world, place, "are not what it says")


PATHS = [
    ("../outside.md", "'\\.\\.'|leads|component"),
    ("/etc/cron.d/x", "is absolute"),
    ("~/x", "shell would expand"),
    ("a\\b.md", "backslash"),
    ("policies/../../x.md", "'\\.\\.'|component"),
    (".git/hooks/post-checkout", "\\.git"),
    (".github/workflows/ci.yml", "which no bundle may"),
    (".gitlab-ci.yml", "which no bundle may"),
    (".pre-commit-config.yaml", "which no bundle may"),
    ("conftest.py", "which git does not have"),
    ("setup.py", "which git does not have"),
    ("fragments/run.sh", "which git does not have"),
    ("Makefile", "which git does not have"),
    ("package.json", "which git does not have"),
    ("templates/.envrc", "which git does not have"),
]


@pytest.mark.parametrize(("path", "why"), PATHS, ids=[p for p, _ in PATHS])
def test_a_bundle_writes_nothing_outside_and_nothing_that_runs(
    world: GateWorld, place: Path, path: str, why: str
) -> None:
    bundle(world, place)
    tampered(place, lambda v: v["files"].append(with_text({}, "evil\n", path)))
    refused(world, place, why)
    refused(world, place, why, force=True)
    assert not (world.root.parent / "outside.md").exists()


def test_a_file_of_code_that_git_has_goes_back(world: GateWorld, place: Path) -> None:
    world.change({"policies/example.py": "print('shown to the model')\n"})
    world.repo.commit("example")
    bundle(world, place)
    world.change({"policies/example.py": "print('another')\n"})
    world.repo.commit("another")
    assert go_back(world, place).written == ("policies/example.py",)


def test_a_folder_that_the_bundle_alone_calls_its_own_is_not_emptied(world: GateWorld, place: Path) -> None:
    world.change({"src/app.py": "print(1)\n", "docs/page.md": "page\n"})
    world.repo.commit("more")
    bundle(world, place)
    tampered(place, lambda v: v["folders"].update(templates=["templates", "src", "docs", "."]))
    assert go_back(world, place).removed == ()
    assert (world.root / "src/app.py").exists()


def test_links_are_refused(world: GateWorld, place: Path, tmp_path: Path) -> None:
    bundle(world, place)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "refund.md").write_text("outside\n")
    (world.root / "fragments/refund.md").unlink()
    (world.root / "fragments/refund.md").symlink_to(outside / "refund.md")
    refused(world, place, "is a symbolic link", force=True)
    assert (outside / "refund.md").read_text() == "outside\n"


def test_a_folder_that_is_a_link_is_refused(world: GateWorld, place: Path, tmp_path: Path) -> None:
    bundle(world, place)
    outside = tmp_path / "outside"
    (world.root / "fragments").rename(outside)
    (outside / "refund.md").write_text("outside\n")
    (world.root / "fragments").symlink_to(outside)
    with pytest.raises(CtxcError, match=r"leads out of the project|leaves the project"):
        go_back(world, place, force=True)
    assert (outside / "refund.md").read_text() == "outside\n"


def test_a_folder_in_the_place_of_a_file(world: GateWorld, place: Path) -> None:
    bundle(world, place)
    (world.root / "policies/desk.md").unlink()
    (world.root / "policies/desk.md").mkdir()
    refused(world, place, "is a folder here")


@pytest.mark.parametrize("part", [0, 1, 3, 50, 99])
def test_a_bundle_that_was_cut_off(world: GateWorld, place: Path, part: int) -> None:
    bundle(world, place)
    data = place.read_bytes()
    place.write_bytes(data[: len(data) * part // 100])
    before = everything(world)
    with pytest.raises(UnreadableSource) as raised:
        go_back(world, place)
    assert raised.value.location is not None
    assert raised.value.location.path == "release.json"
    if part:
        assert raised.value.location.span is not None
    assert everything(world) == before


def edits() -> dict[str, tuple[Callable[[dict[str, Any]], object], str]]:
    return {
        "another schema": (lambda v: v.update(schema="ctxc.snapshot/1"), "is no release bundle"),
        "no files": (lambda v: v.pop("files"), "'files' is missing"),
        "files that are no list": (lambda v: v.update(files={}), "a list was expected"),
        "a path that is no text": (lambda v: v["files"][0].update(path=3), "a text was expected"),
        "a negative size": (lambda v: v["files"][0].update(bytes=-1), "a number was expected"),
        "a path twice": (lambda v: v["files"].append(dict(v["files"][0])), "stands twice"),
        "paths that differ in case": (
            lambda v: v["files"].append({**v["files"][0], "path": v["files"][0]["path"].upper()}), "are one file",
        ),
        "base64 that is none": (
            lambda v: (v["files"][0].pop("text"), v["files"][0].update(base64="%%%")), "is not as a bundle is",
        ),
        "a list": (lambda v: v.update(objects=[[]]), "is not as a bundle is"),
    }  # fmt: skip


@pytest.mark.parametrize("name", edits())
def test_a_bundle_of_another_form(world: GateWorld, place: Path, name: str) -> None:
    bundle(world, place)
    edit, why = edits()[name]
    tampered(place, lambda v: edit(v) and None)
    refused(world, place, why)
    with pytest.raises(CtxcError):
        world.judge(against=f"snapshot:{place}")


def test_a_key_that_stands_twice(world: GateWorld, place: Path) -> None:
    bundle(world, place)
    text = place.read_text(encoding="utf-8")
    place.write_text(text.replace(' "schema": ', ' "files": [],\n "schema": '), encoding="utf-8")
    refused(world, place, "twice")


@pytest.mark.parametrize("content", ["[" * 100_000, '{"a":' * 100_000, '{"schema": NaN}', "\xff\xfe"])
def test_a_file_that_is_hostile_json(world: GateWorld, place: Path, content: str) -> None:
    place.write_bytes(content.encode("latin-1"))
    refused(world, place, "release.json cannot be read: ")


# --- never half of it ------------------------------------------------------------------------------------------------


@pytest.mark.skipif(os.name == "nt", reason="permissions are others there")
def test_what_cannot_be_written_as_a_whole_is_not_written_at_all(
    world: GateWorld, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle(world, place)
    changed_everywhere(world)
    world.repo.commit("later")
    from ctxc.app import output

    stage = output._stage
    done: list[Path] = []

    def failing(target: Path, data: bytes) -> Path:
        if len(done) == 3:
            raise OSError(28, "No space left on device")
        done.append(target)
        return stage(target, data)

    monkeypatch.setattr(output, "_stage", failing)
    refused(world, place, "No space left on device", CtxcError)
    assert len(done) == 3
    assert list(world.root.rglob("*.tmp")) == []


def test_a_bundle_file_is_whole_or_not_there(world: GateWorld, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ctxc.app import output

    place.write_text("older")
    monkeypatch.setattr(output.Path, "replace", lambda *_: (_ for _ in ()).throw(OSError(13, "Permission denied")))
    with pytest.raises(CtxcError, match="Permission denied"):
        output.write_text(place, "newer")
    assert place.read_text() == "older"
    assert [p.name for p in place.parent.iterdir() if p.suffix == ".tmp"] == []
