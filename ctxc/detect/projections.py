"""Other readings of a text: escapes resolved, hidden characters removed, base64 decoded; each leads back to its source.

A secret or an instruction that is written as ``\\u0073\\u006b-...``, ``%73k-``, ``&#115;k-``, with a zero-width space
inside, or in base64, is invisible to a search of the raw text. A projection is the decoded text together with the way
back to code-point offsets of the text that was given.
"""

from __future__ import annotations

import base64
import binascii
import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator
from functools import cache, lru_cache
from itertools import accumulate
from typing import NamedTuple

from ctxc.base.escaping import DEFAULT_IGNORABLE
from ctxc.detect.patterns import Pattern, haystack

DECODERS = ("hidden", "json", "percent", "entity", "base64")
"""``hidden`` removes default-ignorable code points; ``json`` resolves the backslash escapes of JSON and JavaScript."""

MIN_BASE64 = 24
"""Shortest base64 run that is decoded, in characters: 16 to 18 bytes, no longer than the shortest vendor key."""

_BLOCK = 1 << 11
_SPACE = re.compile(r"[ \t\r\n]")
_SIMPLE = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_COMMON = (("\\n", "\n"), ('\\"', '"'), ("\\t", "\t"))
_FIRST = {"json": "\\", "percent": "%", "entity": "&"}
_KIND_OF = {first: kind for kind, first in _FIRST.items()}
# What may follow the first character of an escape. Lookbehinds on it instead of one group a kind: a pattern that begins
# with a character class is searched several times faster than one that begins with alternatives.
_REST = {
    "hidden": f"(?<=[{DEFAULT_IGNORABLE}])[{DEFAULT_IGNORABLE}]*",
    "json": r"(?<=\\)(?:u[0-9a-fA-F]{4}(?:\\u[0-9a-fA-F]{4})*|u\{[0-9a-fA-F]{1,6}\}|x[0-9a-fA-F]{2}|[\"'\\/nrtbfv0])",
    "percent": r"(?<=%)[0-9a-fA-F]{2}(?:%[0-9a-fA-F]{2})*",
    "entity": r"(?<=&)(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});",
}
_PRESENT = {
    # Between printable ASCII, where a hidden character splits a word; emoji and Persian are full of them elsewhere.
    "hidden": Pattern(f"[!-~][{DEFAULT_IGNORABLE}]+[!-~]"),
    "percent": Pattern(r"%[0-9a-fA-F]{2}"),
    "entity": Pattern(r"&(?:#[0-9xX]|[A-Za-z][A-Za-z0-9]{1,30};)"),
}
# With - and _ only long runs: shorter ones are names made of words.
_RUN = Pattern(rf"[A-Za-z0-9+/]{{{MIN_BASE64},}}={{0,2}}|[A-Za-z0-9_-]{{40,}}={{0,2}}")
_STANDARD = bytes.maketrans(b"-_", b"+/")
_UNUSUAL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ufffd]")


class _Segment(NamedTuple):
    """A stretch of decoded text, from ``output`` on, and its source range; without a kind it is a copy."""

    output: int
    low: int
    high: int
    kind: str


class Projection:
    """A decoded reading of a text. The way back is worked out when first asked for: most readings hold nothing."""

    __slots__ = ("_blocks", "_parent", "_segments", "_starts", "text")

    def __init__(
        self,
        pieces: list[str],
        blocks: list[tuple[int, int]],
        segments: Callable[[int, int, int], list[_Segment]],
        parent: Projection | None,
    ) -> None:
        # Block i of the source, blocks[i], was decoded into pieces[i]; ``segments`` takes a block apart again.
        self.text = "".join(pieces)
        self._blocks = blocks
        self._starts = [0, *accumulate(map(len, pieces))]
        self._segments = cache(segments)
        self._parent = parent

    def locate(self, start: int, end: int) -> tuple[int, int, tuple[str, ...]]:
        """Where a decoded range comes from: start and end in the text that was given, and the decoders on the way.

        The decoders are those that worked inside the range or right before it; none means that the raw text holds
        the range as it is.
        """
        last_char = max(start, end - 1)
        first_block = max(0, bisect_right(self._starts, max(0, start - 1), hi=len(self._blocks)) - 1)
        last_block = max(first_block, bisect_right(self._starts, last_char, hi=len(self._blocks)) - 1)
        own = [
            segment
            for index in range(first_block, last_block + 1)
            for segment in self._segments(self._starts[index], *self._blocks[index])
        ]
        outputs = [segment.output for segment in own]
        first = max(0, bisect_right(outputs, start) - 1)
        last = max(first, bisect_right(outputs, last_char) - 1)
        low = own[first].low + (0 if own[first].kind else start - own[first].output)
        high = own[last].high if own[last].kind else own[last].low + end - own[last].output
        before = first - 1 if first and start == own[first].output else first
        used = sorted({segment.kind for segment in own[before : last + 1] if segment.kind}, key=DECODERS.index)
        if self._parent is None:
            return low, high, tuple(used)
        outer_low, outer_high, outer_used = self._parent.locate(low, high)
        return outer_low, outer_high, (*outer_used, *used)


def projections(text: str, *, decoders: Collection[str] = DECODERS, depth: int = 2) -> Iterator[Projection]:
    """Every reading of the text that differs from it, down to ``depth`` decodings inside one another."""
    level: list[tuple[str, Projection | None]] = [(text, None)]
    for _ in range(depth):
        deeper: list[tuple[str, Projection | None]] = []
        for source, parent in level:
            for found in (_unescape(source, decoders, parent), _from_base64(source, decoders, parent)):
                if found is not None:
                    yield found
                    deeper.append((found.text, found))
        level = deeper


@lru_cache(maxsize=64)
def _pattern(kinds: tuple[str, ...]) -> re.Pattern[str]:
    first = "".join(re.escape(_FIRST[kind]) if kind in _FIRST else DEFAULT_IGNORABLE for kind in kinds)
    return re.compile(f"[{first}](?:{'|'.join(_REST[kind] for kind in kinds)})")


def _kinds_in(text: str, decoders: Collection[str]) -> tuple[str, ...]:
    """The chosen decoders, base64 aside, that have something to do in the text."""
    kinds = []
    data = haystack(text).data
    if "hidden" in decoders and not text.isascii() and _PRESENT["hidden"].found(data):
        kinds.append("hidden")
    if "json" in decoders and "\\" in text:
        kinds.append("json")
    for kind in ("percent", "entity"):
        if kind in decoders and _FIRST[kind] in text and _PRESENT[kind].found(data):
            kinds.append(kind)
    return tuple(kinds)


def _unescape(text: str, decoders: Collection[str], parent: Projection | None) -> Projection | None:
    """All escapes of the text resolved in one pass; None where there are none."""
    kinds = _kinds_in(text, decoders)
    if not kinds:
        return None
    pattern = _pattern(kinds)
    blocks = _blocks(text)
    pieces = [_resolve(text[low:high], pattern, kinds) for low, high in blocks]
    if len(pieces) == 1 and pieces[0] == text:
        return None
    return Projection(pieces, blocks, lambda *block: _take_apart(text, pattern, *block), parent)


def _blocks(text: str) -> list[tuple[int, int]]:
    """The text in stretches that end at white space, which no escape contains."""
    blocks: list[tuple[int, int]] = []
    low = 0
    while len(text) - low > _BLOCK:
        found = _SPACE.search(text, low + _BLOCK)
        if found is None:
            break
        blocks.append((low, found.end()))
        low = found.end()
    blocks.append((low, len(text)))
    return blocks


def _resolve(block: str, pattern: re.Pattern[str], kinds: tuple[str, ...]) -> str:
    """One block with its escapes resolved: what ``pattern.sub`` makes of it, at a fraction of the time.

    Once doubled backslashes are out of the way, the commonest JSON escapes are replaced one kind after the other: none
    of their replacements can begin or complete an escape.
    """
    if "hidden" not in kinds and not any(_FIRST[kind] in block for kind in kinds):
        return block
    if "json" not in kinds or "\0" in block:
        return pattern.sub(_replacement, block)
    doubled = "\\\\" in block
    if doubled:
        block = block.replace("\\\\", "\0")
    for escape, plain in _COMMON:
        if escape in block:
            block = block.replace(escape, plain)
    if kinds != ("json",) or "\\" in block:
        block = pattern.sub(_replacement, block)
    return block.replace("\0", "\\") if doubled else block


def _replacement(match: re.Match[str]) -> str:
    return _plain(match[0])


def _take_apart(text: str, pattern: re.Pattern[str], output: int, low: int, high: int) -> list[_Segment]:
    """The segments of one block that ``pattern.sub`` decoded."""
    segments: list[_Segment] = []
    done = low
    for match in pattern.finditer(text, low, high):
        begin, finish = match.span()
        plain = _plain(match[0])
        if plain == match[0]:
            continue
        if begin > done:
            segments.append(_Segment(output, done, begin, ""))
            output += begin - done
        segments.append(_Segment(output, begin, finish, _KIND_OF.get(text[begin], "hidden")))
        output += len(plain)
        done = finish
    segments.append(_Segment(output, done, high, ""))
    return segments


@lru_cache(maxsize=4096)
def _plain(escape: str) -> str:
    """What one escape stands for; itself where it stands for nothing."""
    mark = escape[0]
    if mark == "\\":
        return _backslash(escape)
    if mark == "%":
        return bytes.fromhex(escape.replace("%", "")).decode("utf-8", "replace")
    if mark == "&":
        import html

        return html.unescape(escape)
    return ""


def _backslash(escape: str) -> str:
    """What one backslash escape of JSON or JavaScript stands for."""
    mark = escape[1]
    if mark == "u" and escape[2] != "{":
        return bytes.fromhex(escape.replace("\\u", "")).decode("utf-16-be", "replace")
    if mark in "ux":
        code = int(escape[2:].strip("{}"), 16)
        return chr(code) if code < 0x110000 and not 0xD800 <= code <= 0xDFFF else escape
    return _SIMPLE.get(mark, mark)


def _from_base64(text: str, decoders: Collection[str], parent: Projection | None) -> Projection | None:
    """Every base64 run that decodes to text, one a line; None where there is none."""
    if "base64" not in decoders:
        return None
    hay = haystack(text)
    pieces: list[str] = []
    blocks: list[tuple[int, int]] = []
    for low, high, _, _ in _RUN.spans(hay.data):
        plain = _decode(hay.data[low:high])
        if plain is not None:
            pieces.append(plain + "\n")
            blocks.append((hay.offset(low), hay.offset(high)))
    if not pieces:
        return None
    return Projection(pieces, blocks, lambda output, low, high: [_Segment(output, low, high, "base64")], parent)


def decode_base64(run: str) -> str | None:
    """The text that a base64 or base64url run encodes; None where it encodes no text (an image, a hash, a word)."""
    return _decode(run.encode("ascii")) if run.isascii() else None


def _decode(run: bytes) -> str | None:
    if run.islower():
        return None
    body = run.rstrip(b"=")
    if len(body) % 4 == 1 or body.isupper() or body.isdigit():
        return None
    try:
        plain = base64.b64decode(body.translate(_STANDARD) + b"=" * (-len(body) % 4), validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return None if _UNUSUAL.search(plain) else plain
