"""Lint as a whole: which rules run, over which files, from which tree, and what a warm run may skip."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from lint_world import NOW, TEMPLATE, codes, judge, write

from ctxc.app import lint as lint_module
from ctxc.app.workspace import open_workspace
from ctxc.base.errors import ConfigError, NothingMatched, RevisionError, UsageError

BAD = TEMPLATE.replace("version: 1", "version: 1.10").replace("text:", "tetx:")


# --- which rules -----------------------------------------------------------------------------------------------------


def test_select_takes_codes_names_and_beginnings_of_codes(tmp_path: Path) -> None:
    write(tmp_path, {"templates/t.yaml": BAD})
    everything = ["templates/t.yaml:2 CTX019", "templates/t.yaml:4 CTX003"]
    assert codes(judge(tmp_path)) == everything
    assert codes(judge(tmp_path, select=("CTX019",))) == everything[:1]
    assert codes(judge(tmp_path, select=("unknown-key",))) == everything[1:]
    assert codes(judge(tmp_path, select=("CTX0",))) == everything
    assert codes(judge(tmp_path, select=("CTX01",))) == everything[:1]
    assert codes(judge(tmp_path, ignore=("CTX01", "unknown-key"))) == []


def test_select_takes_rules_of_any_tier(tmp_path: Path) -> None:
    write(tmp_path, {"templates/t.yaml": TEMPLATE})
    assert codes(judge(tmp_path)) == []
    assert codes(judge(tmp_path, tier="strict")) == ["templates/t.yaml:1 CTX141"]
    assert codes(judge(tmp_path, select=("CTX141",))) == ["templates/t.yaml:1 CTX141"]


@pytest.mark.parametrize("option", ["select", "ignore"])
def test_a_word_that_names_no_rule_is_wrong_usage(tmp_path: Path, option: str) -> None:
    write(tmp_path, {"templates/t.yaml": TEMPLATE})
    with pytest.raises(UsageError) as stopped:
        judge(tmp_path, **{option: ("unknown-kee",)})
    assert "did you mean unknown-key?" in stopped.value.help


@pytest.mark.parametrize(
    "config",
    [
        "select: [CTX999]\n",
        "ignore: [no-rule]\n",
        "rules: {nothing: error}\n",
        "rules: {CTX019: {severity: loud}}\n",
        'per-file-ignores: {"templates/*": [CTX9999]}\n',
    ],
)
def test_a_configuration_that_names_no_rule_is_broken(tmp_path: Path, config: str) -> None:
    write(tmp_path, {"ctxc.yaml": config, "templates/t.yaml": TEMPLATE})
    with pytest.raises(ConfigError):
        judge(tmp_path)


def test_the_configuration_sets_severities_and_turns_rules_off_or_on(tmp_path: Path) -> None:
    config = "rules: {float-like-version: error, CTX003: off, CTX141: {severity: info}}\n"
    write(tmp_path, {"ctxc.yaml": config, "templates/t.yaml": BAD})
    found = judge(tmp_path).report.findings
    assert [(f.code, f.severity.label) for f in found] == [("CTX019", "error")]
    write(tmp_path, {"templates/t.yaml": TEMPLATE})
    assert [(f.code, f.severity.label) for f in judge(tmp_path).report.findings] == [("CTX141", "info")]


# --- which files -----------------------------------------------------------------------------------------------------


def test_paths_narrow_what_is_reported_and_not_what_is_known(tmp_path: Path) -> None:
    write(tmp_path, {
        "templates/a.yaml": TEMPLATE.replace(": t", ": a"),
        "templates/sub/b.yaml": TEMPLATE.replace(": t", ": b").replace("1\n", "1.0\n", 1),
        "tests/fixtures/f.yaml": "fixture_id: f\ntemplate: c\n",
    })  # fmt: skip
    assert codes(judge(tmp_path)) == ["templates/sub/b.yaml:2 CTX019", "tests/fixtures/f.yaml:2 CTX102"]
    assert codes(judge(tmp_path, paths=("templates",))) == ["templates/sub/b.yaml:2 CTX019"]
    assert codes(judge(tmp_path, paths=("templates/a.yaml",))) == []
    assert codes(judge(tmp_path, paths=("templates/sub", "tests/fixtures/f.yaml"))) == codes(judge(tmp_path))
    assert judge(tmp_path, paths=("templates",)).report.checked["file"] == 2


def test_a_folder_outside_of_the_configured_ones_is_judged_when_it_is_named(tmp_path: Path) -> None:
    write(tmp_path, {"templates/t.yaml": TEMPLATE, "drafts/u.yaml": BAD.replace(": t", ": u")})
    assert codes(judge(tmp_path)) == []
    assert codes(judge(tmp_path, paths=("drafts",))) == ["drafts/u.yaml:2 CTX019", "drafts/u.yaml:4 CTX003"]


def test_paths_without_a_file_match_nothing(tmp_path: Path) -> None:
    write(tmp_path, {"templates/t.yaml": TEMPLATE})
    with pytest.raises(NothingMatched):
        judge(tmp_path, paths=("templates/u.yaml",))


def test_files_that_nothing_reads_are_read(tmp_path: Path) -> None:
    write(tmp_path, {
        "templates/t.yaml": TEMPLATE,
        "tests/fixtures/later.jsonl": '{"role": "user", "content": "x"}\n{"role": \n',
        "tests/fixtures/notes.txt": b"\xff\xfe not ours",
    })  # fmt: skip
    assert codes(judge(tmp_path)) == ["tests/fixtures/later.jsonl:2 CTX001"]


def test_an_empty_project_is_a_finding_unless_that_is_fine(tmp_path: Path) -> None:
    with pytest.raises(NothingMatched, match="the work tree has no files in templates, fragments, policies, tests/fix"):
        judge(tmp_path)
    assert codes(judge(tmp_path, allow_empty=True)) == []


# --- which tree ------------------------------------------------------------------------------------------------------


def test_what_comes_through_a_pipe_stands_for_its_file(tmp_path: Path) -> None:
    write(tmp_path, {"templates/t.yaml": TEMPLATE, "templates/u.yaml": BAD.replace(": t", ": u")})
    linted = judge(tmp_path, stdin=("templates/t.yaml", BAD.encode()))
    assert codes(linted) == ["templates/t.yaml:2 CTX019", "templates/t.yaml:4 CTX003"]
    assert linted.sources()("templates/t.yaml") == BAD
    new = judge(
        tmp_path,
        stdin=("fragments/new.md", b"---\nfragment_id: core.a\nversion: 1.0\nkind: core\nload_mode: always\n---\nX\n"),
    )
    # That no template takes it is not told: the broken one may.
    assert codes(new) == ["fragments/new.md:3 CTX019"]


def git(root: Path, *arguments: str) -> None:
    name = ("-c", "user.name=a", "-c", "user.email=a@b.example")
    subprocess.run(["git", *name, *arguments], cwd=root, check=True, capture_output=True)


def test_staged_judges_the_index(tmp_path: Path) -> None:
    write(tmp_path, {"templates/t.yaml": BAD})
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    write(tmp_path, {"templates/t.yaml": TEMPLATE, "templates/u.yaml": BAD})
    assert codes(judge(tmp_path, staged=True)) == ["templates/t.yaml:2 CTX019", "templates/t.yaml:4 CTX003"]
    git(tmp_path, "add", "templates/t.yaml")
    assert codes(judge(tmp_path, staged=True)) == []
    assert codes(judge(tmp_path)) != []


def test_staged_needs_a_repository(tmp_path: Path) -> None:
    write(tmp_path, {"templates/t.yaml": TEMPLATE})
    with pytest.raises(RevisionError):
        judge(tmp_path, staged=True)


# --- the cache -------------------------------------------------------------------------------------------------------


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts the runs that no record answered."""
    counted: list[int] = []
    real = lint_module._run

    def run(*arguments: object, **named: object) -> object:
        counted.append(1)
        return real(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(lint_module, "_run", run)
    return counted


def test_a_warm_run_says_the_same(tmp_path: Path, runs: list[int]) -> None:
    root = write(tmp_path / "p", {"templates/t.yaml": BAD.replace("1.10", "1.10  # ctxc: ignore[CTX019]")})
    cold = judge(root, cache=tmp_path / "c", tier="audit")
    warm = judge(root, cache=tmp_path / "c", tier="audit")
    assert len(runs) == 1
    assert warm.report == replace(cold.report, rules=warm.report.rules)
    assert [f.fix for f in warm.report.findings] == [f.fix for f in cold.report.findings]
    assert warm.notes == ("nothing changed: the findings are those of the last run",)


def test_the_day_is_judged_again_without_a_run(tmp_path: Path, runs: list[int]) -> None:
    root = write(
        tmp_path / "p",
        {"templates/t.yaml": BAD.replace("1.10", "1.10  # ctxc: ignore[CTX019] until=2026-11-30 reason: x")},
    )
    assert codes(judge(root, cache=tmp_path / "c")) == ["templates/t.yaml:4 CTX003"]
    assert "templates/t.yaml:2 CTX902" in codes(judge(root, cache=tmp_path / "c", now="2026-12-01"))
    assert len(runs) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"templates/t.yaml": TEMPLATE + "# more\n"},
        {"templates/new.yaml": TEMPLATE.replace(": t", ": u")},
        {"policies/house.md": "Answer at length.\n"},
        {"elsewhere/tools.json": "[]"},
        {"ctxc.yaml": "tier: strict\n"},
    ],
)
def test_whatever_a_run_read_or_missed_makes_it_run_again(
    tmp_path: Path, runs: list[int], change: dict[str, str]
) -> None:
    sections = (
        "  - {id: more, kind: policy, source: policies/house.md}\n  - {id: tools, source: elsewhere/tools.json}\n"
    )
    root = write(tmp_path / "p", {"templates/t.yaml": TEMPLATE + sections, "policies/house.md": "Answer briefly.\n"})
    judge(root, cache=tmp_path / "c")
    judge(root, cache=tmp_path / "c")
    assert len(runs) == 1
    before = codes(judge(root, cache=tmp_path / "c"))
    write(root, change)
    after = judge(root, cache=tmp_path / "c")
    assert len(runs) == 2
    if "elsewhere/tools.json" in change:
        assert any("CTX106" in c for c in before)
        assert not any("CTX106" in c for c in codes(after))


@pytest.mark.parametrize("options", [{"tier": "strict"}, {"select": ("CTX0",)}, {"ignore": ("CTX019",)}])
def test_other_options_are_another_run(tmp_path: Path, runs: list[int], options: dict[str, object]) -> None:
    root = write(tmp_path / "p", {"templates/t.yaml": BAD})
    judge(root, cache=tmp_path / "c")
    judge(root, cache=tmp_path / "c", **options)
    assert len(runs) == 2


def test_a_damaged_record_is_passed_over(tmp_path: Path, runs: list[int]) -> None:
    root = write(tmp_path / "p", {"templates/t.yaml": BAD})
    before = codes(judge(root, cache=tmp_path / "c"))
    workspace = open_workspace(root, flags={}, environment={}, cache_dir=str(tmp_path / "c"))
    stored = workspace.store
    real = type(stored).get_blobs

    def damaged(self: object, namespace: str, keys: object) -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = real(self, namespace, keys)  # type: ignore[arg-type]
        return (
            dict.fromkeys(found, b'{"outside":[],"findings":[{}],"entries":[],"ran":[],"paths":[]}')
            if namespace == "app.lint"
            else found
        )

    type(stored).get_blobs = damaged  # type: ignore[method-assign]
    try:
        assert codes(judge(root, cache=tmp_path / "c")) == before
    finally:
        type(stored).get_blobs = real  # type: ignore[method-assign]
    assert len(runs) == 2


# --- what comes out --------------------------------------------------------------------------------------------------


def test_texts_of_rules_are_there_for_whoever_asks(tmp_path: Path) -> None:
    report = judge(write(tmp_path, {"templates/t.yaml": BAD})).report
    text = report.rules["CTX019"]
    assert (text.name, text.url) == ("float-like-version", "https://ctxc.dev/rules#ctx019")
    assert text.summary and text.help
    assert report.rules.get("XYZ001") is None
    assert report.now == NOW
