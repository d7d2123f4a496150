"""estimate_000: a plain estimate, for tests and for comparison; it is off by tens of percent and never exact.

A CJK character (U+3400 to U+9FFF) is one token, every four other characters are one, rounded up; at least 1, and 0
for an empty text. Source: the estimator of the guide to the context layer (docs/decisions.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from hashlib import sha256

from ctxc.base.text import utf8
from ctxc.tokens.cache import CountStore

_CJK = re.compile("[\u3400-\u9fff]")


class Estimate:
    """Counts without a vocabulary; needs no store."""

    id = "estimate_000"
    digest = sha256(b"estimate_000/1 [3400-9fff]=1 other=ceil/4").hexdigest()
    method = "heuristic"

    def count(self, text: str) -> int:
        """Estimated tokens. Raises UnreadableSource for a lone surrogate, as every tokenizer does."""
        if not text.isascii():
            utf8(text)
        cjk = len(_CJK.findall(text))
        return cjk - (cjk - len(text)) // 4

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Estimated tokens of each text."""
        return [self.count(text) for text in texts]

    def prefix(self, text: str, limit: int) -> int:
        """Length in code points of the longest prefix of at most ``limit`` tokens."""
        utf8(text)
        return _fitting(text, limit)

    def suffix(self, text: str, limit: int) -> int:
        """Length in code points of the longest suffix of at most ``limit`` tokens."""
        utf8(text)
        return _fitting(reversed(text), limit)


def _fitting(characters: Iterable[str], limit: int) -> int:
    quarters = length = 0
    for character in characters:
        quarters += 4 if "\u3400" <= character <= "\u9fff" else 1
        if quarters > 4 * limit:
            break
        length += 1
    return length


def build(store: CountStore) -> Estimate:
    """The estimator; the store is not used."""
    del store
    return Estimate()
