"""Suppressions in YAML comments, as data: what they name, where they stand. Rules judge them; nothing is decided here.

``# ctxc: ignore[CTX201] until=2027-03-31 reason: legacy`` on a line of its own speaks of the next line, after a value
of its own line. ``# ctxc: ignore-file[CTX201]`` speaks of the file and stands before its first value. A ``#`` inside a
quoted or block scalar is text: comments are found between the values that the parser saw, not by searching lines.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ctxc.base.spans import Span

_PRAGMA = re.compile(r"#\s*ctxc:(?P<rest>.*)")
_FORM = re.compile(r"\s*(?P<word>ignore-file|ignore)(?![\w-])\s*(?:\[(?P<codes>[^\]]*)\])?(?P<rest>.*)\Z")
_UNTIL = re.compile(r"(?:^|\s)until=(?P<until>\S*)")
_REASON = re.compile(r"(?:^|\s)reason:\s*(?P<reason>.*\S)?\s*\Z")


class Pragma(NamedTuple):
    """One suppression comment. ``fault`` says why it cannot be honoured, if it cannot."""

    scope: str  # "line" | "file"
    codes: tuple[str, ...]
    line: int  # the line that it speaks of; 0 for the file
    span: Span  # of the comment
    until: str = ""
    reason: str = ""
    fault: str = ""


def pragmas(text: str) -> tuple[Pragma, ...]:
    """Suppression comments of a YAML text with LF line ends, in order; of a text that cannot be scanned, none."""
    if "ctxc:" not in text:
        return ()
    lines = text.split("\n")
    first, comments = _comments(text, lines)
    return tuple(p for line, column in comments if (p := _read(lines, line, column, first)) is not None)


def ignored(value: object) -> tuple[Pragma, ...]:
    """Suppressions in the front matter key ``ctxc_ignore``; each speaks of the file."""
    found = []
    for entry in value if isinstance(value, list) else ():
        if isinstance(entry, str):
            found.append(Pragma("file", (entry,), 0, Span(1, 1, 1, 1)))
        elif isinstance(entry, dict):
            found.append(
                Pragma(
                    "file", (str(entry.get("rule", "")),), 0, Span(1, 1, 1, 1),
                    str(entry.get("until", "")), str(entry.get("reason", "")),
                )
            )  # fmt: skip
    return tuple(found)


def _read(lines: list[str], line: int, column: int, first: int) -> Pragma | None:
    comment = lines[line][column:]
    match = _PRAGMA.match(comment)
    if not match:
        return None
    span = Span(line + 1, column + 1, line + 1, column + 1 + len(comment.rstrip()))
    form = _FORM.match(match["rest"])
    if not form:
        return Pragma("line", (), line + 1, span, fault="expected `ignore[CODE]` or `ignore-file[CODE]`")
    codes = tuple(c.strip() for c in (form["codes"] or "").split(",") if c.strip())
    reason = _REASON.search(form["rest"])
    head = form["rest"][: reason.start()] if reason else form["rest"]
    until = _UNTIL.search(head)
    rest = _UNTIL.sub("", head).strip()
    fault = ""
    if not codes:
        fault = "names no code; write `ignore[CTX201]`"
    elif form["word"] == "ignore-file" and line >= first:
        fault = "`ignore-file` stands before the first value of a file"
    elif rest:
        fault = f"cannot be read from {rest[:40]!r} on; expected `until=YYYY-MM-DD reason: TEXT`"
    scope = "file" if form["word"] == "ignore-file" else "line"
    alone = not lines[line][:column].strip()
    about = 0 if scope == "file" else _next_value(lines, line) if alone else line + 1
    return Pragma(
        scope, codes, about, span, until["until"] if until else "", (reason["reason"] or "") if reason else "", fault
    )


def _next_value(lines: list[str], line: int) -> int:
    """The line after a comment that stands alone; further comments and blank lines are passed over."""
    for number in range(line + 1, len(lines)):
        bare = lines[number].strip()
        if bare and not bare.startswith("#"):
            return number + 1
    return line + 2


def _comments(text: str, lines: list[str]) -> tuple[int, list[tuple[int, int]]]:
    """The line of the first value, and line and column (from 0) of every comment that holds ``ctxc:``."""
    from ctxc.parse.yaml_events import scalar_ranges

    first, taken = scalar_ranges(text)
    found = []
    for number, content in enumerate(lines):
        if "ctxc:" not in content:
            continue
        at = content.find("#")
        while at >= 0:
            free = at == 0 or content[at - 1] in " \t"
            if free and not any(start <= (number, at) < end for start, end in taken):
                found.append((number, at))
                break
            at = content.find("#", at + 1)
    return first, found
