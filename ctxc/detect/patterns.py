"""Regular expressions on google-re2: linear time on any text, quiet on stderr, bounded in memory.

Patterns that users write (policies, extra secret rules) are compiled by :func:`compile_pattern`, which says what is
wrong in words. Detectors keep their own patterns in a :class:`Pattern` that compiles at first use. Matching works on a
:class:`Haystack`, which encodes a text once and converts byte offsets to code points only where something matched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from ctxc.base.errors import ConfigError

if TYPE_CHECKING:
    from ctxc.base.spans import Location

MAX_PATTERN_CHARS = 4096
"""Longest pattern accepted from a user, in code points; the longest of the gitleaks rules has about 1,500."""

MAX_MEMORY_BYTES = 16 << 20
"""Bound for the automata of one pattern or set (RE2's ``max_mem``; its own default is 8 MiB)."""

_SPACE = re.compile(r"[ \t\r\n]")
_UNSUPPORTED = (
    (r"(?=", "lookahead"),
    (r"(?!", "negative lookahead"),
    (r"(?<=", "lookbehind"),
    (r"(?<!", "negative lookbehind"),
    (r"(?>", "an atomic group"),
    (r"(?(", "a conditional"),
)


class PatternError(ConfigError):
    """A pattern that cannot be used; the message says why, the help how to mend it."""


@lru_cache(maxsize=1)
def _options() -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = MAX_MEMORY_BYTES
    return options


class Haystack:
    """A text and its UTF-8 bytes. Lone surrogates are searched as U+FFFD, so that every offset stays."""

    __slots__ = ("_cursor", "ascii", "data", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.ascii = text.isascii()
        try:
            self.data = text.encode("utf-8")
        except UnicodeEncodeError:
            self.data = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode("utf-8")
            if len(self.data.decode("utf-8")) != len(text):  # adjacent surrogates that form a pair must stay two
                self.data = "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text).encode("utf-8")
        self._cursor = (0, 0)

    def offset(self, byte: int) -> int:
        """The code-point offset of a byte offset. Cheapest when asked in rising order."""
        if self.ascii:
            return byte
        last_byte, last_char = self._cursor
        if byte < last_byte:
            last_byte = last_char = 0
        char = last_char + len(self.data[last_byte:byte].decode("utf-8", "replace"))
        self._cursor = (byte, char)
        return char


@lru_cache(maxsize=2)
def haystack(text: str) -> Haystack:
    """The haystack of a text; several detectors in a row search the same one."""
    return Haystack(text)


def windows(text: str, size: int, overlap: int) -> Iterator[tuple[int, int]]:
    """Stretches of a long text that begin and end after white space, each sharing ``overlap`` with the one before.

    A prefilter says more about a stretch of some kilobytes than about a whole file. Text without white space is not
    cut: the sizes are what is aimed at, in code points.
    """
    low = 0
    while len(text) - low > size + overlap:
        cut = _SPACE.search(text, low + size)
        if cut is None:
            break
        tail = _SPACE.search(text, cut.end() + overlap)
        yield low, tail.end() if tail else len(text)
        low = cut.end()
    yield low, len(text)


class Pattern:
    """A pattern of this package, compiled when it is first used."""

    __slots__ = ("__dict__", "source")

    def __init__(self, source: str) -> None:
        self.source = source

    @cached_property
    def _compiled(self) -> Any:
        import re2

        return re2.compile(self.source.encode("utf-8"), _options())

    def groups(self) -> int:
        """Number of capturing groups; raises :class:`PatternError` when RE2 does not take the pattern."""
        import re2

        try:
            return int(self._compiled.groups)
        except re2.error as problem:
            text = _reason(problem.args[0])
            raise PatternError(f"the pattern is not valid RE2: {text}", help=_advice(self.source, text)) from None

    def found(self, data: bytes) -> bool:
        """True if the pattern matches anywhere in the bytes."""
        return self._compiled.search(data) is not None

    def spans(self, data: bytes, group: int = 0, *, start: int = 0) -> Iterator[tuple[int, int, int, int]]:
        """Byte offsets of each match and of one group: start, end, group start, group end.

        The search goes on at the end of the group, not of the match, so that the separator between two neighbouring
        values may serve both.
        """
        if not group and not start:
            for match in self._compiled.finditer(data):
                low, high = match.span()
                yield low, high, low, high
            return
        search = self._compiled.search
        position = start
        while position <= len(data):
            match = search(data, position)
            if match is None:
                return
            low, high = match.span()
            inner_low, inner_high = match.span(group) if group else (low, high)
            if inner_low < 0:
                inner_low, inner_high = low, high
            yield low, high, inner_low, inner_high
            position = inner_high if inner_high > position else position + 1

    def in_text(self, hay: Haystack, group: int = 0) -> Iterator[tuple[int, int]]:
        """Code-point offsets of one group of each match."""
        for _, _, low, high in self.spans(hay.data, group):
            yield hay.offset(low), hay.offset(high)


class PatternSet:
    """Which of many patterns occur in a text at all, in one pass."""

    __slots__ = ("__dict__", "sources")

    def __init__(self, sources: Sequence[str]) -> None:
        self.sources = tuple(sources)

    @cached_property
    def _compiled(self) -> Any:
        import re2

        found = re2.Set.SearchSet(_options())
        for source in self.sources:
            found.Add(source)
        found.Compile()
        return found

    @property
    def fits(self) -> bool:
        """Whether so many patterns can be looked for at once within the bound on memory."""
        import re2

        try:
            return self._compiled is not None
        except re2.error:
            return False

    def which(self, data: bytes) -> tuple[int, ...]:
        """Indexes of the patterns that match, ascending."""
        return tuple(sorted(self._compiled.Match(data) or ()))


class UserPattern:
    """A user's pattern, checked and compiled."""

    __slots__ = ("_pattern", "source")

    def __init__(self, source: str) -> None:
        self.source = source
        self._pattern = Pattern(source)

    def find(self, text: str) -> tuple[tuple[int, int], ...]:
        """Code-point offsets of all matches, left to right; empty matches are left out."""
        return tuple(span for span in self._pattern.in_text(Haystack(text)) if span[0] < span[1])


def compile_pattern(source: str, *, location: Location | None = None) -> UserPattern:
    """Compile a pattern in RE2 syntax (https://github.com/google/re2/wiki/Syntax).

    Raises :class:`PatternError` when it is empty, too long, uses what RE2 leaves out on purpose (lookaround,
    back-references), matches the empty text, or needs more than the memory bound.
    """
    if not source:
        raise PatternError("the pattern is empty", help="write an RE2 pattern", location=location)
    if len(source) > MAX_PATTERN_CHARS:
        raise PatternError(
            f"the pattern has {len(source):,} characters, at most {MAX_PATTERN_CHARS:,} are allowed",
            help="split it into several rules",
            location=location,
        )
    import re2

    try:
        compiled = re2.compile(source, _options())
    except (re2.error, UnicodeEncodeError) as problem:
        text = _reason(problem.args[0]) if isinstance(problem, re2.error) else "it holds a lone surrogate"
        raise PatternError(
            f"the pattern is not valid RE2: {text}", help=_advice(source, text), location=location
        ) from None
    if compiled.search("") is not None:
        raise PatternError(
            "the pattern matches the empty text, so it would match everywhere",
            help="require at least one character, for example + in place of *",
            location=location,
        )
    return UserPattern(source)


def _reason(said: object) -> str:
    """RE2's own words, which come as bytes or text."""
    return said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)


def _advice(source: str, reason: str) -> str:
    """How to mend a pattern that RE2 refused."""
    for mark, name in _UNSUPPORTED:
        if mark in source:
            return f"RE2 has no {name} ({mark}): match the wider text, or split the rule in two"
    if "escape sequence" in reason and any(f"\\{d}" in source for d in range(1, 10)):
        return "RE2 has no back-references: write the repeated part out"
    if "too large" in reason or "repetition" in reason:
        return "lower the repetition counts: RE2 allows at most 1,000, and nested counts multiply"
    if "missing" in reason or "unexpected" in reason:
        return "close every group and character class, and escape literal brackets with a backslash"
    return "see https://github.com/google/re2/wiki/Syntax"
