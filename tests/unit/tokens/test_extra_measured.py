"""A tokenizer made of a counting function: the store, counts of nothing, and cuts that are never over."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxc import tokens
from ctxc.base.errors import UnreadableSource
from ctxc.tokens.measured import Measured


def words(text: str) -> int:
    """A count that is not additive, may be nothing, and may be more than the bytes: what such vocabularies do."""
    shown = text.replace("\x07", "")
    return (2 if shown[:1].isdigit() else 0) + len(shown.split())


def made(store: tokens.CountStore | None = None, calls: list[str] | None = None, engine: str = "words/1") -> Measured:
    def measure(text: str) -> int:
        if calls is not None:
            calls.append(text)
        return words(text)

    return Measured(
        id="words", digest="ab" * 32, engine=engine, store=store or tokens.open_store(None), measure=measure
    )


def test_counts_of_nothing_and_of_more_than_the_bytes_are_kept(tmp_path: Path) -> None:
    texts = ["", "\x07", "7", "one two", "7", "中文 字"]
    for number in range(2):
        calls: list[str] = []
        with tokens.open_store(tmp_path) as store:
            assert made(store, calls).count_many(texts) == [0, 0, 3, 2, 3, 2]
        # Each text once, and in the second run none.
        assert calls == ([] if number else ["\x07", "7", "one two", "中文 字"])


def test_another_engine_counts_again(tmp_path: Path) -> None:
    for engine, asked in (("words/1", 1), ("words/1", 0), ("words/2", 1)):
        calls: list[str] = []
        with tokens.open_store(tmp_path) as store:
            assert made(store, calls, engine).count("a b") == 2
        assert len(calls) == asked, engine


def test_a_count_that_no_store_takes_is_still_right(tmp_path: Path) -> None:
    with tokens.open_store(tmp_path) as store:
        absurd = Measured(id="x", digest="00", engine="x", store=store, measure=lambda text: 1000)
        assert [absurd.count("a"), absurd.count("a")] == [1000, 1000]


def test_a_lone_surrogate_is_refused() -> None:
    for ask in (made().count, lambda text: made().prefix(text, 3), lambda text: made().suffix(text, 3)):
        with pytest.raises(UnreadableSource, match="lone surrogate"):
            ask("a \ud83d b")


@given(st.text(alphabet="ab1 \n\x07é字", max_size=400), st.integers(0, 60))
@settings(max_examples=200, deadline=None)
def test_an_end_is_never_over_and_the_whole_comes_back_where_it_fits(text: str, limit: int) -> None:
    tokenizer = made()
    front, back = tokenizer.prefix(text, limit), tokenizer.suffix(text, limit)
    assert 0 <= front <= len(text)
    assert 0 <= back <= len(text)
    if limit:
        assert tokenizer.count(text[:front]) <= limit
        assert tokenizer.count(text[len(text) - back :]) <= limit
        if tokenizer.count(text) <= limit:
            assert (front, back) == (len(text), len(text))
    else:
        assert (front, back) == (0, 0)


@pytest.mark.parametrize("limit", [1, 7, 100, 2_500, 9_999])
def test_a_long_text_is_cut_close_to_the_limit_without_counting_all_of_it(limit: int) -> None:
    text = "".join(f"word{n} and more\n" for n in range(10_000))
    calls: list[str] = []
    tokenizer = made(calls=calls)
    front, back = tokenizer.prefix(text, limit), tokenizer.suffix(text, limit)
    for piece in (text[:front], text[len(text) - back :]):
        # A suffix that begins with a digit counts two more than its words.
        assert limit - limit // 20 - 3 <= words(piece) <= limit
    # What was read is a small multiple of what was kept: pieces up to the limit, the cut piece by halves, the result.
    assert sum(map(len, calls)) <= 4 * (front + back) + 8 * 2 * 2_000


def test_a_stored_end_is_taken_and_a_wrong_one_is_not(tmp_path: Path) -> None:
    text = "one two three four five six"
    with tokens.open_store(tmp_path) as store:
        assert text[: made(store).prefix(text, 3)].split() == ["one", "two", "three"]
    calls: list[str] = []
    with tokens.open_store(tmp_path) as store:
        assert text[: made(store, calls).prefix(text, 3)].split() == ["one", "two", "three"]
        assert calls == []
    # A damaged entry that says more than fits is looked for again.
    with tokens.open_store(tmp_path) as store:
        tokenizer = made(store)
        owner = sha256(tokenizer._owner + b"prefix 3").digest()
        store.put_many(owner, [(text.encode() + bytes(16), len(text) + 1)])
        assert text[: tokenizer.prefix(text, 3)].split() == ["one", "two", "three"]
