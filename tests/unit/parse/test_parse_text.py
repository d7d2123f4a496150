"""Bytes to text: encodings, line ends, and where each fault stands."""

from __future__ import annotations

import pytest

from ctxc.base.spans import Span
from ctxc.parse.text import decode, normalised, place


def names(data: bytes) -> list[tuple[str, Span | None]]:
    return [(p.name, p.span) for p in decode(data).problems]


def test_plain_text_has_no_problem() -> None:
    assert decode("a: ü\nb\n".encode()) == ("a: ü\nb\n", ())


def test_byte_order_mark_is_reported_and_not_part_of_the_text() -> None:
    decoded = decode(b"\xef\xbb\xbfa: 1\n")
    assert decoded.text == "a: 1\n"
    assert [(p.name, p.severity.label, p.span) for p in decoded.problems] == [
        ("byte-order-mark", "warning", Span(1, 1, 1, 1))
    ]


def test_a_binary_file_is_not_taken_for_utf16() -> None:
    problem = decode(b"\x7fELF\x02\x01\x01" + b"\0" * 9 + b"\x03\0>\0\x01\0\0\0\xc0a\0").problems[0]
    assert (problem.name, problem.message) == (
        "wrong-encoding",
        "the file is binary (a NUL byte at offset 7); expected UTF-8",
    )


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf16_is_refused_with_its_remedy(codec: str) -> None:
    decoded = decode("template_id: x\nversion: 1\n".encode(codec))
    assert decoded.text is None
    assert [p.name for p in decoded.problems] == ["wrong-encoding"]
    assert "UTF-16" in decoded.problems[0].message
    assert "iconv -f UTF-16" in decoded.problems[0].help


@pytest.mark.parametrize(
    ("data", "span"),
    [
        (b"\xff", Span(1, 1, 1, 2)),
        (b"ab\xe9cd", Span(1, 3, 1, 4)),
        ("äö\n".encode() + b"x\xe9", Span(2, 2, 2, 3)),
        ("ä\r\nö\r".encode() + b"\xc3", Span(3, 1, 3, 2)),
        (b"\xef\xbb\xbfx\xff", Span(1, 2, 1, 3)),
    ],
)
def test_invalid_utf8_is_reported_at_the_bad_byte(data: bytes, span: Span) -> None:
    decoded = decode(data)
    assert decoded.text is None
    assert (decoded.problems[-1].name, decoded.problems[-1].span) == ("wrong-encoding", span)


def test_invalid_utf8_names_byte_and_offset() -> None:
    problem = decode(b"ab\xe9cd").problems[0]
    assert problem.message == "byte 0xe9 at offset 2 is not UTF-8"
    assert problem.data == {"offset": 2, "byte": 0xE9}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_one_kind_of_line_end_is_fine_and_becomes_lf(end: str) -> None:
    assert decode(f"a{end}b{end}".encode()) == ("a\nb\n", ())


@pytest.mark.parametrize(
    ("data", "span"),
    [
        (b"a\nbc\r\nd\n", Span(2, 3, 2, 3)),
        (b"a\r\nb\n", Span(2, 2, 2, 2)),
        (b"abc\rd\n", Span(2, 2, 2, 2)),
        (b"\n\r\n", Span(2, 1, 2, 1)),
    ],
)
def test_mixed_line_ends_are_reported_where_the_second_kind_begins(data: bytes, span: Span) -> None:
    problems = decode(data).problems
    assert [(p.name, p.severity.label, p.span) for p in problems] == [("mixed-line-ends", "warning", span)]


def test_mixed_line_ends_count_each_kind() -> None:
    assert decode(b"a\nb\r\nc\r\nd\r").problems[0].data == {"LF": 1, "CRLF": 2, "CR": 1}


def test_normalised_bytes_do_not_depend_on_the_checkout() -> None:
    assert {normalised(b) for b in (b"a\nb\n", b"a\r\nb\r\n", b"a\rb\r", b"\xef\xbb\xbfa\r\nb\n")} == {b"a\nb\n"}


def test_lfs_pointer_is_an_error_with_its_remedy() -> None:
    decoded = decode(b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n")
    assert decoded.text is None
    assert decoded.problems[0].name == "lfs-pointer"
    assert "git lfs pull" in decoded.problems[0].help


def test_conflict_markers_need_both_ends() -> None:
    assert names(b"# Rules\n=======\n<<<<<<< HEAD\n") == []
    assert names(b"a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> topic\n") == [
        ("conflict-marker", Span(2, 1, 2, 13)),
        ("conflict-marker", Span(4, 1, 4, 8)),
        ("conflict-marker", Span(6, 1, 6, 14)),
    ]


def test_places_count_code_points() -> None:
    assert place([0, 4], 6) == (2, 3)
