"""Fixes: what is mended, what is left alone byte for byte, and what needs to be asked for."""

from __future__ import annotations

from pathlib import Path

import pytest
from lint_world import TEMPLATE, codes, judge, write

from ctxc.app.fixes import plan, unified
from ctxc.app.lint_fix import changes, mend
from ctxc.base.spans import Location, Span
from ctxc.model.finding import Edit, Finding, Fix, Severity


def finding(*edits: tuple[Span, str], safe: bool = True, path: str = "a.md") -> Finding:
    made = tuple(Edit(location=Location(path, span), text=text) for span, text in edits)
    return Finding(
        code="CTX019", name="float-like-version", severity=Severity.WARNING, message="m", location=Location(path),
        fix=Fix(title="t", edits=made, safe=safe),
    )  # fmt: skip


def after(text: str, *found: Finding, unsafe: bool = False) -> str:
    done = plan(found, {"a.md": text}, unsafe=unsafe)
    return done[0].after if done else text


def test_positions_are_those_of_the_text_as_it_is_read() -> None:
    text = "\ufeffone\r\ntwo\rthree\n"
    assert after(text, finding((Span(2, 1, 2, 4), "TWO"))) == "\ufeffone\r\nTWO\rthree\n"
    assert after(text, finding((Span(3, 6, 3, 6), "!"))) == "\ufeffone\r\ntwo\rthree!\n"
    assert after(text, finding((Span(1, 0, 1, 1), ""))) == "one\r\ntwo\rthree\n"
    assert after(text, finding((Span(1, 4, 2, 1), "\n"))) == "\ufeffone\ntwo\rthree\n"
    assert after("a", finding((Span(1, 1, 2, 1), ""))) == ""


@pytest.mark.parametrize("span", [Span(9, 1, 9, 2), Span(1, 9, 1, 10), Span(2, 1, 1, 1), Span(1, -1, 1, 1)])
def test_a_place_that_is_not_there_changes_nothing(span: Span) -> None:
    assert after("one\ntwo\n", finding((span, "x"))) == "one\ntwo\n"


def test_of_fixes_that_overlap_the_first_counts_and_a_fix_is_whole_or_not_at_all() -> None:
    first, second = finding((Span(1, 1, 1, 4), "1")), finding((Span(1, 3, 1, 6), "2"), (Span(1, 8, 1, 9), "3"))
    (change,) = plan([first, second], {"a.md": "abcdefghij\n"}, unsafe=False)
    assert (change.after, change.left) == ("1defghij\n", 1)


def test_an_unsafe_fix_has_to_be_asked_for() -> None:
    unsafe = finding((Span(1, 1, 1, 2), "x"), safe=False)
    assert after("abc\n", unsafe) == "abc\n"
    assert after("abc\n", unsafe, unsafe=True) == "xbc\n"


def test_two_insertions_at_one_place_are_one() -> None:
    assert after("a\n", finding((Span(1, 1, 1, 1), "x")), finding((Span(1, 1, 1, 1), "x"))) == "xa\n"


def test_the_diff_shows_what_no_line_shows() -> None:
    text = "one\r\ntwo\n"
    change = plan([finding((Span(1, 4, 2, 1), "\n"))], {"a.md": text}, unsafe=False)
    assert unified(change) == "--- a/a.md\n+++ b/a.md\n@@ -1,2 +1,2 @@\n-one\\r\n+one\n two\n"
    ending = plan([finding((Span(1, 1, 1, 2), "b"))], {"a.md": "a"}, unsafe=False)
    assert unified(ending).endswith("-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n")


BROKEN = {
    "templates/t.yaml": "\ufefftemplate_id: t\r\nversion: 1.10  # the version\r\nsectoins: []\nsections:\r\n"
    "  - {id: policy, source: literal, text: Answer briefly., requried: true}  # ctxc: ignore[CTX019] reason: none\r\n",
}


def test_mending_goes_on_until_nothing_more_can_be_mended(tmp_path: Path) -> None:
    write(tmp_path, BROKEN)
    linted, done = mend(lambda: judge(tmp_path), tmp_path, unsafe=False)
    assert codes(linted) == ["templates/t.yaml:3 CTX003", "templates/t.yaml:5 CTX003"]
    assert len(done) == 4
    assert (tmp_path / "templates/t.yaml").read_bytes() == (
        b'template_id: t\r\nversion: "1.10"  # the version\r\nsectoins: []\r\nsections:\r\n'
        b"  - {id: policy, source: literal, text: Answer briefly., requried: true}\r\n"
    )


def test_unsafe_mends_keys_as_well(tmp_path: Path) -> None:
    write(tmp_path, {"templates/t.yaml": TEMPLATE.replace("text:", '"tetx":')})
    linted, done = mend(lambda: judge(tmp_path), tmp_path, unsafe=True)
    assert codes(linted) == []
    assert len(done) == 1
    assert '"text": Answer briefly.' in (tmp_path / "templates/t.yaml").read_text()


def test_suppressed_findings_are_left_alone(tmp_path: Path) -> None:
    text = TEMPLATE.replace("version: 1", "version: 1.10  # ctxc: ignore[CTX019] reason: kept")
    write(tmp_path, {"templates/t.yaml": text})
    assert changes(judge(tmp_path), unsafe=True) == ()


def test_what_is_no_utf_8_is_never_written_back(tmp_path: Path) -> None:
    write(tmp_path, {"fragments/a.md": b"\xef\xbb\xbfcaf\xe9\r\nx\n"})
    before = (tmp_path / "fragments/a.md").read_bytes()
    mend(lambda: judge(tmp_path), tmp_path, unsafe=True)
    assert (tmp_path / "fragments/a.md").read_bytes() == before


def test_an_unused_comment_goes_with_its_line_or_with_the_blanks_before_it(tmp_path: Path) -> None:
    text = TEMPLATE.replace(
        "version: 1", "# ctxc: ignore[CTX003] reason: x\nversion: 1   # ctxc: ignore[CTX019] reason: y"
    )
    write(tmp_path, {"templates/t.yaml": text})
    linted, _ = mend(lambda: judge(tmp_path), tmp_path, unsafe=False)
    assert codes(linted) == []
    assert (tmp_path / "templates/t.yaml").read_text() == TEMPLATE
