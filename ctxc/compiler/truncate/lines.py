r"""lines: whole lines stay, from both ends; lines in the middle leave. For tables, listings, code, logs.

A line ends with LF, CRLF or CR. A line that does not fit whole is never shown in part.
"""

from __future__ import annotations

from collections.abc import Sequence

from ctxc.compiler.truncate._ends import keep_ends
from ctxc.compiler.truncate._result import Cut
from ctxc.model.counting import Tokenizer


def cut(text: str, limit: int, tokenizer: Tokenizer, keep: Sequence[str] = ()) -> Cut:
    """Keep whole lines of both ends, at most ``limit`` tokens with the mark. ``keep`` plays no part.

    Where one end has no line that fits into its half, the other end gets what is left.
    """
    del keep

    def choose(budget: int) -> tuple[int, int]:
        half = budget - budget // 2
        end = _line_start_before(text, tokenizer.prefix(text, half))
        start = _line_start_after(text, len(text) - tokenizer.suffix(text, budget - tokenizer.count(text[:end])))
        left = budget - tokenizer.count(text[start:])
        if left > half:
            end = _line_start_before(text, tokenizer.prefix(text, left))
        return end, start

    return keep_ends(text, limit, "lines", tokenizer, choose)


def _starts_line(text: str, at: int) -> bool:
    if at in (0, len(text)):
        return True
    return text[at - 1] == "\n" or (text[at - 1] == "\r" and text[at] != "\n")


def _line_start_before(text: str, at: int) -> int:
    """The last start of a line at or before a position."""
    while not _starts_line(text, at):
        # One further back than the last line end, because a CR may be half of a CRLF.
        at = max(text.rfind("\n", 0, at - 1), text.rfind("\r", 0, at - 1)) + 1
    return at


def _line_start_after(text: str, at: int) -> int:
    """The first start of a line at or after a position."""
    while not _starts_line(text, at):
        found = [place for mark in "\n\r" if (place := text.find(mark, at)) >= 0]
        at = min(found) + 1 if found else len(text)
    return at
