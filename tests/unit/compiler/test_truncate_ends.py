"""tail, head, middle and lines: which part stays, how the cut is marked, and what the result says of it."""

from __future__ import annotations

import itertools
import re

import pytest

from ctxc import tokens
from ctxc.base.errors import UnreadableSource, UsageError
from ctxc.compiler.truncate import Cut, truncate_text
from ctxc.compiler.truncate._marker import joined, tokens_cut
from ctxc.compiler.truncate.lines import _line_start_after, _line_start_before
from ctxc.model.section import Strategy

O200K = tokens.get("o200k_base")
TEXT = "".join(f"Sentence number {n} says what happened on day {n}. " for n in range(1, 101))
LINES = "".join(f"{n:03d} one line of the log\n" for n in range(1, 101))
ENDS = ["tail", "head", "middle", "lines"]


def check(text: str, limit: int, strategy: str) -> Cut:
    """A cut that holds what every cut must hold."""
    result = truncate_text(text, limit, strategy, O200K)
    assert result.tokens_before == O200K.count(text)
    assert result.tokens_after == O200K.count(result.text)
    if result.fits:
        assert result.tokens_after <= limit
    return result


def parts(result: Cut) -> tuple[str, int, str]:
    """What stands before the mark, the number in it, what stands after."""
    found = re.fullmatch(r"(.*?)\n?\[… (\d+) tokens cut …\]\n?(.*)", result.text, re.DOTALL)
    assert found is not None
    return found[1], int(found[2]), found[3]


@pytest.mark.parametrize("strategy", ENDS)
def test_what_fits_is_left_alone(strategy: str) -> None:
    size = O200K.count(TEXT)
    for limit in (size, size + 1, 10**9):
        result = check(TEXT, limit, strategy)
        assert (result.text, result.cut, result.fits, result.strategy) == (TEXT, False, True, strategy)
        assert result.kept_ranges == ((0, len(TEXT)),)
    assert check(TEXT, size - 1, strategy).cut


@pytest.mark.parametrize("strategy", ENDS)
def test_nothing_stays_nothing(strategy: str) -> None:
    result = check("", 0, strategy)
    assert (result.text, result.fits, result.cut, result.kept_ranges) == ("", True, False, ())


def test_tail_keeps_the_beginning() -> None:
    result = check(TEXT, 60, "tail")
    head, left_out, tail = parts(result)
    assert (tail, TEXT.startswith(head), result.kept_ranges) == ("", True, ((0, len(head)),))
    assert left_out == result.tokens_before - O200K.count(head)
    assert result.tokens_after >= 55  # the room is used
    assert result.source_refs == (f"0:{len(head)}",)


def test_head_keeps_the_end() -> None:
    result = check(TEXT, 60, "head")
    head, left_out, tail = parts(result)
    assert (head, TEXT.endswith(tail)) == ("", True)
    assert result.kept_ranges == ((len(TEXT) - len(tail), len(TEXT)),)
    assert left_out == result.tokens_before - O200K.count(tail)
    assert result.tokens_after >= 55


def test_middle_keeps_both_ends_alike() -> None:
    result = check(TEXT, 80, "middle")
    head, left_out, tail = parts(result)
    assert TEXT.startswith(head) and TEXT.endswith(tail)
    assert abs(O200K.count(head) - O200K.count(tail)) <= 2
    assert result.kept_ranges == ((0, len(head)), (len(TEXT) - len(tail), len(TEXT)))
    assert left_out == result.tokens_before - O200K.count(head) - O200K.count(tail)
    assert result.tokens_after >= 72


def test_lines_keeps_whole_lines_of_both_ends() -> None:
    result = check(LINES, 80, "lines")
    kept = result.text.splitlines(keepends=True)
    mark = next(n for n, line in enumerate(kept) if line.startswith("[…"))
    assert kept[:mark] == LINES.splitlines(keepends=True)[:mark]
    assert kept[mark + 1 :] == LINES.splitlines(keepends=True)[-len(kept[mark + 1 :]) :]
    assert mark >= 3 and len(kept) - mark - 1 >= 3


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_line_ends_as_its_file_ends_lines(end: str) -> None:
    text = LINES.replace("\n", end)
    result = check(text, 80, "lines")
    for start, stop in result.kept_ranges:
        assert start == 0 or text[:start].endswith(end)
        assert stop == len(text) or text[:stop].endswith(end)
    assert len(result.kept_ranges) == 2


def test_a_long_first_line_leaves_its_room_to_the_last_ones() -> None:
    text = "word " * 400 + "\n" + LINES
    result = check(text, 80, "lines")
    assert result.text.startswith("[… ")
    assert result.tokens_after >= 66
    text = LINES + "word " * 400
    result = check(text, 80, "lines")
    assert result.text.endswith(" …]")
    assert result.tokens_after >= 66


def test_one_line_that_does_not_fit_is_not_shown_in_part() -> None:
    result = check("word " * 400, 80, "lines")
    assert result.text == "[… 401 tokens cut …]"
    assert (result.cut, result.fits, result.kept_ranges) == (True, True, ())


@pytest.mark.parametrize("strategy", [*ENDS, "evidence", "json"])
def test_where_the_mark_does_not_fit_there_is_no_text(strategy: str) -> None:
    mark = O200K.count(tokens_cut(O200K.count(TEXT)))
    for limit in (-1, 0, 1, mark - 1):
        result = check(TEXT, limit, strategy)
        assert (result.text, result.tokens_after, result.cut, result.fits) == ("", 0, True, False)
        assert result.kept_ranges == ()
    result = check(TEXT, mark, strategy)
    assert (result.text, result.fits) == (tokens_cut(result.tokens_before), True)


@pytest.mark.parametrize("strategy", ["tail", "head", "middle"])
def test_a_cut_goes_around_a_grapheme(strategy: str) -> None:
    family = "👨\u200d👩\u200d👧\u200d👦"
    text = family * 60
    seen = set()
    for limit in range(20, 120):
        result = check(text, limit, strategy)
        head, _, tail = parts(result)
        assert set(head.split(family)) <= {""} and set(tail.split(family)) <= {""}
        seen.add((len(head), len(tail)))
    assert len(seen) > 3


@pytest.mark.parametrize("strategy", ["tail", "head", "middle"])
def test_crlf_is_not_parted(strategy: str) -> None:
    text = "ab\r\n" * 200
    for limit in range(12, 60):
        for start, stop in check(text, limit, strategy).kept_ranges:
            assert text[start : start + 1] != "\n"
            assert text[stop - 1 : stop] != "\r"


def test_a_single_cluster_that_does_not_fit_leaves_the_mark() -> None:
    result = check("a" + "\u0301" * 500, 30, "tail")
    assert result.text == tokens_cut(result.tokens_before)


@pytest.mark.parametrize(
    ("head", "tail", "expected"),
    [
        ("", "", "M"),
        ("a", "", "a\nM"),
        ("a\n", "", "a\nM"),
        ("", "b", "M\nb"),
        ("", "\nb", "M\nb"),
        ("a", "b", "a\nM\nb"),
        ("a\r", "b", "a\rM\nb"),
    ],
)
def test_the_mark_stands_on_a_line_of_its_own(head: str, tail: str, expected: str) -> None:
    assert joined(head, "M", tail) == expected


def test_every_named_strategy_but_role_cuts_text() -> None:
    for strategy in Strategy:
        if strategy is not Strategy.ROLE:
            assert truncate_text(TEXT, 50, strategy, O200K).fits
    with pytest.raises(UsageError, match="cuts a list of messages"):
        truncate_text(TEXT, 50, Strategy.ROLE, O200K)
    with pytest.raises(UsageError, match="no truncation strategy 'tall'") as caught:
        truncate_text(TEXT, 50, "tall", O200K)
    assert caught.value.help == "known: tail, head, middle, role, json, evidence, lines"


@pytest.mark.parametrize("strategy", [*ENDS, "evidence", "json"])
def test_a_lone_surrogate_is_refused(strategy: str) -> None:
    with pytest.raises(UnreadableSource):
        truncate_text("x" * 100 + "\ud800", 10, strategy, O200K)


@pytest.mark.parametrize("strategy", [*ENDS, "evidence"])
def test_any_tokenizer_will_do(strategy: str) -> None:
    estimate = tokens.get("estimate_000")
    result = truncate_text(TEXT, 50, strategy, estimate)
    assert result.cut and estimate.count(result.text) == result.tokens_after <= 50


def test_the_starts_of_lines_around_every_place_of_every_short_text() -> None:
    """LF, CR and CRLF end a line; the end of a text counts as a start."""
    for length in range(6):
        for characters in itertools.product("a\n\r", repeat=length):
            text = "".join(characters)
            starts = {0, length} | {m.end() for m in re.finditer(r"\r\n|\r|\n", text)}
            for at in range(length + 1):
                assert _line_start_before(text, at) == max(s for s in starts if s <= at), (text, at)
                assert _line_start_after(text, at) == min(s for s in starts if s >= at), (text, at)


class Rough:
    """Counts letters; a text that was put together costs more than its parts, as with real vocabularies."""

    def __init__(self, whole: int, marked: int) -> None:
        self.whole, self.marked = whole, marked

    def count(self, text: str) -> int:
        more = self.marked if " tokens cut …]" in text and len(text) > 40 else 0
        return len(text) + more + (self.whole if text == PLAIN else 0)

    def count_many(self, texts: list[str]) -> list[int]:
        return [self.count(text) for text in texts]

    def prefix(self, text: str, limit: int) -> int:
        return max(0, min(limit, len(text)))

    suffix = prefix


PLAIN = "".join(f"line {n:03d} says so.\n" for n in range(12))


@pytest.mark.parametrize("strategy", [*ENDS, "evidence"])
@pytest.mark.parametrize("marked", [0, 1, 7, 50])
@pytest.mark.parametrize("whole", [0, 60])
def test_a_cut_that_costs_more_than_its_parts_is_made_again(strategy: str, marked: int, whole: int) -> None:
    tokenizer = Rough(whole, marked)
    for limit in range(tokenizer.count(PLAIN) + 2):
        result = truncate_text(PLAIN, limit, strategy, tokenizer)  # type: ignore[arg-type]
        assert result.tokens_after == (tokenizer.count(result.text) if result.fits else 0)
        assert result.tokens_after <= limit or not result.fits
        assert result.cut == (limit < tokenizer.count(PLAIN))
        if limit >= 24 + 19 + marked + 25:  # the mark, a line, what both cost together, and a gap
            assert result.fits and any(end > start for start, end in result.kept_ranges), limit
