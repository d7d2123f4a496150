"""Front matter: where it ends, and what is no front matter."""

from __future__ import annotations

import pytest

from ctxc.base.spans import Span
from ctxc.parse import document
from ctxc.parse.document import parse
from ctxc.parse.frontmatter import split
from ctxc.parse.scalars import typed


def test_no_front_matter() -> None:
    assert split("# Title\n\n---\n\ntext\n---\n")[:3] == (None, "# Title\n\n---\n\ntext\n---\n", 1)


def test_front_matter_ends_at_the_first_closing_line() -> None:
    found = split("---\na: 1\n---\nbody\n---\nmore: x\n---\n")
    assert found[:3] == ("a: 1\n", "body\n---\nmore: x\n---\n", 4)


@pytest.mark.parametrize("closing", ["---", "---  ", "..."])
def test_closing_lines(closing: str) -> None:
    assert split(f"---\na: 1\n{closing}\nbody")[:3] == ("a: 1\n", "body", 4)


@pytest.mark.parametrize("text", ["---\na: 1\n----\nbody\n", "---\na: 1\n", "---", "---\n", "---\n a: |\n  ---\n"])
def test_what_opens_and_never_closes_is_an_error(text: str) -> None:
    found = split(text)
    assert found.problem is not None
    assert (found.problem.name, found.problem.span) == ("front-matter", Span(1, 1, 1, 4))
    assert found.body == ""


@pytest.mark.parametrize("text", ["----\na\n----\n", " ---\na: 1\n---\n", "\n---\na: 1\n---\n", "--- a\nb\n---\n"])
def test_lines_that_open_nothing(text: str) -> None:
    assert split(text)[:2] == (None, text)


@pytest.mark.parametrize(
    "data", [b"---\na: 1\n---\nbody\n", b"---\r\na: 1\r\n---\r\nbody\r\n", b"---\ra: 1\r---\rbody\r"]
)
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_the_same_with_every_line_end_and_with_a_byte_order_mark(data: bytes, mark: bytes) -> None:
    found = parse("x.md", mark + data)
    assert typed(found.value) == {"a": 1}
    assert (found.body, found.body_line) == ("body\n", 4)
    assert [p.name for p in found.problems] == (["byte-order-mark"] if mark else [])
    assert document.places("x.md", mark + data)["/a"] == (Span(2, 4, 2, 5), Span(2, 1, 2, 2))


@pytest.mark.parametrize(("matter", "what"), [("- a\n", "a list"), ("just text\n", "text"), ("12\n", "text")])
def test_front_matter_that_is_no_mapping_is_an_error(matter: str, what: str) -> None:
    found = parse("x.md", f"---\n{matter}---\nbody\n".encode())
    assert [(p.name, p.message) for p in found.problems] == [
        ("front-matter", f"front matter is {what}; expected keys and values")
    ]


def test_empty_front_matter_is_an_empty_mapping() -> None:
    found = parse("x.md", b"---\n---\nbody\n")
    assert (found.value, found.has_value, found.body, found.problems) == ({}, True, "body\n", ())
    assert not parse("x.md", b"body\n").has_value


def test_problems_of_front_matter_stand_on_the_lines_of_the_file() -> None:
    found = parse("x.md", b"---\na: 1\na: 2\nb: [\n---\nbody\n")
    assert [(p.name, p.span and p.span.line) for p in found.problems] == [("duplicate-key", 3), ("syntax", 5)]
    assert found.problems[0].related[0][0].line == 2
