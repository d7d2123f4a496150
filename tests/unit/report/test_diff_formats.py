"""The formats of a diff: schema, limits of the platform, one page that asks nobody for anything, any width."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import ctxc
from ctxc.model.change import Change
from ctxc.report import View
from ctxc.report._encode import cells
from ctxc.report.diffs import DiffView, format_ids, render
from ctxc.report.markdown import MAX_CHARACTERS
from ctxc.source.memory import MemoryTree

ROOT = Path(__file__).parents[3]


def project(policy: str, *, fragments: int = 3, order: str = "1 2 3", extra: str = "") -> dict[str, str]:
    listed = "".join(
        f"  - {{id: s{n}, kind: policy, source: policies/{n}.md, required: true, cacheable: true}}\n"
        for n in order.split()
    )
    files = {
        "templates/t.yaml": (
            "template_id: t\nversion: 1\nprovider: openai\nmodel: gpt-4.1\nrequest_profile: p\nsections:\n"
            "  - {id: tools, source: toolset, cacheable: true}\n"
            f"{listed}  - {{id: user, source: runtime, required: true}}\n"
        ),
        "templates/p.yaml": "profile_id: p\nversion: 1\ntoolset: ts\noutput_contract: c\n",
        "templates/c.yaml": "contract_id: c\nversion: 1\nschema: {type: object, properties: {a: {type: string}}}\n",
        "templates/ts.yaml": (
            "toolset_id: ts\nversion: 1.0.0\ntools:\n"
            f"  - {{name: find, description: Find it{extra}., input_schema: {{type: object}}}}\n"
        ),
        "tests/fixtures/a.yaml": "fixture_id: a\ntemplate: t\ninputs: {user: Hi}\n",
        "tests/fixtures/b.yaml": "fixture_id: b\ntemplate: t\ninputs: {user: Hello}\n",
    }
    for n in range(1, fragments + 1):
        files[f"policies/{n}.md"] = policy if n == 2 else f"Text {n}.\n"
    return files


def changed(base: dict[str, str], head: dict[str, str]) -> Change:
    return ctxc.diff(ctxc.load(MemoryTree(base)), ctxc.load(MemoryTree(head)))


@pytest.fixture(scope="module")
def change() -> Change:
    head = project("Keep it for 90 days.\n", order="3 1 2", extra=" soon")
    head["templates/c.yaml"] = "contract_id: c\nversion: 1\nschema: {type: object, required: [b]}\n"
    head["tests/fixtures/n.yaml"] = "fixture_id: n\ntemplate: t\ninputs: {user: New}\n"
    return changed(project("Keep it for 30 days.\n"), head)


def drawn(change: Change, format: str, **view: Any) -> str:
    return render(format, change, DiffView(view=View(**view)))


def test_formats() -> None:
    assert format_ids() == ("html", "json", "markdown", "text")
    with pytest.raises(KeyError):
        render("yaml", changed(project("a"), project("a")), DiffView(view=View()))


# --- JSON -------------------------------------------------------------------------------------------------------------


def schema() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / "ctxc/report/schemas/diff.schema.json").read_text(encoding="utf-8"))
    return found


def undescribed(value: Any, part: dict[str, Any], place: str = "") -> Iterator[str]:
    if "$ref" in part:
        part = schema()["$defs"][part["$ref"].rsplit("/", 1)[1]]
    for option in part.get("anyOf", ()):
        if option.get("type") != "null" and value is not None:
            yield from undescribed(value, option, place)
    if isinstance(value, dict) and "properties" in part:
        for key, item in value.items():
            if key not in part["properties"]:
                yield f"{place}/{key}"
            else:
                yield from undescribed(item, part["properties"][key], f"{place}/{key}")
    if isinstance(value, list) and "items" in part:
        for item in value:
            yield from undescribed(item, part["items"], f"{place}/*")


def test_json_is_valid_and_every_key_is_described(change: Change) -> None:
    text = drawn(change, "json")
    value = json.loads(text)
    jsonschema.validate(value, schema())
    assert set(undescribed(value, schema())) == set()
    assert value["schema"] == "ctxc.diff/1" and [f["fixture_id"] for f in value["fixtures"]] == ["a", "b", "n"]
    first = value["fixtures"][0]
    assert set(first) >= {"fixture_id", "status", "facets", "tokens", "prefix", "sections"}
    assert set(first["prefix"]) >= {"stable", "base_hash", "head_hash", "first_difference", "lost_tokens"}
    assert set(first["prefix"]["first_difference"]) >= {
        "section_id",
        "path",
        "line",
        "byte",
        "token",
        "percent",
        "reason",
    }
    assert {s["section_id"]: s["status"] for s in first["sections"]}["s2"] == "changed"
    assert text == drawn(change, "json", color=True, width=40), "no terminal changes a machine format"


def test_the_schema_is_what_the_dataclasses_say() -> None:
    done = subprocess.run([sys.executable, str(ROOT / "tools/build_diff_schema.py"), "--check"], check=False)
    assert done.returncode == 0


# --- text -------------------------------------------------------------------------------------------------------------


def test_the_summary_stands_first(change: Change) -> None:
    lines = drawn(change, "text").split("\n")
    assert lines[:2] == ["ctxc diff  base → head", "3 of 3 fixtures differ (5 files changed)"]
    assert lines[3].startswith("  tokens    ") and lines[4].startswith("  prefix    ")
    order = [
        line.split("  ")[0] for line in lines if re.match(r"(sections|tools|contract|fixtures|versions|files)\b", line)
    ]
    assert order == ["sections", "tools", "contract", "fixtures", "versions", "files"]


@pytest.mark.parametrize("width", [40, 80, 120, 200])
def test_nothing_is_wider_than_the_terminal(width: int) -> None:
    long = "Keep it for 30 days and say so in words that go on and on, 保存三十天并说明原因，直到行尾为止。 " * 6 + "\n"
    made = changed(project(long), project(long.replace("30", "90").replace("三", "九")))
    bodies = [line for line in drawn(made, "text", width=width).split("\n") if re.match(r" +\d* *[!+~-] |^ {8}", line)]
    assert bodies and all(cells(line) <= width for line in bodies)
    plain = drawn(made, "text")
    assert max(map(cells, plain.split("\n"))) > 400, "off a terminal nothing is folded"


def test_colour_says_nothing_that_the_marks_do_not(change: Change) -> None:
    coloured = drawn(change, "text", color=True)
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == drawn(change, "text")


def test_stat_has_no_texts(change: Change) -> None:
    text = render("text", change, DiffView(view=View(), stat=True))
    assert "[-" not in text and "s2" in text and "tools" in text
    bumped = project("Keep it for 90 days.\n")
    bumped["templates/t.yaml"] = bumped["templates/t.yaml"].replace("version: 1", "version: 2")
    text = render("text", changed(project("Keep it for 30 days.\n"), bumped), DiffView(view=View(), stat=True))
    assert "fixtures" not in text.split("\n"), "no heading without anything under it"


def test_long_texts_are_cut_and_said_to_be() -> None:
    many = "".join(f"Line number {n} of the policy.\n" for n in range(100))
    made = changed(project("One.\n"), project("One.\n" + many))
    text = drawn(made, "text")
    assert "… 88 more lines" in text and "Line number 99" not in text
    assert "Line number 99" in drawn(made, "text", verbosity=1)


# --- Markdown ---------------------------------------------------------------------------------------------------------


def test_markdown_has_one_table_and_folded_details(change: Change) -> None:
    text = drawn(change, "markdown")
    assert text.startswith("<!-- ctxc diff -->\n### ctxc diff: 3 of 3 fixtures differ")
    before, _, after = text.partition("<details>")
    assert before.count("|---") == 6 and text.count("<details>") == text.count("</details>") > 4
    assert "```diff\n- Keep it for [-30-] days.\n+ Keep it for {+90+} days.\n```" in after


def test_markdown_shows_both_forms_of_a_line_into_which_words_came() -> None:
    text = drawn(changed(project("Keep it for days.\n"), project("Keep it for 30 days.\n")), "markdown")
    assert "```diff\n- Keep it for days.\n+ Keep it for {+30 +}days.\n```" in text


def test_markdown_is_cut_to_what_a_comment_may_have() -> None:
    base = project("x\n")
    head = dict(base)
    for n in range(900):
        for files, word in ((base, "one"), (head, "two")):
            files[f"tests/fixtures/f{n}.yaml"] = (
                f"fixture_id: fixture_{n:04d}\ntemplate: t\ninputs: {{user: '{word} is number {n} of very many words'}}\n"
            )
    text = drawn(changed(base, head), "markdown")
    assert 0.6 * MAX_CHARACTERS < len(text) <= MAX_CHARACTERS
    told = re.search(r"(\d+) rows and (\d+) details left out: a comment has at most 65,536 characters", text)
    assert told is not None
    rows, details = int(told[1]), int(told[2])
    assert text.count("\n| ! |") + rows == 900
    assert text.count("<details>") + details >= 902
    assert text.count("<details>") == text.count("</details>")
    assert text.rstrip().endswith("`ctxc diff` shows all.")


def test_a_fence_is_longer_than_what_is_in_it() -> None:
    made = changed(project("One.\n"), project("One.\n`````\n```` x\n"))
    assert "\n``````diff\n" in drawn(made, "markdown")


# --- HTML -------------------------------------------------------------------------------------------------------------


class Page(HTMLParser):
    """Elements and attributes of a page, and whether every element is closed."""

    VOID = ("meta", "br")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(k, v or "") for k, v in attrs]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(k, v or "") for k, v in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_asks_nobody_for_anything(change: Change) -> None:
    text = drawn(change, "html")
    page = Page(text)
    assert page.open == []
    known = {"html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "dl", "dt", "dd", "span", "br", "details",
             "summary", "div", "strong", "svg", "text", "path", "g", "rect", "line", "del", "ins", "pre", "code", "ul",
             "li", "table", "tr", "th", "td"}  # fmt: skip
    assert set(page.tags) <= known
    names = {name for name, _ in page.attributes}
    assert not names & {"src", "href", "srcset", "action", "data", "style", "poster", "background"}
    assert not any(name.startswith("on") for name in names)
    assert "url(" not in text and "@import" not in text and "@font-face" not in text
    policy = next(v for k, v in page.attributes if k == "content" and "default-src" in v)
    assert policy.startswith("default-src 'none'")
    assert "prefers-color-scheme:dark" in text


def test_the_picture_shows_blocks_by_tokens_moves_and_the_prefix(change: Change) -> None:
    text = drawn(change, "html")
    fixture = next(f for f in change.fixtures if f.fixture_id == "a")
    picture = text[text.index("<svg") : text.index("</svg>")]
    heights: dict[str, float] = {}
    for title, height in re.findall(
        r"<title>([^<]*)</title><rect class=\"block [a-z]+\"[^>]* height=\"([0-9.]+)\"", picture
    ):
        heights.setdefault(title.partition(":")[0], float(height))
    tokens = {b.section_id: b.tokens for b in fixture.base_layout}
    large = [name for name in heights if tokens.get(name, 0) > 25]
    scale = {round(heights[name] / tokens[name], 1) for name in large}
    assert len(large) >= 2 and len(scale) == 1, "as high as its tokens"
    assert 'class="band moved"' in picture and 'class="prefix"' in picture and 'class="first"' in picture
    assert picture.count("the cached prefix ends here") == 2


def test_the_page_opens_in_a_browser(change: Change, tmp_path: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("needs Chromium, which is not installed")
    page, shot = tmp_path / "diff.html", tmp_path / "diff.png"
    page.write_text(drawn(change, "html"), encoding="utf-8")
    command = [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1100,900",
               f"--user-data-dir={tmp_path / 'profile'}", "--enable-logging=stderr"]  # fmt: skip
    done = subprocess.run(
        [*command, f"--screenshot={shot}", "--dump-dom", page.as_uri()], capture_output=True, timeout=120, check=False
    )
    assert b"Refused to" not in done.stderr and b"CONSOLE" not in done.stderr
    dom = subprocess.run([*command, "--dump-dom", page.as_uri()], capture_output=True, timeout=120, check=True).stdout
    assert dom.count(b"<svg") == 3 and b"3 of 3 fixtures differ" in dom


# --- nothing ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["text", "markdown", "html", "json"])
def test_no_difference(format: str) -> None:
    made = changed(project("a\n"), project("a\n"))
    text = drawn(made, format)
    assert made.is_empty
    if format == "json":
        assert json.loads(text)["totals"]["changed"] == 0
        jsonschema.validate(json.loads(text), schema())
    else:
        assert "no model sees a difference: 0 files changed, 2 fixtures compile to the same" in text.replace(
            "&#58;", ":"
        )
