"""``ctxc lint`` and ``ctxc rule`` from the shell: statuses, streams, formats, and what is refused."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from lint_world import TEMPLATE, write

from ctxc.__main__ import main
from ctxc.model.codes import CODES

FLOAT = TEMPLATE.replace("version: 1", "version: 1.10")
BAD = FLOAT.replace("text:", "tetx:")
FORMATS = ("text", "concise", "json", "jsonl", "sarif", "junit", "github", "gitlab", "markdown")

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setenv("CTXC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("CTXC_NOW", "2026-11-30")
    root = write(tmp_path / "p", {"templates/t.yaml": BAD})
    monkeypatch.chdir(root)

    def call(*arguments: str, **environment: str) -> tuple[int, str, str]:
        with monkeypatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            status = main(list(arguments))
        sys.stdout.flush()
        sys.stderr.flush()
        captured = capfd.readouterr()
        return status, captured.out, captured.err

    return call


def put(text: str) -> None:
    Path("templates/t.yaml").write_text(text)


# --- statuses and streams --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format_id", FORMATS)
def test_the_status_does_not_depend_on_the_format(run: Run, format_id: str) -> None:
    assert run("lint", "--format", format_id)[0] == 1
    assert run("lint", "--format", format_id, "--fail-on", "never")[0] == 0
    put(FLOAT)
    assert run("lint", "--format", format_id)[0] == 0
    assert run("lint", "--format", format_id, "--fail-on", "warning")[0] == 1


def test_a_clean_project_says_what_was_looked_at(run: Run) -> None:
    put(TEMPLATE)
    status, out, err = run("lint")
    assert (status, err) == (0, "")
    assert out.startswith("no findings in 1 file, ")
    assert out.endswith(" rules, as of 2026-11-30\n")


def test_one_line_a_finding(run: Run) -> None:
    assert run("lint", "-f", "concise")[1] == (
        "templates/t.yaml:2:10: CTX019 warning the version 1.10 reads as the number 1.1 elsewhere; ctxc keeps the text 1.10\n"
        'templates/t.yaml:4:35: CTX003 error unknown key "tetx"; did you mean "text"?\n'
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("lint", "nowhere"), "there is no file 'nowhere'"),
        (("lint", "../outside.yaml"), "is not in the project"),
        (("lint", "--select", "CTX9999"), "names no rule"),
        (("lint", "--tier", "loud"), "loud"),
        (("lint", "--fix", "--diff"), "contradict"),
        (("lint", "--unsafe-fixes"), "mends nothing by itself"),
        (("lint", "--fix", "--staged"), "--fix mends files on disk"),
        (("lint", "--accept-new"), "--reason"),
        (("lint", "--update-baseline", "--accept-new"), "--reason"),
        (("lint", "--update-baseline", "templates"), "whole project"),
        (("lint", "--baseline", "gone.jsonl"), "there is no baseline"),
        (("lint", "-"), "--stdin-filename"),
        (("lint", "--stdin-filename", "x.yaml"), "goes with -"),
        (("lint", "--plugin", "no-such-distribution-1"), "is installed"),
        (("lint", "--watch"), "--watch needs a terminal"),
        (("lint", "--staged"), "not inside a git repository"),
        (("lint", "--now", "someday"), "is not a date"),
        (("rule", "CTX9999"), "there is no rule"),
        (("rule", "unknown-kee"), "did you mean unknown-key?"),
        (("rule", "CTX003", "--all"), "contradict"),
    ],
)
def test_wrong_usage_is_2_and_says_what_to_do(run: Run, arguments: tuple[str, ...], words: str) -> None:
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert words in err


def test_a_broken_configuration_is_2(run: Run) -> None:
    Path("ctxc.yaml").write_text("rules: {CTX019: loud}\n")
    assert run("lint")[0] == 2


def test_the_day_comes_from_the_flag_then_from_the_environment(run: Run) -> None:
    assert json.loads(run("lint", "-f", "json")[1])["now"] == "2026-11-30"
    assert json.loads(run("lint", "-f", "json", "--now", "2027-01-05")[1])["now"] == "2027-01-05"


# --- formats ---------------------------------------------------------------------------------------------------------


def test_suppressed_findings_stay_in_every_machine_format_and_in_the_tally(run: Run) -> None:
    put(FLOAT.replace("1.10", "1.10  # ctxc: ignore[CTX019] until=2027-01-31 reason: the registry"))
    report = json.loads(run("lint", "-f", "json")[1])
    assert report["findings"] == []
    assert report["summary"]["suppressed"] == 1
    assert report["suppressed"][0]["suppressed"] == {"kind": "inline", "reason": "the registry", "until": "2027-01-31"}
    assert report["suppressed"][0]["url"] == "https://ctxc.dev/rules#ctx019"
    kinds = [json.loads(row)["type"] for row in run("lint", "-f", "jsonl")[1].splitlines()]
    assert kinds == ["head", "suppressed", "summary"]
    sarif = json.loads(run("lint", "-f", "sarif")[1])["runs"][0]
    assert sarif["results"][0]["suppressions"] == [{"kind": "inSource", "justification": "the registry"}]
    assert sarif["tool"]["driver"]["rules"][0]["id"] == "CTX019"
    assert sarif["tool"]["driver"]["rules"][0]["helpUri"].endswith("#ctx019")
    assert "(1 suppressed)" in run("lint")[1]
    assert "suppressed (inline: the registry, until 2027-01-31)" in run("lint", "-v")[1]


def test_several_artefacts_from_one_run(run: Run, tmp_path: Path) -> None:
    status, out, _ = run("lint", "--output", "sarif:out.sarif", "--output", "junit:out.xml", "-f", "concise")
    assert status == 1
    assert out.count("\n") == 2
    assert len(json.loads(Path("out.sarif").read_text())["runs"][0]["results"]) == 2
    assert ElementTree.parse("out.xml").getroot().find("testsuite").get("failures") == "1"  # type: ignore[union-attr]


def test_in_github_actions_text_comes_with_annotations(run: Run) -> None:
    out = run("lint", GITHUB_ACTIONS="true")[1]
    assert "::error file=templates/t.yaml,line=4,col=35,endColumn=39,title=CTX003 unknown-key::" in out


def test_the_report_is_the_same_whatever_the_current_folder(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    here = run("lint", "-f", "json")[1]
    monkeypatch.chdir("templates")
    Path("../ctxc.yaml").write_text("")
    assert run("lint", "-f", "json")[1] == here
    assert run("lint", "t.yaml", "-f", "json")[1] == here
    monkeypatch.chdir("/")
    assert run("lint", "-C", str(Path(os.environ["CTXC_CACHE_DIR"]).parent / "p"), "-f", "json")[1] == here


# --- standard input ---------------------------------------------------------------------------------------------------


def test_standard_input_stands_for_a_file(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    put(TEMPLATE)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(FLOAT.encode())))
    status, out, _ = run("lint", "-", "--stdin-filename", "templates/t.yaml", "-f", "concise", "--fail-on", "warning")
    assert status == 1
    assert out.startswith("templates/t.yaml:2:10: CTX019")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(FLOAT.encode())))
    assert "version: 1.10" in run("lint", "-", "--stdin-filename", "templates/t.yaml")[1], (
        "the frame shows what was typed"
    )


# --- fixes -----------------------------------------------------------------------------------------------------------


def test_fix_mends_and_reports_what_is_left(run: Run) -> None:
    status, out, err = run("lint", "--fix", "-f", "concise")
    assert status == 1
    assert out == 'templates/t.yaml:4:35: CTX003 error unknown key "tetx"; did you mean "text"?\n'
    assert err == "mended 1 finding\n"
    assert run("lint", "--fix", "--unsafe-fixes")[0] == 0
    assert Path("templates/t.yaml").read_text() == TEMPLATE.replace("version: 1", 'version: "1.10"')


def test_diff_shows_and_changes_nothing(run: Run) -> None:
    status, out, _ = run("lint", "--diff")
    assert status == 1
    assert '-version: 1.10\n+version: "1.10"\n' in out
    assert "tetx" not in "".join(row for row in out.splitlines() if row[0] in "+-")
    assert "+  - {id: policy, source: literal, text:" in run("lint", "--diff", "--unsafe-fixes")[1]
    assert Path("templates/t.yaml").read_text() == BAD


# --- baseline --------------------------------------------------------------------------------------------------------


def test_the_baseline_from_the_shell(run: Run) -> None:
    put(FLOAT)
    status, _, err = run("lint", "--update-baseline")
    assert status == 1
    assert "1 findings were not taken in" in err
    assert Path(".ctxc/baseline.jsonl").read_text() == ""
    assert run("lint", "--update-baseline", "--accept-new", "--reason", "when lint came")[0] == 0
    assert run("lint", "--fail-on", "warning")[0] == 0
    assert run("lint", "--no-baseline", "--fail-on", "warning")[0] == 1
    Path("known.jsonl").write_text(Path(".ctxc/baseline.jsonl").read_text())
    Path(".ctxc/baseline.jsonl").unlink()
    assert run("lint", "--baseline", "known.jsonl", "--fail-on", "warning")[0] == 0
    put(TEMPLATE)
    assert "CTX905" in run("lint", "--baseline", "known.jsonl")[1]
    assert run("lint", "--baseline", "known.jsonl", "--update-baseline")[0] == 0
    assert Path("known.jsonl").read_text() == ""


def test_the_baseline_is_not_written_in_ci(run: Run) -> None:
    status, _, err = run("lint", "--update-baseline", "--accept-new", "--reason", "x", CI="true")
    assert status == 2
    assert "CI" in err
    assert not Path(".ctxc").exists()


# --- rules -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["CTX019", "ctx019", "float-like-version"])
def test_a_rule_is_explained_by_code_or_name(run: Run, word: str) -> None:
    status, out, err = run("rule", word)
    assert (status, err) == (0, "")
    assert out.startswith("CTX019 float-like-version\n\n(warning; --fix)\n")
    for part in ("Why: ", "Bad:", "Good:", "To mend it: "):
        assert part in out


def test_every_rule_is_listed_and_explained(run: Run) -> None:
    from ctxc.rules import rule_names

    head, *listed = run("rule")[1].splitlines()
    assert head.split() == ["CODE", "NAME", "SEVERITY", "TIER", "WHAT", "IS", "FOUND"]
    named = sorted((code, name) for code, (name, _) in CODES.items() if name in rule_names())
    assert [tuple(row.split()[:2]) for row in listed] == named
    whole = json.loads(run("rule", "--format", "json")[1])
    assert whole["schema"] == "ctxc.rules/1"
    assert len(whole["rules"]) == len(listed) >= 70
    assert all(r["what"] and r["why"] and r["bad"] and r["good"] and r["mend"] for r in whole["rules"])


def test_the_committed_page_is_what_the_command_prints(run: Run, root: Path) -> None:
    assert run("rule", "--all", "--format", "markdown")[1] == (root / "docs/rules.md").read_text(encoding="utf-8")


# --- what a start imports ----------------------------------------------------------------------------------------------

_PROBE = """
import json, sys
from ctxc.__main__ import main
status = main(json.loads(sys.argv[1]))
sys.stderr.write("\\n" + json.dumps([status, sorted(sys.modules)]))
"""


@pytest.mark.parametrize("arguments", [["lint"], ["rule", "CTX019"], ["lint", "--help"]])
def test_a_warm_lint_imports_no_rule_and_nothing_heavy(run: Run, arguments: list[str]) -> None:
    put(TEMPLATE)
    run("lint")
    done = subprocess.run(
        [sys.executable, "-c", _PROBE, json.dumps(arguments)], capture_output=True, text=True, check=True
    )
    status, modules = json.loads(done.stderr.splitlines()[-1])
    assert status == 0
    heavy = {"rich", "jsonschema", "git", "tiktoken", "deepdiff", "pydantic", "yaml", "re2", "regex"}
    assert heavy & set(modules) == set()
    if arguments == ["lint"]:
        assert "ctxc.rules.engine" not in modules
        kept = {f"ctxc.model.{name}" for name in ("codes", "finding", "project", "report")}
        assert {m for m in modules if m.startswith("ctxc.model.")} <= kept
