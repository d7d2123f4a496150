"""Counts of tokens, and the port behind which every tokenizer stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ctxc.base.values import dataclass

METHODS = ("exact", "reproduced", "calibrated", "heuristic")
"""Best first; the method of a sum is the worst of its parts."""


def worst(*methods: str) -> str:
    """The least trustworthy of some methods."""
    return max(methods, key=METHODS.index)


class Tokenizer(Protocol):
    """Counts tokens of text. Special-token literals such as ``<|endoftext|>`` are ordinary text.

    Counts are neither additive over a split nor monotone over prefixes (measured); nobody may assume either.
    """

    @property
    def id(self) -> str:
        """Name, e.g. ``o200k_base``."""

    @property
    def digest(self) -> str:
        """Identity of vocabulary and pattern (hex); part of every cache key and snapshot."""

    @property
    def method(self) -> str:
        """``exact`` or ``heuristic``: how a count of plain text is obtained."""

    def count(self, text: str) -> int:
        """Tokens of a text."""

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text; one batched cache look-up where there is a cache."""

    def prefix(self, text: str, limit: int) -> int:
        """Length in code points of a longest prefix found whose own count is at most ``limit`` tokens."""

    def suffix(self, text: str, limit: int) -> int:
        """Length in code points of a longest suffix found whose own count is at most ``limit`` tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountPart:
    """Tokens of one value of a request, at a JSON pointer (empty: framing of the whole)."""

    pointer: str
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """Tokens of a whole request, with how they were obtained and how far off they may be (relative, basis points)."""

    tokens: int
    method: str
    tokenizer: str
    error_low_bp: int = 0
    error_high_bp: int = 0
    parts: tuple[CountPart, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def upper(self) -> int:
        """Top of the band, rounded up: what a ceiling is compared with."""
        return self.tokens + -(-self.tokens * self.error_high_bp // 10_000)
