"""Each output format: its exact text on ordinary findings, its schema on hostile ones, its limits."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hostile import HOSTILE, is_hidden, runner_commands
from report_samples import make_finding, make_report, make_row, make_run, sample_run

from ctxc import report as formats
from ctxc.base.spans import Location, Span
from ctxc.model.finding import Severity, Suppression
from ctxc.model.report import CompileRun, Report
from ctxc.report import View

ROOT = Path(__file__).parents[3]
SCHEMAS = ROOT / "tests" / "schemas"
VIEW = View()


def load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def hostile_report() -> Report:
    findings = tuple(
        make_finding(
            text,
            name="unknown-reference",
            fixture=text,
            location=Location(text.replace("\ud800", "?"), Span(1, 1, 1, 2), text),
            suppressed=None,
        )
        for text in HOSTILE
    )
    quiet = tuple(replace(f, suppressed=Suppression(kind="inline", reason=f.message)) for f in findings[:2])
    return Report(command="lint", version="1.2.3", findings=findings, suppressed=quiet)


def test_formats_are_the_files_of_the_folder() -> None:
    assert formats.format_ids() == (
        "concise", "github", "gitlab", "json", "jsonl", "junit", "markdown", "sarif", "text",
    )  # fmt: skip


def test_an_unknown_format_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        formats.render("_json", make_report(), VIEW)


@pytest.mark.parametrize("name", ["github", "gitlab", "sarif"])
def test_who_looks_for_files_in_the_repository_is_given_paths_from_its_top(plain: Report, name: str) -> None:
    text = formats.render(name, plain, View(folder="services/desk/"))
    assert text.count("services/desk/tests/fixtures/a.yaml") == text.count("tests/fixtures/a.yaml") > 0


def test_two_projects_of_a_repository_are_told_apart_by_code_quality(plain: Report) -> None:
    one, other = (json.loads(formats.render("gitlab", plain, View(folder=f))) for f in ("a/", "b/"))
    assert {i["fingerprint"] for i in one}.isdisjoint(i["fingerprint"] for i in other)


def test_concise(plain: Report) -> None:
    assert formats.render("concise", plain, VIEW) == (
        "tests/fixtures/a.yaml:2:11: CTX102 error there is no template 'x' (fixture a)\n"
        "templates/y.yaml: CTX201 warning too big\n"
    )


def test_concise_run(run: CompileRun) -> None:
    assert formats.render_run("concise", run, VIEW).splitlines()[:3] == [
        "motor: compiled, 1,234 of 3,000 tokens (42%), 9 kept, 0 cut, 2 dropped, prefix 800",
        "guess: compiled, ~2,950 of 3,000 tokens (99%), 9 kept, 1 cut, 2 dropped, prefix 800",
        "over: budget_exceeded (not as expected), 47 over 3,000 tokens, 0 kept, 0 cut, 2 dropped, prefix –",
    ]


def test_text_shows_the_line_the_mark_and_the_help(plain: Report) -> None:
    source = {"tests/fixtures/a.yaml": "fixture_id: a\ntemplate: x\n"}
    text = formats.render("text", plain, View(source=source.get))
    assert text.split("\n\n")[0] == (
        "error[CTX102] unknown-reference: there is no template 'x'\n"
        " --> tests/fixtures/a.yaml:2:11  (fixture a)\n"
        "  |\n"
        "2 | template: x\n"
        "  |           ^\n"
        "  = help: there is no template 'x'\n"
        "  = templates/y.yaml:1:1: y is here\n"
        "  = fix (--fix --unsafe-fixes): name 'y'"
    )
    assert text.endswith("1 error, 1 warning (1 suppressed) in 3 files, as of 2026-11-30\n")
    assert "✗ budget  failed (1 checked)  over by 12" in text
    assert "· cost    not_configured" in text


@pytest.mark.parametrize(
    ("line", "span", "shown", "mark"),
    [
        ("\ttemplate: x", Span(1, 12, 1, 13), "    template: x", " " * 14 + "^"),
        ("名前: 値だ", Span(1, 5, 1, 7), "名前: 値だ", " " * 6 + "^^^^"),
        ("a\u202eb: c", Span(1, 6, 1, 7), "a\\u{202e}b: c", " " * 12 + "^"),
        ("key: \\d+", Span(1, 6, 1, 9), "key: \\d+", " " * 5 + "^^^"),
        ("x", Span(1, 2, 1, 2), "x", " ^"),
    ],
)
def test_frame_puts_the_mark_under_what_is_shown(line: str, span: Span, shown: str, mark: str) -> None:
    report = Report(command="lint", version="1", findings=(make_finding(location=Location("a", span)),))
    lines = formats.render("text", report, View(source={"a": line}.get)).split("\n")
    assert lines[3] == f"1 | {shown}"
    assert lines[4] == f"  | {mark}"


def test_frame_shows_a_window_of_a_long_line() -> None:
    line = "a" * 5000 + "TARGET" + "b" * 5000
    report = Report(
        command="lint", version="1", findings=(make_finding(location=Location("a", Span(1, 5001, 1, 5007))),)
    )
    lines = formats.render("text", report, View(source={"a": line}.get, width=80)).split("\n")
    at = lines[4].index("^")
    assert lines[4].rstrip().endswith("^" * 6)
    assert lines[3][at : at + 6] == "TARGET"
    assert all(len(text) <= 80 for text in lines[3:5])


@pytest.mark.parametrize("text", ["a\r\nb\r\nTARGET", "a\rb\rTARGET", "a\nb\nTARGET", "\ufeffa\nb\nTARGET"])
def test_frame_counts_lines_as_the_loader_does(text: str) -> None:
    report = Report(command="lint", version="1", findings=(make_finding(location=Location("a", Span(3, 1, 3, 7))),))
    assert "3 | TARGET" in formats.render("text", report, View(source={"a": text}.get))


def test_frame_without_source_still_names_the_place() -> None:
    report = Report(command="lint", version="1", findings=(make_finding(location=Location("a", Span(9, 1, 9, 2))),))
    assert " --> a:9:1  (fixture a)" in formats.render("text", report, View(source={"a": "short"}.get))


def test_text_run_off_a_terminal_is_a_plain_table(run: CompileRun) -> None:
    lines = formats.render_run("text", run, VIEW).split("\n")
    assert lines[:4] == [
        "FIXTURE  TEMPLATE     OUTCOME                   TOKENS     OF       KEPT  CUT  DROP  PREFIX",
        "✓ motor  claimant_v7  compiled                   1,234  3,000  42%     9    0     2     800",
        "✓ guess  claimant_v7  compiled                  ~2,950  3,000  99%     9    1     2     800",
        "✗ over   claimant_v7  CONTEXT_BUDGET_EXCEEDED  47 over  3,000          –    –     2       –",
    ]
    assert lines[-2] == "3 fixtures, 1 not as expected; 1 error"


@pytest.mark.parametrize("width", [80, 200])
def test_text_run_fits_the_terminal(run: CompileRun, width: int) -> None:
    for color in (False, True):
        text = formats.render_run("text", run, View(width=width, color=color))
        bare = re.sub(r"\x1b\[[0-9;]*m", "", text)
        assert all(len(line) <= width for line in bare.split("\n"))
        assert ("\x1b[" in text) is color
        assert "1,234" in bare


@pytest.mark.parametrize(
    ("width", "left_out"),
    [(None, ""), (120, ""), (100, "TEMPLATE"), (54, "TEMPLATE, PREFIX"), (38, "TEMPLATE, percent, KEPT, CUT, PREFIX")],
)
def test_a_narrow_terminal_says_which_columns_it_leaves_out(run: CompileRun, width: int | None, left_out: str) -> None:
    text = formats.render_run("text", run, View(width=width))
    note = re.search(r" A wider terminal also shows (.*?)\.", " ".join(text.split()))
    assert (note[1] if note else "") == left_out
    named = [name for name in ("TEMPLATE", "KEPT", "CUT", "PREFIX") if name not in text.split("\n")[0]]
    assert named == [name for name in left_out.split(", ") if name and name != "percent"]


def test_a_terminal_shows_brackets_as_they_are() -> None:
    run = make_run(make_row("[/closing] [bold]x[/bold] :smile:"))
    text = formats.render_run("text", run, View(width=200, color=True))
    assert "[/closing] [bold]x[/bold] :smile:" in re.sub(r"\x1b\[[0-9;]*m", "", text)


@pytest.mark.parametrize("format_id", ["text", "concise", "markdown"])
@pytest.mark.parametrize("width", [None, 80])
def test_human_formats_let_nothing_hidden_through(format_id: str, width: int | None) -> None:
    report = hostile_report()
    text = formats.render(
        format_id, report, View(width=width, verbosity=2, source=lambda path: "\x1b[31m\u202e" + path)
    )
    assert [c for c in text if is_hidden(c) and c != "\n"] == []
    run = make_run(*(make_row(t) for t in HOSTILE), findings=report.findings)
    text = formats.render_run(format_id, run, View(width=width))
    assert [c for c in text if is_hidden(c) and c != "\n"] == []


def test_json_report_is_valid_and_complete(plain: Report) -> None:
    value = json.loads(formats.render("json", plain, VIEW))
    jsonschema.validate(value, load(ROOT / "ctxc/report/schemas/report.schema.json"))
    assert value["schema"] == "ctxc.report/1"
    assert value["summary"] == {"errors": 1, "warnings": 1, "notes": 0, "suppressed": 1, "checked": {"file": 3}}
    first = value["findings"][0]
    assert first["range"] == {"start": {"line": 2, "column": 11}, "end": {"line": 2, "column": 12}}
    assert first["data"] == {"known": ["y"]}
    assert first["fix"]["edits"][0]["text"] == "y"
    assert value["suppressed"][0]["suppressed"] == {"kind": "inline", "reason": "legacy", "until": "2027-01-01"}


def test_json_of_hostile_text_is_valid_utf8_and_the_same_text() -> None:
    text = formats.render("json", hostile_report(), VIEW)
    value = json.loads(text.encode("utf-8"))
    jsonschema.validate(value, load(ROOT / "ctxc/report/schemas/report.schema.json"))
    assert [f["message"] for f in value["findings"]] == list(HOSTILE)


def test_json_run_joins_the_packages_as_they_are(run: CompileRun) -> None:
    text = formats.render_run("json", run, VIEW)
    value = json.loads(text)
    assert [p["fixture_id"] for p in value["packages"]] == ["motor", "guess", "over"]
    assert value["schema"] == "ctxc.compile/1"
    assert text == json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")) + "\n"


def test_jsonl_is_one_value_a_line(plain: Report, run: CompileRun) -> None:
    types = [json.loads(line)["type"] for line in formats.render("jsonl", plain, VIEW).splitlines()]
    assert types == ["head", "finding", "finding", "suppressed", "summary"]
    types = [json.loads(line)["type"] for line in formats.render_run("jsonl", run, VIEW).splitlines()]
    assert types == ["head", "package", "package", "package", "finding", "summary"]
    assert len(formats.render("jsonl", hostile_report(), VIEW).split("\n")) == len(HOSTILE) + 2 + 3


@pytest.mark.parametrize("make", [make_report, hostile_report, lambda: Report(command="lint", version="1")])
def test_sarif_validates(make: Any) -> None:
    log = json.loads(formats.render("sarif", make(), VIEW))
    jsonschema.Draft4Validator(load(SCHEMAS / "sarif-2.1.0.json")).validate(log)


def test_sarif_keeps_positions_and_suppressions(plain: Report) -> None:
    run = json.loads(formats.render("sarif", plain, VIEW))["runs"][0]
    region = run["results"][0]["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 2, "startColumn": 11, "endLine": 2, "endColumn": 12}
    assert run["columnKind"] == "unicodeCodePoints"
    assert [r["level"] for r in run["results"]] == ["error", "warning", "error"]
    assert run["results"][2]["suppressions"] == [{"kind": "inSource", "justification": "legacy"}]
    assert [r["id"] for r in run["tool"]["driver"]["rules"]] == ["CTX102", "CTX201"]
    assert run["results"][1]["ruleIndex"] == 1


def test_t092_sarif_keeps_the_worst_and_says_how_many_are_left_out() -> None:
    warnings = tuple(make_finding(f"w{i}", severity=Severity.WARNING) for i in range(30_000))
    report = Report(command="lint", version="1", findings=(*warnings, make_finding("x" * 2000)))
    run = json.loads(formats.render("sarif", report, VIEW))["runs"][0]
    assert len(run["results"]) == 5000
    assert run["results"][0]["level"] == "error"
    assert len(run["results"][0]["message"]["text"]) <= 1000
    note = run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]
    assert note.startswith("25,001 findings")


def check_junit(text: str) -> ET.Element:
    rules = load(SCHEMAS / "junit.json")
    root = ET.fromstring(text)
    assert root.tag == "testsuites"
    for element in root.iter():
        rule = rules[element.tag]
        assert set(rule["required"]) <= set(element.keys()) <= {*rule["required"], *rule["optional"]}
        assert {child.tag for child in element} <= set(rule["children"])
        if element.tag == "testsuite":
            assert re.fullmatch(r"(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]*)?", element.get("time", ""))
            cases = element.findall("testcase")
            assert int(element.get("tests", "-1")) == len(cases)
            assert int(element.get("failures", "-1")) == sum(c.find("failure") is not None for c in cases)
    return root


def test_junit_has_a_suite_for_each_gate_and_passes_too(plain: Report) -> None:
    root = check_junit(formats.render("junit", plain, VIEW))
    assert [(s.get("name"), s.get("failures"), s.get("skipped")) for s in root] == [
        ("schema", "0", "0"),
        ("budget", "1", "0"),
        ("cost", "0", "1"),
        ("findings", "1", "0"),
    ]


@pytest.mark.parametrize(("fail_on", "failing"), [("error", 1), ("warning", 2), ("never", 0)])
def test_junit_calls_a_failure_only_what_fails_the_run(plain: Report, fail_on: str, failing: int) -> None:
    """A build is broken by one failure in such a file, whatever the status of the run was."""
    root = check_junit(formats.render("junit", replace(plain, fail_on=fail_on), VIEW))
    suite = root.findall("testsuite")[-1]
    assert len(list(suite.iter("failure"))) == failing
    said = "\n".join(e.text or "" for e in suite.iter("system-out"))
    assert said.count("CTX") == 2 - failing


def test_junit_run_has_a_case_for_each_fixture(run: CompileRun) -> None:
    root = check_junit(formats.render_run("junit", run, VIEW))
    assert [(c.get("name"), c.find("failure") is None) for c in root.iter("testcase")] == [
        ("motor", True),
        ("guess", True),
        ("over", False),
    ]


def test_junit_is_well_formed_whatever_it_prints() -> None:
    root = check_junit(formats.render("junit", hostile_report(), VIEW))
    assert len(list(root.iter("failure"))) == len(HOSTILE)
    check_junit(formats.render_run("junit", make_run(*(make_row(t, ok=False) for t in HOSTILE)), VIEW))


def test_junit_of_nothing_is_one_passing_case() -> None:
    root = check_junit(formats.render("junit", Report(command="lint", version="1"), VIEW))
    assert [s.get("tests") for s in root] == ["1"]


@pytest.mark.parametrize("make", [make_report, hostile_report])
def test_gitlab_validates_and_each_fingerprint_is_unique(make: Any) -> None:
    report = make()
    report = replace(report, findings=report.findings * 2)
    issues = json.loads(formats.render("gitlab", report, VIEW))
    jsonschema.validate(issues, load(SCHEMAS / "gitlab-codequality.json"))
    assert len({i["fingerprint"] for i in issues}) == len(issues) == len(report.findings)


def test_github_annotations(plain: Report) -> None:
    assert formats.render("github", plain, VIEW) == (
        "::error file=tests/fixtures/a.yaml,line=2,col=11,endColumn=12,title=CTX102 unknown-reference"
        "::there is no template 'x'%0Athere is no template 'x'%0Afixture: a\n"
        "::warning file=templates/y.yaml,title=CTX201 token-ceiling::too big%0Atoo big\n"
    )


def test_github_shows_ten_of_each_severity_and_counts_the_rest() -> None:
    findings = tuple(
        make_finding(f"{severity.label} {i}", severity=severity) for i in range(25) for severity in Severity
    )
    lines = formats.render("github", Report(command="lint", version="1", findings=findings), VIEW).splitlines()
    kinds = [line.split(" ", 1)[0] for line in lines]
    assert kinds == ["::error"] * 10 + ["::warning"] * 10 + ["::notice"] * 10
    assert lines[-1] == "::notice title=ctxc::46 more findings in the log of this step"


def test_github_of_hostile_text_is_one_command_for_each_finding() -> None:
    report = hostile_report()
    report = replace(report, findings=report.findings[:9])
    assert runner_commands(formats.render("github", report, VIEW)) == ["error"] * 9


def test_markdown_is_cut_to_the_limit_and_says_so() -> None:
    findings = tuple(make_finding("x" * 200 + str(i)) for i in range(2000))
    text = formats.render("markdown", Report(command="lint", version="1", findings=findings), VIEW)
    assert len(text) <= 65_536
    shown = text.count("\n| error |")
    assert f"{2000 - shown:,} findings left out" in text


def test_markdown_tables_keep_their_columns(run: CompileRun) -> None:
    text = formats.render_run("markdown", make_run(*(make_row(t) for t in HOSTILE)), VIEW)
    rows = [line for line in text.splitlines() if line.startswith("| ✓")]
    assert len(rows) == len(HOSTILE)
    assert {row.count("|") for row in rows} == {11}
    assert "CONTEXT&#95;BUDGET&#95;EXCEEDED" in formats.render_run("markdown", sample_run(), VIEW)


def test_markdown_renders_without_an_extra_element() -> None:
    markdown_it = pytest.importorskip("markdown_it")
    parser = markdown_it.MarkdownIt("commonmark", {"html": True}).enable("table")
    html = parser.render(formats.render("markdown", hostile_report(), VIEW))
    allowed = {"h3", "table", "thead", "tbody", "tr", "th", "td", "code", "br", "p"}
    assert set(re.findall(r"<([a-z0-9]+)", html)) <= allowed
    assert html.count("<tr>") == len(HOSTILE) + 1


def test_what_many_fixtures_have_alike_is_told_once() -> None:
    """One broken manifest once printed the same frame for every fixture of the project."""
    names = [f"f{i}" for i in range(12)]
    same = [make_finding("cannot be known", help="mend it", fixture=n) for n in names]
    other = make_finding("another", help="", fixture="f3")
    report = replace(make_report(), findings=(*same, other), suppressed=(), gates=())
    text = formats.render("text", report, View())
    assert text.count("cannot be known") == 1
    assert "(fixtures f0, f1, f2 and 9 more)" in text and "(fixture f3)" in text
    assert "2 errors" in text
    markdown = formats.render("markdown", report, View())
    assert markdown.count("cannot be known") == 1
    assert "<br>fixtures `f0`, `f1`, `f2` and 9 more |" in markdown
    annotations = formats.render("github", report, View()).splitlines()
    assert len(annotations) == 2
    assert annotations[0].endswith("::cannot be known%0Amend it%0Afixtures: f0, f1, f2 and 9 more")
    # A machine is told of each.
    assert len(json.loads(formats.render("json", report, View()))["findings"]) == 13
    assert len(formats.render("concise", report, View()).splitlines()) == 13
