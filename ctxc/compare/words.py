"""Texts as words, and a word-level difference that a person reads without effort.

A word is a run of letters; a number with its separators is one; scripts that are written without blanks (Han, kana,
Thai and its neighbours) go by the character, so that one changed character is not a changed paragraph.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from unicodedata import category

from ctxc.compare.sequences import blocks
from ctxc.model.change import Run

# Blocks of the Unicode Character Database 18.0.0: Thai, Lao, Tibetan, Myanmar, Khmer; kana, Han and its extensions.
_UNSPACED = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
_WORD = re.compile(
    rf"\n|[^\S\n]+|[0-9]+(?:[.,:/-][0-9]+)*|[{_UNSPACED}]|(?:(?![{_UNSPACED}0-9])\w)+(?:['’](?:(?![{_UNSPACED}0-9])\w)+)*"
    r"|."
)
MAX_WORDS = 40_000
"""Words of two texts together over which they are told as replaced; finding what they share would take seconds."""

_ZWJ = "\u200d"
_SHARED = (
    0.25  # of the longer text's words: below, two texts are not versions of each other and are told one after the other
)
_EDGE = 60  # code points of equal text that are kept beside an edit in a long line
_ELIDE = 3 * _EDGE


def words(text: str) -> list[str]:
    """The text in words, white space and single marks; joined again they are the text. No cluster is split."""
    found: list[str] = _WORD.findall(text)
    return found if text.isascii() else _with_marks(found)


def _with_marks(found: list[str]) -> list[str]:
    """Combining marks, selectors and what a joiner joins stay with the word before them."""
    joined: list[str] = []
    for word in found:
        if joined and not joined[-1].isspace() and (category(word[0])[0] == "M" or _ZWJ in (word[0], joined[-1][-1])):
            joined[-1] += word
        else:
            joined.append(word)
    return joined


def is_space_apart(base: str, head: str) -> bool:
    """Whether two different texts are the same but for white space."""
    return base != head and "".join(base.split()) == "".join(head.split())


def similarity(base: str, head: str) -> float:
    """How much of the longer text both share, by words, 0 to 1. White space does not count."""
    one, other = words(base), words(head)
    if len(one) + len(other) > MAX_WORDS:
        return 0.0
    shared = sum(_weight(one[b.i1 : b.i2]) for b in blocks(one, other) if b.equal)
    return shared / max(_weight(one), _weight(other), 1)


def runs(base: str, head: str) -> tuple[Run, ...]:
    """What became of a text: equal, removed and added runs. Two texts that share little are told one by one."""
    if base == head:
        return (Run(op="=", text=base),) if base else ()
    one, other = words(base), words(head)
    if len(one) + len(other) > MAX_WORDS:
        return _replaced(base, head)
    found = [
        ("=" if b.equal else "!", "".join(one[b.i1 : b.i2]), "".join(other[b.j1 : b.j2])) for b in blocks(one, other)
    ]
    found = _without_islands(found)
    if sum(_count(old) for op, old, _ in found if op == "=") < _SHARED * max(_count(base), _count(head)):
        return _replaced(base, head)
    result: list[Run] = []
    for op, old, new in found:
        if op == "=":
            result.append(Run(op="=", text=old))
            continue
        if old:
            result.append(Run(op="-", text=old))
        if new:
            result.append(Run(op="+", text=new))
    return tuple(result)


def _replaced(base: str, head: str) -> tuple[Run, ...]:
    return tuple(Run(op=op, text=text) for op, text in (("-", base), ("+", head)) if text)


def _count(text: str) -> int:
    """Words of a text, white space and single marks apart."""
    return sum(word[0].isalnum() for word in words(text))


def _weight(items: Sequence[str]) -> int:
    return sum(len(item) for item in items if not item.isspace())


def _without_islands(found: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Join edits with less between them than they change: three words that share a comma are one edit, not two."""
    again = True
    while again:
        again = False
        for at in range(1, len(found) - 1):
            op, same, _ = found[at]
            before, after = found[at - 1], found[at + 1]
            if op != "=" or "\n" in same or before == after:
                continue
            bare = len("".join(c for c in same if c.isalnum()))
            small = min(max(len(before[1]), len(before[2])), max(len(after[1]), len(after[2])))
            both = all(side[1].strip() and side[2].strip() for side in (before, after))
            if (bare == 0 and both) or (bare > 0 and 2 * bare < small and both):
                found[at - 1 : at + 2] = [("!", before[1] + same + after[1], before[2] + same + after[2])]
                again = True
                break
    return found


def elided(parts: Sequence[Run]) -> tuple[Run, ...]:
    """Runs in which a long equal text keeps only what stands beside an edit.

    What is left out is a run ``~`` whose text is the number of code points.
    """
    found: list[Run] = []
    for number, part in enumerate(parts):
        if part.op != "=" or len(part.text) <= _ELIDE:
            found.append(part)
            continue
        left = _EDGE if number else 0
        right = _EDGE if number < len(parts) - 1 else 0
        gone = len(part.text) - left - right
        if left:
            found.append(Run(op="=", text=part.text[:left]))
        found.append(Run(op="~", text=str(gone)))
        if right:
            found.append(Run(op="=", text=part.text[len(part.text) - right :]))
    return tuple(found)
