"""Where a line of a compiled text stands in its source.

A section says from which file, or which value of a file, its text came. The text of a file is followed past front
matter and variables; the text of a value is looked for, line by line, in the lines that the value takes up.
"""

from __future__ import annotations

from collections.abc import Sequence

from ctxc.base.errors import CtxcError
from ctxc.base.spans import Origin
from ctxc.base.values import dataclass
from ctxc.compare.sequences import blocks
from ctxc.model.project import Sources


@dataclass(frozen=True, slots=True, kw_only=True)
class LineMap:
    """Lines of a text (from 0) to lines of a file (from 1). ``path`` is empty where there is no file."""

    path: str = ""
    lines: Sequence[int] = ()
    first: int | None = None

    def at(self, line: int) -> int | None:
        """The source line of a line of the text; None where that is not known."""
        if self.lines:
            return self.lines[min(max(line, 0), len(self.lines) - 1)]
        return self.first


def line_map(sources: Sources | None, origin: Origin, text: str) -> LineMap:
    """The map of a section's text; without sources, only its path."""
    if sources is None or not origin.path:
        return LineMap(path=origin.path)
    try:
        if not origin.pointer:
            return LineMap(path=origin.path, lines=_of_file(sources, origin.path, text))
        span = sources.locate(origin).span
        if span is None:
            return LineMap(path=origin.path)
        source = sources.read_text(origin.path).split("\n")[span.line - 1 : span.end_line]
        return LineMap(path=origin.path, lines=_of_value(source, text, span.line), first=span.line)
    except CtxcError:
        return LineMap(path=origin.path)


def _of_file(sources: Sources, path: str, text: str) -> list[int]:
    body = sources.body(path)
    whole = sources.read_text(path)
    first = whole.count("\n", 0, len(whole) - len(body)) + 1
    compiled, written = text.split("\n"), body.rstrip("\n").split("\n")
    if len(compiled) == len(written):
        return list(range(first, first + len(compiled)))
    # A variable brought line ends along, or the text was cut: follow what is equal.
    found: list[int] = []
    for block in blocks(written, compiled):
        for offset in range(block.j2 - block.j1):
            found.append(first + min(block.i1 + offset, max(block.i2 - 1, block.i1)))
    return [min(line, first + len(written) - 1) for line in found]


def _of_value(source: Sequence[str], text: str, first: int) -> list[int]:
    found: list[int] = []
    place = 0
    for line in text.split("\n"):
        wanted = line.strip()
        if wanted:
            hit = next((n for n in range(place, len(source)) if wanted in source[n]), None)
            if hit is not None:
                place = hit
        found.append(first + place)
        if place < len(source) - 1 and source[place].strip() == wanted:
            place += 1
    return found
