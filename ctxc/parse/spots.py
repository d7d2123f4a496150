"""Where a part of a text stands in the file that holds the text: as a body, as a value in a YAML or JSON file.

A place inside a value is exact where the file writes the value as it is (plain or quoted on one line, or a block
scalar), else it is the place of the whole value.
"""

from __future__ import annotations

import re

from ctxc.base.spans import Span

_LONGEST_QUOTED = 1 << 16  # code points of a scalar whose escapes are walked one by one
_ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8}|\\x[0-9a-fA-F]{2}"
    r"|\\.|[^\\]",
    re.DOTALL,
)


def span_of(text: str, start: int, end: int) -> Span:
    """The span of two offsets in a text with LF line ends."""
    line = text.count("\n", 0, start)
    column = start - (text.rfind("\n", 0, start) + 1)
    end_line = line + text.count("\n", start, end)
    end_column = end - (text.rfind("\n", 0, end) + 1)
    return Span(line + 1, column + 1, end_line + 1, end_column + 1)


def slice_of(text: str, span: Span) -> str:
    """The part of a text that a span covers; of a span over several lines, what stands on the first."""
    lines = text.split("\n")
    if not 1 <= span.line <= len(lines):
        return ""
    line = lines[span.line - 1]
    return line[span.column - 1 : span.end_column - 1 if span.end_line == span.line else len(line)]


def place_in_value(text: str, span: Span | None, value: str, start: int, end: int) -> Span | None:
    """The span of a part of a scalar whose own span is given; the scalar's where the file writes it differently."""
    if span is None:
        return None
    lines = text.split("\n")
    if not 1 <= span.line <= len(lines):
        return span
    if span.line == span.end_line:
        raw = lines[span.line - 1][span.column - 1 : span.end_column - 1]
        lead = 1 if raw[:1] in ("'", '"') else 0
        if raw[lead : lead + len(value)] == value:
            column = span.column + lead
            return Span(span.line, column + start, span.line, column + end)
        places = _unescaped(raw, value)
        if places:
            return Span(span.line, span.column + places[start], span.line, span.column + places[end])
        return span
    return _in_block(lines, span, value, start, end) or span


def _unescaped(raw: str, value: str) -> list[int]:
    """Offsets in a double-quoted scalar at which each character of its value stands, and its end; none if unsure."""
    if raw[:1] != '"' or len(raw) > _LONGEST_QUOTED:
        return []
    places: list[int] = []
    at, number = 1, 0
    while number < len(value):
        match = _ESCAPE.match(raw, at)
        if match is None or (match[0][0] != "\\" and match[0] != value[number]):
            return []
        places.append(at)
        at = match.end()
        number += 1
    return [*places, at] if raw[at : at + 1] == '"' else []


def _in_block(lines: list[str], span: Span, value: str, start: int, end: int) -> Span | None:
    """The place in a literal block scalar, whose lines stand below its head with one indentation."""
    head = lines[span.line - 1][span.column - 1 :]
    if head[:1] != "|":
        return None
    rows = value.split("\n")
    indent = next((len(t) - len(t.lstrip(" ")) for t in lines[span.line :] if t.strip()), 0)
    explicit = next((int(c) for c in head[1:3] if c.isdigit()), 0)
    if explicit:
        return None
    at = span_of(value, start, end)
    first = span.line + at.line
    if first > len(lines) or lines[first - 1][indent:] != rows[at.line - 1]:
        return None
    return Span(first, indent + at.column, span.line + at.end_line, indent + at.end_column)
