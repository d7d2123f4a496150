"""The plain estimator, by its definition."""

from __future__ import annotations

import pytest

from ctxc import tokens
from ctxc.base.errors import UnreadableSource

ESTIMATE = tokens.get("estimate_000")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("a", 1),
        ("abcd", 1),
        ("abcde", 2),
        ("中", 1),
        ("中文", 2),
        ("中文a", 3),
        ("中文abcd", 3),
        ("中文abcde", 4),
        ("\u3400\u9fff", 2),
        ("\u33ff\ua000", 1),  # just outside
        ("\U00020000" * 5, 2),  # extension B is outside the range too
        ("。，" * 2, 1),  # CJK punctuation is not counted as CJK
    ],
)
def test_counts(text: str, expected: int) -> None:
    assert ESTIMATE.count(text) == expected
    assert ESTIMATE.count_many([text, text]) == [expected, expected]


def test_prefix_and_suffix_are_the_longest() -> None:
    text = "abcdefgh中文 and 索赔 of 2026"
    for limit in range(-1, ESTIMATE.count(text) + 2):
        fitting = [n for n in range(len(text) + 1) if ESTIMATE.count(text[:n]) <= max(limit, 0)]
        assert ESTIMATE.prefix(text, limit) == max(fitting)
        fitting = [n for n in range(len(text) + 1) if ESTIMATE.count(text[len(text) - n :]) <= max(limit, 0)]
        assert ESTIMATE.suffix(text, limit) == max(fitting)


def test_a_lone_surrogate_is_refused_here_too() -> None:
    with pytest.raises(UnreadableSource, match=r"U\+D83D \(its line 2, column 3\)"):
        ESTIMATE.count("first\nab\ud83d")
