"""Markdown with front matter: where the metadata ends and the text that a model sees begins.

Front matter opens with ``---`` as the whole first line (after a byte order mark, if any) and closes with the next line
that is ``---`` or ``...`` alone. What opens and does not close, or is no mapping, is an error: treating it as text
would drop the file's own rules. Any ``---`` further down belongs to the text.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ctxc.base.spans import Span
from ctxc.parse.problems import Problem

_OPEN = re.compile(r"---[ \t]*\n|---[ \t]*\Z")
_CLOSE = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.M)


class Split(NamedTuple):
    """A Markdown text in its two parts. ``matter`` is None where there is no front matter; it begins on line 2."""

    matter: str | None
    body: str
    body_line: int
    problem: Problem | None = None


def split(text: str) -> Split:
    """Front matter and body of a text with LF line ends and no byte order mark."""
    opened = _OPEN.match(text)
    if not opened:
        return Split(None, text, 1)
    closed = _CLOSE.search(text, opened.end())
    if not closed or opened.end() == len(text):
        problem = Problem(
            "front-matter",
            "front matter opens with `---` on the first line and never closes",
            "close it with a line `---`; where a horizontal rule is meant, write `***` or begin with a blank line",
            Span(1, 1, 1, 4),
        )
        return Split(None, "", text.count("\n") + 1, problem)
    matter = text[opened.end() : closed.start()]
    start = min(closed.end() + 1, len(text))
    return Split(matter, text[start:], text.count("\n", 0, start) + 1)


def not_a_mapping(found: str) -> Problem:
    """The problem of front matter that holds something else than keys."""
    return Problem(
        "front-matter",
        f"front matter is {found}; expected keys and values",
        "write `key: value` lines; where a horizontal rule is meant, write `***` or begin with a blank line",
        Span(1, 1, 1, 4),
    )
