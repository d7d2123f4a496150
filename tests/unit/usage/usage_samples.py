"""A tokenizer whose counts can be added up by hand, and texts for it."""

from __future__ import annotations

from collections.abc import Sequence

BLOCK = 600
"""Words of a long block: longer than the minimum of a model of 512 tokens, and not of one of 1,024."""


class WordTokenizer:
    """Counts words: every number of a test can be added up by hand."""

    method = "exact"
    digest = "words"

    def __init__(self, id: str) -> None:
        self.id = id

    def count(self, text: str) -> int:
        return len(text.split())

    def count_many(self, texts: Sequence[str]) -> list[int]:
        return [self.count(t) for t in texts]

    def prefix(self, text: str, limit: int) -> int:
        return min(len(text), limit)

    def suffix(self, text: str, limit: int) -> int:
        return min(len(text), limit)


def words(count: int, word: str = "word") -> str:
    """A text of so many words, each of them another one."""
    return " ".join(f"{word}{n}" for n in range(count))
