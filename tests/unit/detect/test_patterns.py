from __future__ import annotations

from itertools import pairwise

import pytest

from ctxc.base.spans import Location
from ctxc.detect.patterns import Haystack, Pattern, PatternError, PatternSet, compile_pattern, windows


def test_matches_are_code_point_ranges() -> None:
    assert compile_pattern("(?i)b+").find("aBb 你b") == ((1, 3), (5, 6))
    assert compile_pattern("你").find("a你b你") == ((1, 2), (3, 4))


@pytest.mark.parametrize(
    ("source", "message", "help"),
    [
        ("", "empty", "write an RE2 pattern"),
        ("a" * 5000, "5,000 characters", "split"),
        ("(", "missing )", "close every group"),
        ("[a", "missing ]", "close every group"),
        ("a(?=b)", "invalid perl operator", "no lookahead"),
        ("(?<!a)b", "invalid perl operator", "no negative lookbehind"),
        ("(a)\\1", "invalid escape sequence", "no back-references"),
        ("a{2000}", "repetition", "at most 1,000"),
        ("a*", "matches the empty text", "in place of *"),
        ("\ud800", "lone surrogate", "re2/wiki/Syntax"),
    ],
)
def test_a_bad_pattern_is_explained(source: str, message: str, help: str) -> None:
    with pytest.raises(PatternError) as caught:
        compile_pattern(source, location=Location("policy.yaml"))
    assert message in caught.value.message
    assert help in caught.value.help
    assert str(caught.value.location) == "policy.yaml"


def test_an_exponential_pattern_is_linear_here() -> None:
    assert compile_pattern("(a+)+$").find("a" * 50_000 + "b") == ()


def test_surrogates_keep_every_offset() -> None:
    text = "a\ud83d\ude00b\ud800c"
    hay = Haystack(text)
    assert hay.data.decode("utf-8") == "a\ufffd\ufffdb\ufffdc"
    assert [hay.offset(hay.data.index(c)) for c in (b"a", b"b", b"c")] == [0, 3, 5]
    assert hay.offset(1) == 1
    pair = "\U0001f600x"
    assert list(Pattern("x").in_text(Haystack(pair))) == [(1, 2)]


def test_neighbours_share_a_separator() -> None:
    pattern = Pattern(r"(?:^|,)(\d)(?:,|$)")
    assert [span[2:] for span in pattern.spans(b"1,2,3", 1)] == [(0, 1), (2, 3), (4, 5)]


def test_a_set_says_which_patterns_occur() -> None:
    found = PatternSet(["a+", "(?i)b", "c$"])
    assert found.which(b"xxBxxaac") == (0, 1, 2)
    assert found.which(b"zzz") == ()


def test_windows_cover_a_text_and_overlap() -> None:
    text = "word " * 1000
    spans = list(windows(text, 500, 50))
    assert spans[0][0] == 0 and spans[-1][1] == len(text)
    assert all(later[0] < earlier[1] for earlier, later in pairwise(spans))
    assert all(text[low - 1] == " " for low, _ in spans[1:])
    assert list(windows("x" * 5000, 500, 50)) == [(0, 5000)]
    assert list(windows("", 500, 50)) == [(0, 0)]


@pytest.mark.parametrize(
    ("pattern", "data", "start", "expected"),
    [
        (r"(b*)", b"ab", 0, [(0, 0, 0, 0), (1, 2, 1, 2), (2, 2, 2, 2)]),
        (r"a(b)?", b"aab", 0, [(0, 1, 0, 1), (1, 3, 2, 3)]),
        (r";(x);", b";x;x;x", 0, [(0, 3, 1, 2), (2, 5, 3, 4)]),
        (r";(x);", b";x;x;x", 1, [(2, 5, 3, 4)]),
        (r"(x)", b"", 0, []),
    ],
)
def test_the_search_goes_on_behind_the_group(
    pattern: str, data: bytes, start: int, expected: list[tuple[int, int, int, int]]
) -> None:
    """Also where a match is empty, and where the group took no part: then the match stands for it."""
    assert list(Pattern(pattern).spans(data, 1, start=start)) == expected
