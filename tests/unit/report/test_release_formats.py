"""The report of a gate in every format: what it must hold, and that nothing which a project says does anything there.

The texts are those of the threat list about output and their kin, put into every field that a fixture, a file name, a
branch, a policy or a waiver can fill: T-076, T-077 and T-078 (terminals), T-080 (bidi), T-081, T-082 and T-083 (commands
and annotations), T-086 and T-087 (Markdown), T-093 (XML), T-095 (HTML). For each format there is a model of what reads it: GitHub's runner,
a Markdown renderer, a browser, parsers of XML, JSON and SARIF, a terminal.
"""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import fields, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import jsonschema
import pytest
from hostile import HOSTILE, is_hidden, runner_commands
from markdown_it import MarkdownIt
from report_samples import make_finding

from ctxc.base.spans import Location, Span
from ctxc.cli.outputs import MACHINE
from ctxc.model.finding import Related, Severity, Suppression
from ctxc.model.release import ChangeLine, CostLine, PrefixLine, Release, Shipped, WaiverLine
from ctxc.model.report import GateResult, Report, RuleText
from ctxc.report import View
from ctxc.report._encode import guard_json, guard_log, visible
from ctxc.report.releases import format_ids, render

ROOT = Path(__file__).parents[3]
VIEW = View()
MORE = (
    "##vso[task.setvariable variable=x]y",
    "##teamcity[testFailed name='x']",
    "javascript:alert(1)",
    "https://evil.example/x www.evil.example",
    "]]><script>alert(1)</script>",
    "</style></title><script src=//evil.example></script>",
    "' onmouseover='alert(1)",
    "&lt;b&gt; &#60;",
    "=HYPERLINK(\"http://evil\")",
    "\x9b31m and \x90 and \x7f",
    "a\tb\r\nc",
    "| --- |\n| x |",
    "</details><details open>",
)  # fmt: skip
TEXTS = (*HOSTILE, *MORE)
FORMATS = format_ids()


def release(text: str, *, path: str | None = None) -> Release:
    """A release in which everything that is not ctxc's own word is the text."""
    place = Location(text if path is None else path, Span(1, 1, 1, 2), "/x")
    finding = make_finding(
        text, help=text, fixture=text, location=place, related=(Related(location=place, message=text),)
    )
    report = Report(
        command="gate",
        version="1.2.3",
        now="2026-11-30",
        findings=(finding, replace(finding, severity=Severity.WARNING), replace(finding, severity=Severity.INFO)),
        suppressed=(replace(finding, suppressed=Suppression(kind="waiver", reason=text, until="2027-01-01")),),
        gates=(
            GateResult(id="schema", status="failed", checked=3, message=text),
            GateResult(id="cost", status="not_configured", message=text),
        ),
        base={"rev": text, "kind": "commit", "label": text, "commit": "", "how": text},
        head={"rev": "", "kind": "worktree", "label": text, "commit": ""},
        policy={"id": text, "version": text, "from": "base", "path": place.path},
        checked={"fixture": 2},
        rules={"CTX102": RuleText(code="CTX102", name="unknown-reference", summary="s", help="h", url="https://x/y")},
    )
    return Release(
        report=report,
        bundle="bnd_0123456789abcdef",
        base_bundle="bnd_fedcba9876543210",
        shipped=tuple(
            Shipped(kind="fragment", id=text, version=text, digest="sha256:00", path=place.path, base_version="1", status=s)
            for s in ("changed", "removed")
        ),
        prefixes=(PrefixLine(template=text, profile=text, provider=text, model=text, tokens=9, digest="", fixtures=2),),
        costs=(CostLine(template=text, model=text, fixtures=2, estimated=True, p50=1, most=2, cold="1.5", ms=7),),
        changes=(ChangeLine(fixture=text, status="changed", facets=("content",), base_tokens=10, head_tokens=30),),
        waivers=(
            WaiverLine(policy=text, rule=text, about=text, owner=text, reason=text, created="2026-01-01",
                       expires="2026-06-01", state="used", count=2),
        ),
        prices=(text,),
        judged_by=("base", "head"),
        fixtures=2,
        requests=2,
        tokens_delta=20,
        failed=True,
    )  # fmt: skip


def hidden(text: str) -> list[str]:
    return [c for c in text if is_hidden(c) and c != "\n"]


# --- one model for each reader --------------------------------------------------------------------------------------


def check_terminal(text: str, said: str) -> None:
    assert hidden(text) == []
    assert visible(said) in text


def check_github(text: str, said: str) -> None:
    lines = text.splitlines()
    assert text.split("\n")[:-1] == lines
    assert [runner_commands(line) for line in lines] == [["error"], ["warning"], ["notice"]]
    for line in lines:
        names = [p.partition("=")[0] for p in line[2:].partition("::")[0].partition(" ")[2].split(",")]
        assert names == ["file", "line", "col", "endColumn", "title"]
    assert hidden(text) == []


class Page(HTMLParser):
    """Elements with their attributes, and the texts between them."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.style = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "style":
            self.style += data
        else:
            self.texts.append(data)


def check_html(text: str, said: str) -> None:
    page = Page()
    page.feed(text)
    page.close()
    assert page.open == []
    assert {tag for tag, _ in page.elements} <= {
        "html", "head", "meta", "title", "style", "body", "div", "h1", "h2", "p", "code", "ul", "li", "span", "b", "i",
        "table", "tr", "th", "td", "details", "summary",
    }  # fmt: skip
    assert {name for _, attributes in page.elements for name in attributes} <= {
        "lang", "charset", "http-equiv", "content", "name", "class", "style",
    }  # fmt: skip
    assert {a["style"] for _, a in page.elements if "style" in a} <= {"width:33.33%", "width:66.67%"}
    policy = next(a["content"] for tag, a in page.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    assert not re.search(r"url\s*\(|@import|expression|https?:", page.style)
    assert [tag for tag, _ in page.elements[:4]] == ["html", "head", "meta", "meta"]  # before anything that could load
    assert hidden(text) == []
    assert visible(said) in "".join(page.texts)


def check_markdown(text: str, said: str) -> None:
    assert hidden(text) == []
    tokens = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(text)
    inline = [child for token in tokens for child in token.children or ()]
    kinds = {token.type for token in (*tokens, *inline)}
    assert kinds.isdisjoint({"image", "link_open", "s_open", "em_open", "strong_open", "fence", "code_block", "hr"})
    assert {t.content for t in inline if t.type == "html_inline"} <= {"<br>"}
    blocks = [t.content for t in tokens if t.type == "html_block"]
    assert [re.findall(r"</?\w+", b) for b in blocks] == [["<details", "<summary", "</summary"], ["</details"]]
    columns: list[int] = []
    for token in tokens:
        if token.type == "tr_open":
            columns.append(0)
        elif token.type in ("th_open", "td_open"):
            columns[-1] += 1
    # Gates, findings, changes, objects, prefixes, costs, waivers, what ships: rows with their heads.
    assert columns == [*[4] * 4, *[5] * 3, *[7] * 2, *[4] * 3, *[7] * 2, *[7] * 2, *[6] * 2, *[4] * 2]
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
    assert "@" not in outside
    assert not re.search(r"(?<![#&])#\d", outside)


def check_json(text: str, said: str) -> None:
    assert text.count("\n") == 1
    assert hidden(text) == []
    value = json.loads(text.encode("utf-8"))
    assert value["findings"][0]["message"] == said
    assert value["release"]["waivers"][0]["reason"] == said
    jsonschema.validate(value, json.loads((ROOT / "ctxc/report/schemas/report.schema.json").read_text("utf-8")))


def check_jsonl(text: str, said: str) -> None:
    assert hidden(text) == []
    values = [json.loads(line) for line in text.encode("utf-8").splitlines()]
    assert [v["type"] for v in values] == ["head", "finding", "finding", "finding", "suppressed", "summary"]
    assert values[1]["finding"]["message"] == said


def check_gitlab(text: str, said: str) -> None:
    assert hidden(text) == []
    issues = json.loads(text)
    assert len({i["fingerprint"] for i in issues}) == len(issues) == 3
    assert all(visible(said) in i["description"] for i in issues)


def check_sarif(text: str, said: str) -> None:
    assert hidden(text) == []
    log = json.loads(text)
    schema = json.loads((ROOT / "tests/schemas/sarif-2.1.0.json").read_text("utf-8"))
    jsonschema.Draft4Validator(schema).validate(log)
    for result in log["runs"][0]["results"]:
        message = result["message"]["text"]
        assert not re.search(r"(?<!\\)(?:\\\\)*[\[\]]", message)  # no link
        assert "{" not in message.replace("{{", "")  # no placeholder
        for place in (*result["locations"], *result["relatedLocations"]):
            uri = place["physicalLocation"]["artifactLocation"]["uri"]
            assert urlsplit(uri)[:2] == ("", "")
            assert not uri.startswith("/")
            assert re.fullmatch(r"[A-Za-z0-9/._~%-]*", uri)


def check_junit(text: str, said: str) -> None:
    assert hidden(text) == []
    assert "<!" not in text
    root = ET.fromstring(text.encode("utf-8"))
    assert {e.tag for e in root.iter()} <= {"testsuites", "testsuite", "testcase", "failure", "skipped", "system-out"}
    messages = [e.get("message") or "" for e in root.iter("failure")]
    assert any(visible(said, newlines=True) in m for m in messages)


CHECKS = {
    "text": check_terminal, "concise": check_terminal, "github": check_github, "html": check_html,
    "markdown": check_markdown, "json": check_json, "jsonl": check_jsonl, "gitlab": check_gitlab,
    "sarif": check_sarif, "junit": check_junit,
}  # fmt: skip


def test_there_is_a_model_of_the_reader_of_every_format() -> None:
    assert tuple(sorted(CHECKS)) == FORMATS


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_nothing_that_a_project_says_does_anything(name: str, text: str) -> None:
    CHECKS[name](render(name, release(text), VIEW), text)


@pytest.mark.parametrize("name", [f for f in FORMATS if f != "github"])
@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_no_line_of_a_log_is_a_command(name: str, text: str) -> None:
    """As the console prints it in GitHub Actions; Azure and TeamCity read commands at the start of a line only."""
    drawn = render(name, release(text), VIEW)
    printed = guard_json(drawn) if name in MACHINE else guard_log(drawn)
    assert runner_commands(printed) == []
    assert not [line for line in printed.splitlines() if line.lstrip().startswith(("##vso[", "##teamcity["))]
    if name in MACHINE and name != "junit":
        assert [json.loads(line) for line in printed.splitlines()] == [json.loads(line) for line in drawn.splitlines()]
    if name == "junit":
        assert printed == drawn


# --- what the report of a release holds -----------------------------------------------------------------------------


def held(name: str, **changes: Any) -> str:
    """A report whose fields all differ, in a format."""
    made = release("x")
    made = replace(
        made,
        shipped=(
            Shipped(kind="template", id="desk", version="1.1.0", digest="sha256:" + "a1" * 32, path="t.yaml",
                    base_version="1.0.0", status="changed"),
            Shipped(kind="fragment", id="core.tone", version="2", digest="sha256:" + "b2" * 32, path="f.md",
                    base_version="2", status="same"),
        ),
        prefixes=(PrefixLine(template="desk", profile="front", provider="openai", model="gpt-4o", tokens=1234,
                             digest="sha256:" + "c3" * 32, fixtures=4, status="changed"),),
        costs=(CostLine(template="desk", model="gpt-4o", fixtures=4, estimated=False, p50=1500, most=1900, cold="12.5",
                        warm="7.25", ms=2100, base_p50=1400, base_most=1900, base_cold="11.5", base_warm="7.25",
                        base_ms=2000),),
        changes=(ChangeLine(fixture="refund", status="changed", facets=("content", "prefix"), base_tokens=1400,
                            head_tokens=1500, prefix_lost=300),),
        waivers=(WaiverLine(policy="production", rule="FF-001", about="policies/desk.md", owner="platform",
                            reason="public mailbox", created="2026-10-01", expires="2026-12-31", state="used", count=3),),
        prices=("openai 2026-10-01",),
        tokens_delta=100,
        **changes,
    )  # fmt: skip
    return render(name, made, VIEW)


@pytest.mark.parametrize("name", ["markdown", "html", "json"])
def test_the_report_of_a_release_holds_what_people_have_to_know(name: str) -> None:
    text = held(name)
    plain = re.sub(r"&#(\d+);", lambda m: chr(int(m[1])), re.sub(r"<[^>]+>|&#8203;", " ", text)).replace(",", "")
    shipped = ("bnd_0123456789abcdef", "desk", "1.1.0", "1.0.0", "a1a1a1a1a1a1", "core.tone", "b2b2b2b2b2b2")
    checked = ("schema", "failed", "cost", "not configured" if name != "json" else "not_configured")
    changed = ("refund", "content", "prefix", "1400", "1500", "300")
    costs = ("gpt-4o", "1500", "1900", "12.5", "7.25", "11.5", "2100", "openai 2026-10-01")
    waived = ("FF-001", "policies/desk.md", "platform", "public mailbox", "2026-12-31")
    prefixes = ("front", "1234", "c3c3c3c3c3c3")
    for word in (*shipped, *checked, *changed, *costs, *waived, *prefixes):
        assert word in plain, word


@pytest.mark.parametrize("name", ["text", "markdown", "html", "json"])
def test_a_report_says_who_judged_and_against_what(name: str) -> None:
    text = held(name)
    if name == "json":
        assert json.loads(text)["release"]["judged_by"] == ["base", "head"]
    else:
        plain = re.sub(r"&#(\d+);|&#x27;", lambda m: chr(int(m[1])) if m[1] else "'", text)
        assert "judged by the base's and the head's policies, against x" in plain


def test_json_has_every_field_of_a_release() -> None:
    value = json.loads(held("json"))["release"]
    assert set(value) == {f.name for f in fields(Release)} - {"report"}
    assert set(value["waivers"][0]) == {f.name for f in fields(WaiverLine)}


def test_markdown_never_exceeds_what_a_comment_takes_and_says_what_is_left_out() -> None:
    changes = tuple(
        ChangeLine(fixture=f"fixture-{n}", status="changed", facets=("content",), base_tokens=1, head_tokens=2)
        for n in range(3000)
    )
    waivers = tuple(
        WaiverLine(policy="p", rule=f"R-{n}", about="a", owner="o", reason="r", created="", expires="", state="used")
        for n in range(3)
    )
    made = replace(release("x"), changes=changes, waivers=waivers)
    text = render("markdown", made, VIEW)
    assert len(text) <= 65_536
    left = re.search(r"\n([\d,]+) fixtures left out: the limit is 65,536 characters\.\n", text)
    assert left is not None
    shown = text.count("`fixture-")
    assert shown + int(left[1].replace(",", "")) == 3000
    assert "3 waivers left out" in text


def test_markdown_shows_findings_first_and_every_gate_however_many_there_are() -> None:
    made = release("x")
    one = made.report.findings[0]
    found = tuple(replace(one, message=f"number {n}") for n in range(3000))
    many = replace(made, report=replace(made.report, findings=found))
    text = render("markdown", many, VIEW)
    assert len(text) <= 65_536
    assert "findings left out: the limit is 65,536 characters." in text
    assert 0 < text.index("#### What was found") < text.index("#### What was checked")
    for gate in made.report.gates:
        assert re.search(rf"^\| \S+ \| {gate.id} \| ", text, re.MULTILINE), gate.id


def test_sarif_keeps_paths_that_look_like_addresses_inside_the_repository() -> None:
    for path in ("file:///etc/passwd", "//host/x", "C:/x", "https://evil/x", "/etc/passwd", "../x"):
        log = json.loads(render("sarif", release("x", path=path), VIEW))
        uri = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert urlsplit(uri)[:2] == ("", ""), uri
        assert unquote(uri).lstrip("/") == path.lstrip("/")


@pytest.mark.parametrize("name", ["text", "markdown", "html"])
def test_the_report_as_it_was_recorded(name: str, update_goldens: bool) -> None:
    place = Path(__file__).parent / "releases" / f"recorded.{name}"
    if update_goldens:
        place.parent.mkdir(exist_ok=True)
        place.write_text(held(name), encoding="utf-8", newline="\n")
    assert held(name) == place.read_text(encoding="utf-8"), "pytest --update-goldens tests/unit/report"
