"""Patterns of paths: ``*`` any text, also over folders; ``?`` one character; ``[ab]`` one of them; ``{ts,tsx}`` either.

``**/`` is any folders or none. Whatever the pattern, a match takes time in proportion to its length times the path's:
all places where the pattern may stand are followed at once, so nothing is ever tried twice.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import lru_cache
from typing import NamedTuple

MAX_DEPTH = 16  # braces inside braces; deeper ones are text


class _Step(NamedTuple):
    """One state: what it reads (``""``: nothing), and the states after it. ``loop``: it may also read any character."""

    reads: str
    after: tuple[int, ...]
    loop: bool = False


@lru_cache(maxsize=65_536)
def matches_glob(path: str, pattern: str) -> bool:
    """Whether a POSIX path as a whole matches a pattern; letters count as they are."""
    if "**/" not in pattern and "{" not in pattern:
        return fnmatchcase(path, pattern)
    steps, start = _compiled(pattern)
    here = _reach(steps, {start})
    for character in path:
        here = _reach(
            steps,
            {n for n in here if steps[n].loop}
            | {t for n in here if steps[n].reads and _fits(character, steps[n].reads) for t in steps[n].after},
        )
        if not here:
            return False
    return 0 in here


def _fits(character: str, reads: str) -> bool:
    if reads == "?":
        return True
    return fnmatchcase(character, reads) if len(reads) > 1 else character == reads


def _reach(steps: list[_Step], found: set[int]) -> set[int]:
    """The states and all that follow without reading."""
    pending = list(found)
    while pending:
        step = steps[pending.pop()]
        if not step.reads:
            new = [t for t in step.after if t not in found]
            found.update(new)
            pending += new
    return found


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> tuple[list[_Step], int]:
    """States and the first of them; state 0 is the end."""
    steps = [_Step("", ())]
    return steps, _Parser(pattern, steps).build(0, len(pattern), 0, 0)


class _Parser:
    def __init__(self, pattern: str, steps: list[_Step]) -> None:
        self.pattern = pattern
        self.steps = steps

    def add(self, reads: str, *after: int, loop: bool = False) -> int:
        self.steps.append(_Step(reads, after, loop))
        return len(self.steps) - 1

    def build(self, start: int, end: int, after: int, depth: int) -> int:
        """The state from which the pattern between two places leads to the state ``after``."""
        for kind, first, last in reversed(self.pieces(start, end, depth)):
            if kind == "folders":
                # Any text up to a slash, or nothing.
                after = self.add("", after, self.add("", self.add("/", after), loop=True))
            elif kind == "text":
                after = self.add("", after, loop=True)
            elif kind == "either":
                after = self.add("", *(self.build(a, b, after, depth + 1) for a, b in self.branches(first, last)))
            else:
                after = self.add(self.pattern[first:last], after)
        return after

    def pieces(self, start: int, end: int, depth: int) -> list[tuple[str, int, int]]:
        found: list[tuple[str, int, int]] = []
        at = start
        while at < end:
            character = self.pattern[at]
            stop = at + 1
            kind = "one"
            if self.pattern.startswith("**/", at) and at + 3 <= end and (at == start or self.pattern[at - 1] in "/{,"):
                kind, stop = "folders", at + 3
            elif character == "*":
                kind = "text"
            elif character == "[":
                closing = self.pattern.find("]", at + (3 if self.pattern[at + 1 : at + 2] == "!" else 2), end)
                stop = closing + 1 if closing > 0 else stop
            elif character == "{" and depth < MAX_DEPTH:
                closing = self.closing(at, end)
                if closing and len(self.branches(at + 1, closing)) > 1:
                    found.append(("either", at + 1, closing))
                    at = closing + 1
                    continue
            found.append((kind, at, stop))
            at = stop
        return found

    def closing(self, opening: int, end: int) -> int:
        """The place of the brace that closes one; 0 where none does."""
        depth = 0
        for at in range(opening, end):
            depth += {"{": 1, "}": -1}.get(self.pattern[at], 0)
            if depth == 0:
                return at
        return 0

    def branches(self, start: int, end: int) -> list[tuple[int, int]]:
        """What the commas of a pair of braces part."""
        found: list[tuple[int, int]] = []
        depth, first = 0, start
        for at in range(start, end):
            depth += {"{": 1, "}": -1}.get(self.pattern[at], 0)
            if depth == 0 and self.pattern[at] == ",":
                found.append((first, at))
                first = at + 1
        return [*found, (first, end)]
