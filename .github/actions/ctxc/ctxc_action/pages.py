"""Markdown that fits where it goes. ctxc has made inert what others wrote in its reports; here only lines are cut."""

from __future__ import annotations

import re
from collections.abc import Callable

COMMENT_LIMIT = 65_536
"""Characters of a comment that GitHub accepts; counted as UTF-16 units, which are never fewer."""

SUMMARY_LIMIT = 1_048_576
"""Bytes of a step's summary that GitHub accepts."""

_ROOM = 400


def units(text: str) -> int:
    """UTF-16 code units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def octets(text: str) -> int:
    """Bytes in UTF-8."""
    return len(text.encode("utf-8", "surrogatepass"))


def fit_comment(text: str) -> str:
    """A text that a comment can hold."""
    return _fit(text, COMMENT_LIMIT, units, "characters")


def fit_summary(text: str) -> str:
    """A text that the summary of a step can hold."""
    return _fit(text, SUMMARY_LIMIT, octets, "bytes")


def _fit(text: str, limit: int, size: Callable[[str], int], noun: str) -> str:
    if size(text) <= limit:
        return text
    lines = text.splitlines(keepends=True)
    kept: list[str] = []
    room = limit - _ROOM
    for line in lines:
        room -= size(line)
        if room < 0:
            break
        kept.append(line)
    shown = "".join(kept)
    left = len(lines) - len(kept)
    # A fence or a fold that was cut open would swallow the note.
    fence = _open_fence(kept)
    closing = f"{fence}\n" if fence else ""
    if not fence and shown.count("<details>") > shown.count("</details>"):
        closing = "\n</details>\n"
    return f"{shown}{closing}\n{left:,} more lines left out: the limit is {limit:,} {noun}.\n"


def _open_fence(lines: list[str]) -> str:
    fence = ""
    for line in lines:
        marks = re.match(r"`{3,}", line)
        if marks and not fence:
            fence = marks[0]
        elif fence and line.strip() == fence:
            fence = ""
    return fence


def not_judged(status: int | None, said: str) -> str:
    """A page for a gate that ended without a report. ``said`` is what it wrote on stderr, shown inside a fence."""
    why = {
        None: "it did not run",
        2: "nothing could be judged (status 2)",
    }.get(status, f"ended by a fault (status {status})")
    page = f"### ❌ ctxc gate: {why}\n"
    said = said.strip("\n")
    if not said:
        return page + "\nThe log of the job says more.\n"
    longest = max((len(run) for run in re.findall("`+", said)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{page}\n{fence}text\n{said}\n{fence}\n"
