"""Lines of a report folded at the width of a terminal, between words, under where their text began.

Only for a terminal: off it nothing is wrapped. A word that is longer than a line (a path, a pattern) stays whole, so
that it can be copied; the terminal itself breaks it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ctxc.report._encode import cells

_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_LEAD = re.compile(r"[ ]*(?:[│├└][ │├└─]*)?(?:\d+ \| |[-*] |= )?(?:(?:help|note|error|warning|fix \([^)]*\)): )?")
_HANGING = str.maketrans({"├": "│", "└": " ", "─": " "})
_MOST = 3  # a lead that takes more than one part in so many is not kept


def wrap(text: str, width: int, code: str = "") -> str:
    """The text with its long lines folded. Styles go on across a fold, as a terminal has it.

    With ``code`` the text is prose around code: lines that begin with it are left as they are, and nothing hangs.
    """
    if all(len(line) <= width for line in text.split("\n")) and text.isascii():
        return text
    return "\n".join(
        piece
        for line in text.split("\n")
        for piece in ([line] if code and line.startswith(code) else _folded(line, width, "" if code else None))
    )


def hang(prefix: str, text: str, width: int | None) -> str:
    """A prefix and a text that goes on under itself where the line is too long; without a width in one line."""
    if width is None:
        return prefix + text
    lead = " " * cells(_STYLE.sub("", prefix))
    return "\n".join(_folded(prefix + text, width, lead if len(lead) * _MOST <= width * 2 else "  "))


def _folded(line: str, width: int, lead: str | None = None) -> Iterator[str]:
    plain = _STYLE.sub("", line)
    if cells(plain) <= width:
        yield line
        return
    if lead is None:
        lead = _lead(plain, width)
    room, begins = width, True
    found = _LEAD.match(plain)
    start = len(found[0]) if found else 0
    while True:
        cut = _cut(line, room, start if begins else 0)
        if not cut:
            yield (lead if not begins else "") + line
            return
        head, line = line[:cut].rstrip(" "), line[cut:].lstrip(" ")
        yield (lead if not begins else "") + head
        room, begins = width - cells(lead), False


def _lead(plain: str, width: int) -> str:
    """What stands before the text of the lines that follow."""
    found = _LEAD.match(plain)
    lead = found[0] if found else ""
    branches = "".join(c if c in "│├└─" else " " for c in lead).translate(_HANGING)
    if branches.strip() or len(lead) > len(lead.lstrip(" ")):
        hanging = branches if len(lead.lstrip(" ")) > 0 else branches + "  "
    else:
        hanging = branches or "  "
    return hanging if cells(hanging) * _MOST <= width else hanging[: width // _MOST]


def _cut(line: str, room: int, start: int) -> int:
    """Where to break the line: the last place between words, from the column ``start`` on, at which what is before it
    fits; 0 where there is none."""
    used, at, best, apart = 0, 0, 0, 0
    wide_before = False
    while at < len(line):
        style = _STYLE.match(line, at)
        if style:
            at = style.end()
            continue
        character = line[at]
        size = cells(character)
        if used >= start and at:
            if character == " " and line[at - 1] != " ":
                best = at
                if line.startswith("  ", at) and used * 2 > room:
                    apart = at
            elif size == 2 and wide_before:
                best = at
        if used + size > room:
            return apart or best
        used += size
        wide_before = size == 2
        at += 1
    return 0
