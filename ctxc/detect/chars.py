"""Sets of code points: properties from the shipped table, and the few block ranges that need no table.

The table (``data/unicode.json``) is taken from one version of Unicode, not from the running Python, so that a text is
judged the same on every interpreter.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from functools import cache

from ctxc.detect import data


class CharSet:
    """A set of code points, held as sorted ranges."""

    __slots__ = ("_ends", "_starts")

    def __init__(self, ranges: list[tuple[int, int]]) -> None:
        ordered = sorted(ranges)
        self._starts = [low for low, _ in ordered]
        self._ends = [high for _, high in ordered]

    def __contains__(self, char: str) -> bool:
        """True if the one-character string is in the set; the empty string never is."""
        if not char:
            return False
        code = ord(char)
        index = bisect_right(self._starts, code) - 1
        return index >= 0 and code <= self._ends[index]

    def ranges(self, *, below: int = 0x110000) -> str:
        """The set as the body of a character class of the standard library's ``re``, up to a limit."""
        parts = []
        for low, high in zip(self._starts, self._ends, strict=True):
            if low < below:
                parts.append(f"\\U{low:08x}-\\U{min(high, below - 1):08x}")
        return "".join(parts)


@cache
def _tables() -> dict[str, str]:
    tables: dict[str, str] = json.loads(data.read("unicode.json"))["tables"]
    return tables


@cache
def having(name: str) -> CharSet:
    """The code points that have a property of the shipped table (``mark``, ``han``, ``extended_pictographic`` ...)."""
    spans = []
    for part in _tables()[name].split(","):
        low, _, high = part.partition("-")
        spans.append((int(low, 16), int(high or low, 16)))
    return CharSet(spans)


def _set(*spans: int | tuple[int, int]) -> CharSet:
    return CharSet([span if isinstance(span, tuple) else (span, span) for span in spans])


SKIN_TONES = _set((0x1F3FB, 0x1F3FF))
VARIATION_SELECTORS = _set((0xFE00, 0xFE0F), (0xE0100, 0xE01EF))
TAGS = _set((0xE0000, 0xE007F))
# Scripts whose letters join, so that ZWJ and ZWNJ change their shape (Arabic and its kin, N'Ko, Mongolian, Adlam ...).
JOINING = _set(
    (0x600, 0x74F), (0x750, 0x77F), (0x7C0, 0x7FF), (0x840, 0x8FF), (0x1800, 0x18AF), (0xA840, 0xA87F),
    (0xFB50, 0xFDFF), (0xFE70, 0xFEFC), (0x10AC0, 0x10AFF), (0x10B80, 0x10BAF), (0x10D00, 0x10D3F),
    (0x10F30, 0x10FDF), (0x1E900, 0x1E95F),
)  # fmt: skip
INDIC = _set(
    (0x900, 0xDFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x1A20, 0x1AAF), (0x1B00, 0x1BFF), (0x1C00, 0x1C4F),
    (0xA800, 0xA82F), (0xA880, 0xA8FF), (0xA930, 0xA9DF), (0xAA60, 0xAA7F), (0xABC0, 0xABFF), (0x11000, 0x11FFF),
)  # fmt: skip
# Scripts written without spaces, where ZWSP is the word boundary (Thai, Lao, Tibetan, Myanmar, Khmer ...).
SPACELESS = _set(
    (0xE00, 0xFFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x1950, 0x19DF), (0x1A20, 0x1AAF), (0xA9E0, 0xA9FF)
)
# Blocks whose strong letters run from right to left: the defaults of DerivedBidiClass.txt.
RIGHT_TO_LEFT = _set(
    (0x590, 0x5FF), (0x600, 0x61B), (0x61D, 0x8FF), (0xFB1D, 0xFDFF), (0xFE70, 0xFEFE), (0x10800, 0x10FFF),
    (0x1E800, 0x1EFFF),
)  # fmt: skip
# Bases that the StandardizedVariants.txt of Unicode gives a VS1 to VS3: mathematics, Phags-pa, Manichaean, punctuation.
STANDARD_BASES = _set(
    0x30, (0x2205, 0x22DF), (0x2A0C, 0x2AAF), 0x2AC0, 0x2ACB, 0x2ACC, (0x3001, 0x3002), (0xA840, 0xA877),
    (0x10AC0, 0x10AF6), 0xFF01, 0xFF0C, 0xFF0E, 0xFF1A, 0xFF1B, 0xFF1F, (0x13000, 0x143FA),
)  # fmt: skip
MONGOLIAN = _set((0x1800, 0x180A), (0x1810, 0x18AF))
CONJOINING_LEADS = _set((0x1100, 0x115F), (0xA960, 0xA97C))
CONJOINING_VOWELS = _set((0x1160, 0x11FF), (0xD7B0, 0xD7FB))
SINGLE_JAMO = _set((0x3131, 0x3163), (0x3165, 0x318E), (0xFFA1, 0xFFDC))
BRAILLE = _set((0x2801, 0x28FF))
HIEROGLYPHS = _set((0x13000, 0x1342F), (0x13440, 0x143FA))
MONGOLIAN_SELECTORS = _set((0x180B, 0x180D), 0x180F)
INVISIBLE_OPERATORS = _set((0x2061, 0x2064))
HIEROGLYPH_CONTROLS = _set((0x13430, 0x1343F))
MUSIC = _set((0x1D100, 0x1D172), (0x1D17B, 0x1D1FF))
MUSIC_CONTROLS = _set((0x1D173, 0x1D17A))
SHORTHAND = _set((0x1BC00, 0x1BC9F))
SHORTHAND_CONTROLS = _set((0x1BCA0, 0x1BCA3))
