"""evidence: the sentences that carry the proof stay."""

from __future__ import annotations

import re
import time

import pytest

from ctxc import tokens
from ctxc.compiler.truncate import Cut, truncate_text
from ctxc.compiler.truncate.evidence import _occurrences, _sentences

O200K = tokens.get("o200k_base")

FILLER = [f"This is filler sentence {n} of a long page that nobody asked about." for n in range(100, 140)]
PAGE = " ".join(
    [
        *FILLER[:10],
        "The deductible is 300 EUR per event [ev_17].",
        *FILLER[10:25],
        "Claims are answered within 30 days.",
        *FILLER[25:],
    ]
)


def check(text: str, limit: int, *keep: str) -> Cut:
    """A cut that holds what every cut must hold; the kept ranges are what stands between the marks."""
    result = truncate_text(text, limit, "evidence", O200K, keep=keep)
    assert result.tokens_after == O200K.count(result.text)
    assert result.tokens_before == O200K.count(text)
    if result.fits and result.cut:
        assert result.tokens_after <= limit
        at = 0
        for start, end in result.kept_ranges:
            assert text[start:end]
            at = result.text.index(text[start:end], at) + end - start
    return result


def test_sentences_with_a_span_an_id_or_a_number_stay() -> None:
    result = check(PAGE, 60, "ev_17", "30 days")
    assert "The deductible is 300 EUR per event [ev_17]." in result.text
    assert "Claims are answered within 30 days." in result.text
    assert result.text.index("ev_17") < result.text.index("30 days")
    assert result.lost == ()
    assert result.text.count("[…]") == len(result.kept_ranges) - (result.kept_ranges[0][0] == 0)
    assert result.text.endswith(" tokens cut …]")


def test_what_room_is_left_is_filled_from_the_start() -> None:
    result = check(PAGE, 120, "30 days")
    assert result.text.startswith(FILLER[0])
    assert result.kept_ranges[0][0] == 0 and len(result.kept_ranges) == 2
    assert result.tokens_after >= 95


def test_without_anything_to_keep_it_goes_sentence_by_sentence_from_the_start() -> None:
    for keep in ((), ("not in the text",), ("",)):
        result = check(PAGE, 100, *keep)
        assert len(result.kept_ranges) == 1 and result.kept_ranges[0][0] == 0
        assert PAGE[: result.kept_ranges[0][1]].endswith("about. ")
        assert result.lost == ()
        assert "[…]" not in result.text


def test_what_fits_is_whole_and_a_token_less_is_cut() -> None:
    tokens = O200K.count(PAGE)
    whole = check(PAGE, tokens, "ev_17")
    assert (whole.text, whole.cut, whole.fits) == (PAGE, False, True)
    assert check(PAGE, tokens - 1, "ev_17").cut


def test_it_fills_up_to_the_first_sentence_that_does_not_fit_and_no_further() -> None:
    long = "This one is much longer than all of the others, and it goes on and on about a matter of no interest. "
    text = "The first is short. " + long + "The third is short. " * 9
    assert [text[start:end] for start, end in check(text, 30).kept_ranges] == ["The first is short. "]


def test_a_gap_stands_between_white_space() -> None:
    text = (
        "".join(f"第{n}句话没有人问起过。" for n in range(20, 60))
        + "答复期限为30天。"
        + "".join("后面还有很多话。" * 40)
    )
    result = check(text, 40, "30天")
    assert re.search(r"。 \[…\] 答复期限为30天。", result.text), result.text
    assert "  " not in result.text


def test_what_did_not_fit_is_named() -> None:
    result = check(PAGE, 32, "ev_17", "30 days", "absent")
    assert "ev_17" in result.text
    assert result.lost == ("30 days",)
    result = check(PAGE, 9, "ev_17", "30 days")
    assert result.text == f"[… {result.tokens_before} tokens cut …]"
    assert result.lost == ("ev_17", "30 days")


def test_the_order_of_what_to_keep_is_its_rank() -> None:
    assert "30 days" in check(PAGE, 28, "30 days", "ev_17").text
    assert "ev_17" in check(PAGE, 32, "ev_17", "30 days").text


@pytest.mark.parametrize(
    ("text", "entry", "places"),
    [
        ("30 days", "30", [0]),
        ("130 days, 30, 30.5, 1,300, 30,5 and 30.", "30", [10, 36]),
        ("ev_17 and ev_171 and dev_17", "ev_17", [0]),
        ("赔偿30天内", "30", [2]),
        ("索赔在三十天内", "三十", [3]),
        ("aaaa", "aa", []),
        ("(EUR) EURO", "EUR", [1]),
        ("x", "xx", []),
        ("30 5 beds, 30-5, 30. 5 and 3.305", "30", [0, 11, 17]),
        ("a.5 a,b", "a", [0, 4]),
    ],
)
def test_an_entry_is_not_found_inside_a_longer_word_or_number(text: str, entry: str, places: list[int]) -> None:
    assert [start for start, _ in _occurrences(text, entry)] == places


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", ["One. ", "Two! ", "Three? ", "Four"]),
        ("It costs 3.50 EUR. Fine.", ["It costs 3.50 EUR. ", "Fine."]),
        ("第一句。第二句！第三句", ["第一句。", "第二句！", "第三句"]),
        ('He said "no." Then left.', ['He said "no." ', "Then left."]),
        ("line one\nline two\n\nline three", ["line one\n", "line two\n\n", "line three"]),
        ("Wait... what?! Yes.", ["Wait... ", "what?! ", "Yes."]),
        ("", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in _sentences(text, (), 400)] == expected


def test_a_span_over_the_end_of_a_sentence_is_not_parted() -> None:
    text = f"{' '.join(FILLER[:5])} It was agreed. On both sides. {' '.join(FILLER[5:])}"
    assert "agreed. On both" in check(text, 50, "agreed. On both").text


def test_a_long_sentence_is_split_around_the_span() -> None:
    text = "and then the log goes on without any stop " * 50 + "code E4711 was seen " + "and it goes on and on " * 100
    result = check(text, 60, "E4711")
    assert "E4711" in result.text and result.lost == ()
    text = "很长的没有标点的文字" * 100 + "编号E4711" + "继续很长的文字没有标点" * 100
    result = check(text, 120, "E4711")
    assert "E4711" in result.text and result.lost == ()


def test_long_inputs_end_soon() -> None:
    start = time.process_time()
    for text in (
        "." * 300_000 + "x",
        "." * 100_000 + "'" * 100_000 + "x",
        "ab" * 100_000,
        "a. " * 60_000,
        "\n" * 200_000,
    ):
        check(text, 50, "a", "ab", ".")
    assert time.process_time() - start < 10  # a quadratic search would take minutes
