"""Long lines on a terminal: folded between words, under their own text, nothing lost."""

from __future__ import annotations

import re

import pytest
from rich.cells import cell_len

from ctxc.base.spans import Location, Span
from ctxc.model.finding import Finding, Severity
from ctxc.model.report import Row
from ctxc.report import View
from ctxc.report._draw import Cell, Column, Table, draw_table
from ctxc.report._encode import cells
from ctxc.report._frame import frame
from ctxc.report._run import run_table
from ctxc.report._wrap import hang, wrap

STYLE = re.compile(r"\x1b\[[0-9;]*m")
HELP = "  = help: save the file as UTF-8 (`iconv -f WINDOWS-1252 -t UTF-8 FILE` where it comes from an older editor)"


def test_what_fits_is_left_alone() -> None:
    text = "short\n" + "x" * 80 + "\n"
    assert wrap(text, 80) == text
    assert wrap("", 80) == ""


def test_a_line_goes_on_under_its_own_text() -> None:
    assert wrap(HELP, 80).split("\n") == [
        "  = help: save the file as UTF-8 (`iconv -f WINDOWS-1252 -t UTF-8 FILE` where it",
        "          comes from an older editor)",
    ]
    assert wrap("error: one two three", 14).split("\n") == [
        "error: one two",
        "    three",
    ]  # a third of the line at most
    assert wrap("    call: " + "word " * 20, 60).split("\n")[1].startswith("      word")
    assert wrap("- one two three four", 12).split("\n") == ["- one two", "  three four"]


def test_a_branch_of_a_tree_goes_on_with_its_lines() -> None:
    line = "│  ├─ 152   4% █··················· fragments/core.provenance.and.more  stable"
    assert wrap(line, 50).split("\n") == [
        "│  ├─ 152   4% █···················",
        "│  │  fragments/core.provenance.and.more  stable",
    ]
    assert wrap(line.replace("├", "└"), 50).split("\n")[1].startswith("│     fragments/")


def test_parts_that_stand_apart_are_kept_together() -> None:
    line = "q3_cross_check  compiled  ~4,036 of 6,000 tokens (68%)  supplier_audit on gpt-4.1"
    assert wrap(line, 80).split("\n") == [
        "q3_cross_check  compiled  ~4,036 of 6,000 tokens (68%)",
        "  supplier_audit on gpt-4.1",
    ]


def test_prose_around_code() -> None:
    text = "word " * 30 + "\n    " + "code " * 30
    folded = wrap(text, 60, code="    ").split("\n")
    assert folded[-1] == "    " + "code " * 30
    assert folded[1].startswith("word")


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_only_words_that_are_longer_than_a_line_are_wider_than_it(width: int) -> None:
    text = "\n".join([
        HELP,
        "\x1b[1mbold " + "words " * 40 + "\x1b[0m end",
        "这是一个很长的中文句子没有空格所以需要在宽字符之间断开" * 6,
        "a " + "e\u0301" * 90 + " b",
        "see " + "p" * 300 + " for more",
    ])  # fmt: skip
    folded = wrap(text, width)
    plain = STYLE.sub("", folded)
    wide = [line for line in plain.split("\n") if cells(line) > width]
    assert {line.strip()[:1] for line in wide} <= {"e", "p"}
    assert re.sub(r"\s", "", plain) == re.sub(r"\s", "", STYLE.sub("", text))
    assert STYLE.findall(folded) == STYLE.findall(text)


def test_hanging() -> None:
    assert hang("✓ extra  ", "one two three four", 20).split("\n") == ["✓ extra  one two", "         three four"]
    assert hang("✓ extra  ", "one two three four", None) == "✓ extra  one two three four"


def test_columns_of_wide_and_combined_characters() -> None:
    """Each cell of the second column begins in the same column of the terminal."""
    names = ("plain", "東京", "e\u0301te\u0301", "ไทยที่", "한글", "👍", "नमस्ते")
    table = Table(
        columns=(Column(title="NAME"), Column(title="N", right=True)),
        rows=tuple((Cell(n), Cell("1")) for n in names),
    )
    for view in (View(), View(width=40)):
        lines = draw_table(table, view).rstrip("\n").split("\n")
        assert {cells(line) for line in lines} == {cells(lines[0])}, view


def test_a_cell_is_broken_at_a_blank_before_anything_else() -> None:
    table = Table(columns=(Column(title="A"), Column(title="B", flexible=True)),
                  rows=((Cell("x" * 12), Cell("one, two/three four-five six, or a value")),))  # fmt: skip
    lines = draw_table(table, View(width=37)).rstrip("\n").split("\n")
    assert [line[13:] for line in lines] == ["B", "one, two/three four-five", "  six, or a value"]


@pytest.mark.parametrize("length", [71, 72, 73, 74, 150])
@pytest.mark.parametrize("column", [1, 2, 40])
def test_a_source_line_that_is_cut_says_so(length: int, column: int) -> None:
    line = "".join(chr(ord("a") + n % 26) for n in range(length))
    finding = Finding(
        code="CTX001", name="n", severity=Severity.ERROR, message="m",
        location=Location("f", Span(1, column, 1, column + 1)),
    )  # fmt: skip
    shown = frame(finding, View(width=80, source=lambda _: line)).split("\n")[3].removeprefix("1 | ")
    assert cells(shown) <= 72
    assert shown == line or "…" in shown
    assert (shown == line) is (length <= 72)


@pytest.mark.parametrize("width", range(40, 130, 5))
def test_a_table_of_a_run_is_never_wider_than_the_terminal(width: int) -> None:
    names = ("short", "motor_update_pileup_statements", "東京の営業時間についての質問", "नमस्ते_दुनिया")
    rows = [
        Row(
            fixture_id=n, template="a_template_of_some_length", model="m", outcome="budget_exceeded", used=5_372,
            available=991_101, exact=False, kept=16, cut=2, dropped=3, prefix=2_497, path="p", ok=True, over=372,
        )
        for n in names
    ]  # fmt: skip
    lines = run_table(rows, View(width=width)).rstrip("\n").split("\n")
    assert max(map(cell_len, lines)) <= width
    assert not any(line.endswith(" ") for line in lines)
    plain = run_table(rows, View()).split("\n")
    assert [n in line for n, line in zip(names, plain[1:], strict=False)] == [True] * 4, "off a terminal all is whole"
