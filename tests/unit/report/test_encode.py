"""Every encoder makes hostile text inert in its place."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET

import pytest
from hostile import HOSTILE, is_hidden, runner_commands

from ctxc.report import _encode as encode


def test_the_model_of_the_runner_sees_commands_in_plain_text() -> None:
    assert runner_commands("\n".join(HOSTILE)) != []


@pytest.mark.parametrize("text", HOSTILE)
def test_visible_leaves_nothing_hidden(text: str) -> None:
    shown = encode.visible(text)
    assert not any(is_hidden(c) for c in shown)


def test_visible_keeps_ordinary_text() -> None:
    text = "Grüße, 世界, עברית, 👍 \\d+ [bold] <b> ::x"
    assert encode.visible(text) == text


def test_visible_writes_code_points() -> None:
    assert encode.visible("a\x1b]52;c\x07\u202e\t") == "a\\u{1b}]52;c\\u{7}\\u{202e}\\t"


def test_visible_keeps_line_feeds_only_when_asked() -> None:
    assert encode.visible("a\nb\rc", newlines=True) == "a\nb\\rc"
    assert encode.visible("a\nb") == "a\\nb"


@pytest.mark.parametrize("text", HOSTILE)
def test_guarded_log_holds_no_command(text: str) -> None:
    assert runner_commands(encode.guard_log(encode.visible(text, newlines=True))) == []
    assert runner_commands(encode.guard_log("finding: " + text)) == []


@pytest.mark.parametrize("text", HOSTILE)
def test_guarded_json_is_the_same_value_without_commands(text: str) -> None:
    value = json.dumps({"text": text}, ensure_ascii=False)
    guarded = encode.guard_json(value)
    assert json.loads(guarded) == {"text": text}
    assert "##[" not in guarded


@pytest.mark.parametrize("text", HOSTILE)
def test_annotation_is_one_command_with_its_properties(text: str) -> None:
    line = f"::error file={encode.annotation_property(text)},line=3::{encode.annotation_data(text)}"
    assert "\n" not in line
    assert "\r" not in line
    assert runner_commands(line) == ["error"]
    properties = line.split("::", 2)[1].removeprefix("error ")
    assert [p.split("=", 1)[0] for p in properties.split(",")] == ["file", "line"]


def test_annotation_property_escapes_its_delimiters() -> None:
    assert encode.annotation_property("a::b,c=d%0A.md") == "a%3A%3Ab%2Cc=d%250A.md"


def test_annotation_data_keeps_lines() -> None:
    assert encode.annotation_data("a\nb: 5%") == "a%0Ab: 5%25"


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_code_span_is_not_left(text: str) -> None:
    span = encode.markdown_code(text)
    fence = re.match("`+", span)
    assert fence
    width = len(fence.group())
    inner = span[width:-width]
    assert "`" * width not in re.findall("`+", inner)
    assert "\n" not in span


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_text_has_no_active_character(text: str) -> None:
    shown = encode.markdown_text(text)
    assert not re.search(r"[<>`|@\[\]*_~\\$:!(){}\n]", shown)
    assert not re.search(r"#(?!\d+;)", shown)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("@everyone", "&#64;&#8203;everyone"),
        ("ada@example.com", "ada&#64;&#8203;example.com"),
        ("fixes #12", "fixes &#35;&#8203;12"),
        ("see GH-12", "see GH&#45;&#8203;12"),
        ("www.example.com", "www&#46;example.com"),
        ("https://example.com", "https&#58;//example.com"),
        ("high-12 gh-pages", "high-12 gh-pages"),
    ],
)
def test_markdown_text_calls_nobody_after_its_references_are_read(text: str, written: str) -> None:
    """GitHub looks for names and numbers in the page, where ``&#64;`` is a character again."""
    assert encode.markdown_text(text) == written


@pytest.mark.parametrize("text", HOSTILE)
def test_xml_text_parses_to_itself_or_its_escape(text: str) -> None:
    root = ET.fromstring(f'<a b="{encode.xml_text(text)}">{encode.xml_text(text)}</a>')
    assert root.get("b") == root.text == encode.visible(text, newlines=True)


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("a b#c?.md", "a%20b%23c%3F.md"),
        ("ü.md", "%C3%BC.md"),
        ("C:/x", "C%3A/x"),
        ("javascript:alert(1)", "javascript%3Aalert%281%29"),
        ("a/b.md", "a/b.md"),
    ],
)
def test_uri_path_is_a_relative_reference(path: str, uri: str) -> None:
    from urllib.parse import urlsplit

    quoted = encode.uri_path(path)
    assert quoted == uri
    assert urlsplit(quoted).scheme == ""


def test_sarif_message_has_no_link_and_no_placeholder() -> None:
    assert encode.sarif_message("[x](javascript:1) {0}\x1b") == "\\[x\\](javascript:1) {{0}}\\\\u{{1b}}"
    assert len(encode.sarif_message("x" * 2000)) == 1000


def test_cells_counts_columns() -> None:
    assert encode.cells("ab") == 2
    assert encode.cells("世界") == 4
    assert encode.cells("e\u0301") == 1
    assert encode.pad("世", 4) == "世  "
    assert encode.pad("7", 3, right=True) == "  7"
    assert encode.clip("世界世界", 5) == "世界…"
    assert encode.clip("abc", 3) == "abc"


@pytest.mark.parametrize(
    "text", ["##[error]x", "a ##vso[task.setvariable variable=x]y", "##teamcity[testFailed name='x']"]
)
def test_commands_of_every_log_are_taken_apart(text: str) -> None:
    assert "##\\" in encode.guard_log(text) or re.search(r"##\w+\\\[", encode.guard_log(text))
    assert not re.search(r"##\w*\[", encode.guard_log(text))
    assert not re.search(r"##\w*\[", encode.xml_text(text))
    written = json.dumps(text)
    assert json.loads(encode.guard_json(written)) == text
    assert not re.search(r"##\w*\[", encode.guard_json(written))


def test_a_path_never_begins_at_a_root_or_a_host() -> None:
    assert encode.uri_path("//host/x") == "%2F%2Fhost/x"
    assert encode.uri_path("/etc/passwd") == "%2Fetc/passwd"
