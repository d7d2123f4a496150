"""Compiling with a store: what is stored is returned exactly as long as nothing that it was made from changed."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from ctxc.app.compiling import CompileOptions, Outcome, compile_fixtures, failing
from ctxc.app.selection import Selection
from ctxc.app.workspace import open_workspace
from ctxc.base.errors import NothingMatched
from ctxc.report import View, render_run

Run = Callable[..., Outcome]


@pytest.fixture
def run(starter: Path, tmp_path: Path) -> Run:
    def compile_now(
        *fixtures: str, templates: tuple[str, ...] = (), cache: str | None = "cache", allow_empty: bool = False,
        flags: dict[str, str] | None = None, **options: object,
    ) -> Outcome:  # fmt: skip
        workspace = open_workspace(
            starter,
            flags=flags or {},
            environment={},
            cache_dir=str(tmp_path / cache) if cache else None,
            no_cache=cache is None,
        )
        selection = Selection(fixtures=fixtures, templates=templates, allow_empty=allow_empty)
        return compile_fixtures(workspace, selection, CompileOptions(**options))  # type: ignore[arg-type]

    return compile_now


def text_of(outcome: Outcome, name: str = "text") -> str:
    return render_run(name, outcome.run, View())


def compiled(outcome: Outcome) -> int:
    """How many fixtures were compiled, as the run itself says."""
    (note,) = (n for n in outcome.notes if " compiled, " in n)
    return int(note.split(" ", 1)[0])


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_a_warm_run_compiles_nothing_and_prints_the_same(run: Run) -> None:
    cold, warm, without = run(), run(), run(cache=None)
    assert (compiled(cold), compiled(warm)) == (2, 0)
    assert text_of(cold) == text_of(warm) == text_of(without)


def test_json_of_a_warm_run_is_byte_identical(run: Run) -> None:
    run()
    first = run(with_packages=True)
    assert compiled(first) == 2, "rows alone were stored: the packages had to be made"
    second = run(with_packages=True)
    assert compiled(second) == 0
    assert text_of(first, "json") == text_of(second, "json") == text_of(run(cache=None, with_packages=True), "json")


@pytest.mark.parametrize(
    ("path", "old", "new", "reached"),
    [
        ("fragments/task/refund.md", "deadline", "last day", 1),
        ("fragments/core/sources.md", "products", "goods", 2),
        ("policies/platform.md", "help desk", "service desk", 2),
        ("templates/helpdesk.yaml", "five sentences", "six sentences", 2),
        ("fragments/manifest.yaml", "topic: [refund]", "topic: [refund, store]", 2),
        ("tests/fixtures/opening_hours.yaml", "on Saturdays", "on Sundays", 1),
        ("ctxc.yaml", "gpt-4.1", "gpt-4o", 2),
    ],
)
def test_an_edit_compiles_what_it_reaches(run: Run, starter: Path, path: str, old: str, new: str, reached: int) -> None:
    before = text_of(run(with_packages=True), "json")
    edit(starter / path, old, new)
    after = run(with_packages=True)
    assert compiled(after) == reached
    assert text_of(after, "json") == text_of(run(cache=None, with_packages=True), "json") != before
    # And back: what was stored for the old content is still there.
    edit(starter / path, new, old)
    assert text_of(run(with_packages=True), "json") == before


def test_the_notes_say_why_something_was_compiled_again(run: Run, starter: Path) -> None:
    assert run().notes[0].startswith("nothing stored for this state")
    assert run().notes == ("0 compiled, 2 from the cache: nothing changed",)
    edit(starter / "policies/platform.md", "help desk", "Help Desk")
    assert run().notes[0] == "since the last run: policies/platform.md changed"
    (starter / "tests/fixtures/opening_hours.yaml").rename(starter / "tests/fixtures/hours.yaml")
    assert run().notes[0] == (
        "since the last run: tests/fixtures/hours.yaml added, tests/fixtures/opening_hours.yaml removed"
    )


def test_an_edit_that_keeps_the_time_of_modification_is_seen(run: Run, starter: Path) -> None:
    import os

    run()
    path = starter / "policies" / "platform.md"
    status = path.stat()
    edit(path, "help desk", "Help Desk")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert compiled(run()) == 2


def test_a_new_fragment_that_the_route_matches_is_noticed(run: Run, starter: Path) -> None:
    run()
    (starter / "fragments" / "late.md").write_text(
        "---\nfragment_id: task.late\nversion: 1.0.0\nkind: task\nload_mode: route_match\n"
        "applies_when: {topic: [refund]}\n---\nBe kind.\n"
    )
    after = run(with_packages=True)
    assert "fragments/task.late" in text_of(after, "json")
    assert text_of(after) == text_of(run(cache=None))


def test_a_new_and_a_removed_fixture_are_noticed(run: Run, starter: Path) -> None:
    run()
    text = (starter / "tests/fixtures/opening_hours.yaml").read_text()
    (starter / "tests/fixtures/third.yaml").write_text(text.replace("opening_hours", "third"))
    added = run()
    assert compiled(added) == 1
    assert text_of(added) == text_of(run(cache=None))
    (starter / "tests/fixtures/opening_hours.yaml").unlink()
    removed = run()
    assert compiled(removed) == 0
    assert [c.row.fixture_id for c in removed.run.compiled] == ["refund_question", "third"]


def test_an_id_that_appears_twice_is_found_though_one_of_them_did_not_change(run: Run, starter: Path) -> None:
    run()
    shutil.copy(starter / "tests/fixtures/opening_hours.yaml", starter / "tests/fixtures/zz_copy.yaml")
    found, full = run(), run(cache=None)
    assert text_of(found) == text_of(full)
    assert any(f.name == "duplicate-id" for f in found.run.report.findings)


def test_a_template_among_the_fixtures_is_not_trusted_to_the_store(run: Run, starter: Path) -> None:
    (starter / "templates/helpdesk.yaml").rename(starter / "tests/fixtures/template.yaml")
    run()
    edit(starter / "tests/fixtures/template.yaml", "five sentences", "six sentences")
    after = run(with_packages=True)
    assert text_of(after, "json") == text_of(run(cache=None, with_packages=True), "json")
    assert "six sentences" in text_of(after, "json")


def test_errors_are_found_again_in_every_run(run: Run, starter: Path) -> None:
    (starter / "fragments/broken.yaml").write_text("fragment_id: [\n")
    for _ in range(3):
        outcome = run()
        # Both fixtures might need what the broken file was to define.
        assert [f.code for f in outcome.run.report.findings] == ["CTX113", "CTX113", "CTX001"]
        assert failing(outcome.run, "error")
    assert not failing(outcome.run, "never")


def test_an_invalid_fixture_is_compiled_again_when_a_file_outside_the_folders_appears(run: Run, starter: Path) -> None:
    edit(starter / "templates/helpdesk.yaml", "policies/platform.md", "prompts/other.md")
    assert {c.row.outcome for c in run().run.compiled} == {"invalid"}
    (starter / "prompts").mkdir()
    (starter / "prompts/other.md").write_text("Be brief.\n")
    assert {c.row.outcome for c in run().run.compiled} == {"compiled"}
    (starter / "prompts/other.md").write_text("Be very brief.\n")
    assert compiled(run()) == 2


def test_other_options_are_other_packages(run: Run) -> None:
    run()
    other = run(model="gpt-4o")
    assert compiled(other) == 2
    assert {c.row.model for c in other.run.compiled} == {"gpt-4o"}
    assert {c.row.model for c in run().run.compiled} == {"gpt-4.1"}
    assert compiled(run(model="gpt-4o")) == 0


def test_a_damaged_store_is_worked_around(run: Run, tmp_path: Path) -> None:
    expected = text_of(run())
    (file,) = (tmp_path / "cache").glob("*.sqlite3")
    with sqlite3.connect(file) as database:
        database.execute("UPDATE blobs SET value = x'7b7d'")
    database.close()
    assert text_of(run()) == expected
    file.write_bytes(b"not a database")
    assert text_of(run()) == expected


FORGED = ("[]", "null", "3", '{"known": [[1]]}', '{"row": {}, "findings": []}', '{"row": 3, "findings": [{}]}', "{{")


@pytest.mark.parametrize("forged", FORGED)
def test_a_forged_entry_cannot_crash_a_run(run: Run, tmp_path: Path, forged: str) -> None:
    """Whoever may write the cache may also write its seals: any shape of value has to be survived."""
    from ctxc.tokens import open_store

    expected = text_of(run())
    (file,) = (tmp_path / "cache").glob("*.sqlite3")
    with sqlite3.connect(file) as database:
        keys = database.execute("SELECT space, key FROM blobs WHERE space LIKE 'app.%'").fetchall()
    database.close()
    assert {space for space, _ in keys} == {"app.config", "app.record", "app.row"}
    with open_store(tmp_path / "cache") as store:
        for space, key in keys:
            store.put_blobs(space, {key: forged.encode()})
    assert text_of(run()) == expected


def test_selection_by_id_glob_template(run: Run) -> None:
    def ids(outcome: Outcome) -> list[str]:
        return [c.row.fixture_id for c in outcome.run.compiled]

    assert ids(run("refund_question")) == ["refund_question"]
    assert ids(run("*_hours")) == ["opening_hours"]
    assert ids(run("*")) == ["opening_hours", "refund_question"]
    assert len(ids(run(templates=("helpdesk",)))) == 2
    assert ids(run("refund_question", templates=("help*",))) == ["refund_question"]


@pytest.mark.parametrize(
    ("fixtures", "templates", "message", "hint"),
    [
        (("refund_qestion",), (), "no fixture matches 'refund_qestion'", "did you mean refund_question?"),
        (("refund_question", "nothing"), (), "no fixture matches 'nothing'", "ctxc list fixtures"),
        ((), ("helpdsk",), "no template matches 'helpdsk'", "did you mean helpdesk?"),
    ],
)
def test_a_pattern_that_matches_nothing_is_an_error(
    run: Run, fixtures: tuple[str, ...], templates: tuple[str, ...], message: str, hint: str
) -> None:
    for _ in range(2):  # cold and warm
        with pytest.raises(NothingMatched) as caught:
            run(*fixtures, templates=templates)
        assert caught.value.message == message
        assert hint in caught.value.help


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("fixture_id: refund_question\nlabels: [\n", "CTX001", "3:1"),
        ("labels: {a: [}\n", "CTX001", "1:14"),  # nothing says the id: the file is called so
        ("fixture_id: refund_question\ntemplate: helpdesk\nnow: 2026-02-30T10:00:00Z\n", "CTX124", "3:6"),
    ],
)
def test_a_selected_fixture_that_cannot_be_loaded_is_an_invalid_source(
    run: Run, starter: Path, text: str, code: str, place: str
) -> None:
    path = starter / "tests/fixtures/refund_question.yaml"
    path.write_text(text, encoding="utf-8")
    for pattern, others in (("refund_question", []), ("*", ["opening_hours"])):
        outcome = run(pattern)
        assert [c.row.fixture_id for c in outcome.run.compiled] == others
        assert [(f.code, str(f.location)) for f in outcome.run.report.findings] == [
            (code, f"tests/fixtures/refund_question.yaml:{place}")
        ]
        assert failing(outcome.run, "error")
    assert [f.code for f in run("opening_hours").run.report.findings] == []
    with pytest.raises(NothingMatched):
        run("refund")


def test_a_project_without_fixtures_is_an_error_unless_that_is_fine(run: Run, starter: Path) -> None:
    shutil.rmtree(starter / "tests")
    with pytest.raises(NothingMatched, match="no fixtures"):
        run()
    assert run(allow_empty=True).run.compiled == ()


def test_a_selection_leaves_other_files_findings_out_and_says_so(run: Run, starter: Path) -> None:
    (starter / "tests/fixtures/broken.yaml").write_text("fixture_id: broken\ntemplate: [\n")
    assert len(run().run.report.findings) == 1
    selected = run("refund_question")
    assert selected.run.report.findings == ()
    assert "1 findings in files that this selection does not use" in selected.notes[-1]


def test_packages_hold_masked_content_only_when_asked(run: Run, starter: Path) -> None:
    edit(starter / "tests/fixtures/refund_question.yaml", "inputs:", "sensitive: [inputs.user]\ninputs:")
    plain = json.loads(text_of(run(with_packages=True), "json"))
    assert all("content" not in p for p in plain["packages"])
    full = json.loads(text_of(run(with_packages=True, with_content=True), "json"))
    content = {c["section_id"]: c for c in full["packages"][1]["content"]}
    assert content["user"] == {"section_id": "user", "text": "[sensitive]", "masked": True}
    assert "30 days" in content["evidence/kb-12"]["text"]


def test_the_request_of_a_package_keeps_its_key_order(run: Run) -> None:
    outcome = run("refund_question", with_packages=True)
    (one,) = outcome.run.compiled
    request = json.loads(one.request() or "")
    assert list(request)[:2] == ["model", "messages"]
    assert json.loads(one.package())["request"] == request


def test_a_broken_policy_makes_nothing_be_compiled_again(run: Run, starter: Path) -> None:
    run()
    policy = starter / "policies/production.yaml"
    whole = policy.read_text(encoding="utf-8")
    edit(policy, "policy_id:", "polcy: x\npolicy_id:")
    cold, warm = run(), run()
    assert (compiled(cold), compiled(warm)) == (2, 0)  # the first: the file may have defined something else before
    assert text_of(cold) == text_of(warm)
    assert [(f.code, f.location.path) for f in warm.run.report.findings] == [("CTX003", "policies/production.yaml")]
    edit(starter / "tests/fixtures/opening_hours.yaml", "now:", "# a remark\nnow:")
    assert compiled(run()) == 1
    policy.write_text(whole, encoding="utf-8")
    assert run().run.report.findings == ()
