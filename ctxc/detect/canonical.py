"""A text as a reader sees it that normalises: NFKC, without default-ignorable characters, each character leading back.

Role tokens and delimiters are looked for in this reading, so that full-width brackets, a zero-width space inside, or a
mathematical letter hide nothing. Case is left to the patterns.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from functools import lru_cache

from ctxc.base.escaping import DEFAULT_IGNORABLE

# Blocks without any compatibility character or ignorable: ordinary letters, kana, ideographs, syllables.
_ORDINARY = (
    "\u00c0-\u0131\u0134-\u013e\u0141-\u0148\u014a-\u017e\u0180-\u01c3\u01cd-\u01f0\u01f4-\u024f\u0388-\u03ce\u0400-\u058f"
    "\u0590-\u05ff\u060c-\u061b\u061f-\u06dc\u0900-\u09df\u0e01-\u0e32\u1e00-\u1e99\u1ea0-\u1eff\u2013-\u2016\u2018-\u2023"
    "\u2190-\u222b\u2230-\u245f\u2500-\u29ff\u3001-\u3035\u3041-\u3096\u30a1-\u30fe\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
    "\U0001f300-\U0001f64f\U0001f680-\U0001faff\U00020000-\U0002f7ff"
)
_UNUSUAL = re.compile(f"[^\x00-\x7f{_ORDINARY}]")
_IGNORABLE = re.compile(f"[{DEFAULT_IGNORABLE}]")


class Reading:
    """The normalised text, and the way from its characters back to the original."""

    __slots__ = ("_inputs", "_lengths", "_outputs", "text")

    def __init__(self, text: str, outputs: list[int], inputs: list[int], lengths: list[int]) -> None:
        # The character at inputs[i] of the original became lengths[i] characters from outputs[i] on.
        self.text = text
        self._outputs = outputs
        self._inputs = inputs
        self._lengths = lengths

    def _place(self, at: int) -> int:
        index = bisect_right(self._outputs, at) - 1
        if index < 0:
            return at
        past = at - self._outputs[index] - self._lengths[index]
        return self._inputs[index] if past < 0 else self._inputs[index] + 1 + past

    def original(self, start: int, end: int) -> tuple[int, int]:
        """The range of the original text that a range of the reading, not empty, comes from."""
        return self._place(start), self._place(end - 1) + 1


def read_normalised(text: str) -> Reading:
    """The reading of a text; one without compatibility and ignorable characters is its own."""
    pieces: list[str] = []
    outputs: list[int] = []
    inputs: list[int] = []
    lengths: list[int] = []
    done = produced = 0
    for unusual in () if text.isascii() else _UNUSUAL.finditer(text):
        at = unusual.start()
        plain = _normal(unusual.group())
        if plain == unusual.group():
            continue
        pieces.append(text[done:at])
        produced += at - done
        outputs.append(produced)
        inputs.append(at)
        lengths.append(len(plain))
        pieces.append(plain)
        produced += len(plain)
        done = at + 1
    if not outputs:
        return Reading(text, outputs, inputs, lengths)
    pieces.append(text[done:])
    return Reading("".join(pieces), outputs, inputs, lengths)


@lru_cache(maxsize=4096)
def _normal(char: str) -> str:
    return "" if _IGNORABLE.match(char) else unicodedata.normalize("NFKC", char)
