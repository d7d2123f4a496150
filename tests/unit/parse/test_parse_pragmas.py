"""Suppression comments are read as data: what they name and where; nothing inside text is one."""

from __future__ import annotations

import pytest

from ctxc.base.spans import Span
from ctxc.parse.pragmas import Pragma, ignored, pragmas


def test_a_comment_after_a_value_speaks_of_its_line() -> None:
    assert pragmas("a: 1\nb: 2  # ctxc: ignore[CTX201]\n") == (Pragma("line", ("CTX201",), 2, Span(2, 7, 2, 29)),)


def test_a_comment_on_its_own_line_speaks_of_the_next_value() -> None:
    found = pragmas(
        "a: 1\n# ctxc: ignore[CTX201, token-ceiling] until=2027-03-31 reason: legacy, ticket 12\n\n# x\nb: 2\n"
    )
    assert [(p.scope, p.codes, p.line, p.until, p.reason, p.fault) for p in found] == [
        ("line", ("CTX201", "token-ceiling"), 5, "2027-03-31", "legacy, ticket 12", "")
    ]


def test_ignore_file_stands_before_the_first_value() -> None:
    text = "# ctxc: ignore-file[CTX015] reason: generated\na: 1\n# ctxc: ignore-file[CTX016]\nb: 2\n"
    first, second = pragmas(text)
    assert (first.scope, first.codes, first.line, first.reason, first.fault) == (
        "file",
        ("CTX015",),
        0,
        "generated",
        "",
    )
    assert second.fault == "`ignore-file` stands before the first value of a file"


@pytest.mark.parametrize(
    "text",
    [
        "a: |\n  x # ctxc: ignore[CTX201]\n  # ctxc: ignore[CTX202]\nb: 1\n",
        "a: >-\n  # ctxc: ignore[CTX201]\nb: 1\n",
        'a: "x # ctxc: ignore[CTX201]"\n',
        "a: 'x\n  # ctxc: ignore[CTX201]'\n",
        "a: x#ctxc: ignore[CTX201]\n",
        "a: 1 # a comment about ctxc: ignore[CTX201]\n",
        "a: 1 # ctxc\n",
    ],
)
def test_text_holds_no_suppression(text: str) -> None:
    assert pragmas(text) == ()


def test_comments_around_block_scalars_are_comments() -> None:
    text = "a: |  # ctxc: ignore[A]\n  text\n# ctxc: ignore[B]\nb: 'x#y' # ctxc: ignore[C]\nc: [1, # ctxc: ignore[D]\n  2]\n"
    assert [(p.codes[0], p.line) for p in pragmas(text)] == [("A", 1), ("B", 4), ("C", 4), ("D", 5)]


@pytest.mark.parametrize(
    ("comment", "fault"),
    [
        ("# ctxc: ignore", "names no code"),
        ("# ctxc: ignore[]", "names no code"),
        ("# ctxc: ignores[CTX201]", "expected `ignore[CODE]`"),
        ("# ctxc: off", "expected `ignore[CODE]`"),
        ("# ctxc: ignore[CTX201] because I say so", "cannot be read from 'because I say so'"),
        ("# ctxc: ignore CTX201", "names no code"),
    ],
)
def test_what_cannot_be_honoured_says_why(comment: str, fault: str) -> None:
    (found,) = pragmas(f"a: 1 {comment}\n")
    assert fault in found.fault


def test_codes_are_whole_tokens() -> None:
    (found,) = pragmas("a: 1 # ctxc: ignore[CTX2, CTX20 1,CTX201 ]\n")
    assert found.codes == ("CTX2", "CTX20 1", "CTX201")


def test_front_matter_key() -> None:
    found = ignored(["CTX304", {"rule": "CTX305", "until": "2027-01-01", "reason": "quoted in court"}])
    assert [(p.scope, p.codes, p.until, p.reason) for p in found] == [
        ("file", ("CTX304",), "", ""), ("file", ("CTX305",), "2027-01-01", "quoted in court")
    ]  # fmt: skip


def test_a_file_that_cannot_be_scanned_keeps_what_comes_before_the_error() -> None:
    assert [p.codes for p in pragmas("a: 1 # ctxc: ignore[A]\nb: [\n")] == [("A",)]
