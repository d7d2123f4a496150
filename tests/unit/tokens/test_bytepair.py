"""Exact counts: equal to tiktoken everywhere, right where tiktoken panics, refused where there is no right answer."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
import regex
import tiktoken

from ctxc import tokens
from ctxc.base.errors import InternalFault, UnreadableSource
from ctxc.tokens import bytepair

NAMES = ["o200k_base", "cl100k_base", "o200k_harmony"]
Reference = Callable[[str], tiktoken.Encoding]

SAMPLES = [
    "Count me without a network.",
    "don't DON'T we'll WE'LL it's",
    "<|endoftext|><|im_start|>system<|im_end|>",
    "索赔在2026年10月31日提交。",
    "family 👨‍👩‍👧‍👦 flag 🇨🇭 wave 👋🏽 é",
    "\r\n\r\n  \t x\n\n/y",
    "a\x00b\x1c\x85\u2028",
    "1234567890 12 1",
]


@pytest.mark.parametrize("name", NAMES)
def test_counts_are_those_of_tiktoken(name: str, reference: Reference) -> None:
    expected = [len(reference(name).encode_ordinary(text)) for text in SAMPLES]
    assert [tokens.get(name).count(text) for text in SAMPLES] == expected
    assert tokens.get(name).count_many([*SAMPLES, *SAMPLES]) == [*expected, *expected]


@pytest.mark.parametrize("name", NAMES)
def test_western_texts_need_the_western_tokens_alone(
    name: str, reference: Reference, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bytepair, "_encodings", {})
    rnd = random.Random(11)
    words = ["don't", "DON'T", "<|endoftext|>", "internationalisation", "\r\n", "  \t", "12345", "/y", "\x00", "~\x7f"]
    texts = [
        "".join(
            rnd.choice(
                [*words, *map(chr, range(256)), *"\u2026\u201c\u201d\u2013\u2192\u2fff", "na\u00efve \u2026 \u00dcber"]
            )
            for _ in range(rnd.randint(1, 200))
        )
        for _ in range(300)
    ]
    tokenizer = tokens.get(name)
    assert [tokenizer.encode(text) for text in texts] == [reference(name).encode_ordinary(text) for text in texts]
    assert tokenizer.count_many(texts) == [len(reference(name).encode_ordinary(text)) for text in texts]
    assert [western for _, western in bytepair._encodings] == [True]
    mixed = ["plain", "\u7d22\u8d54", "\u0153uvre", "\U0001f44b"]
    assert [tokenizer.encode(text) for text in mixed] == [reference(name).encode_ordinary(text) for text in mixed]
    assert [western for _, western in bytepair._encodings] == [True, False]


def test_texts_of_several_scripts_load_one_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bytepair, "_encodings", {})
    monkeypatch.setattr(tokens.get("o200k_base"), "_store", tokens.open_store(None))
    monkeypatch.setattr(tokens.get("o200k_base"), "_recent", {"": 0})
    tokens.get("o200k_base").count_many(["plain words first", "\u7d22\u8d54 next"])
    assert [western for _, western in bytepair._encodings] == [False]


def test_known_counts() -> None:
    o200k, cl100k = tokens.get("o200k_base"), tokens.get("cl100k_base")
    assert (o200k.count(""), cl100k.count("")) == (0, 0)
    assert o200k.count_many(["", "a", ""]) == [0, 1, 0]
    assert (o200k.count("<|endoftext|>"), cl100k.count("<|endoftext|>")) == (7, 7)
    assert (o200k.count("hello world"), cl100k.count("hello world")) == (2, 2)


def test_many_texts_are_counted_at_once_with_the_same_result(reference: Reference) -> None:
    rnd = random.Random(7)
    texts = [" ".join(rnd.choice(SAMPLES) for _ in range(rnd.randint(1, 60))) for _ in range(700)]
    expected = [len(reference("o200k_base").encode_ordinary(text)) for text in texts]
    assert tokens.get("o200k_base").count_many(texts) == expected


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\ud83d\ude00", "line\n two \udead"])
@pytest.mark.parametrize("call", ["count", "count_many", "prefix", "suffix"])
def test_a_lone_surrogate_is_refused_with_its_place(text: str, call: str) -> None:
    tokenizer = tokens.get("o200k_base")
    calls: dict[str, Callable[[], object]] = {
        "count": lambda: tokenizer.count(text),
        "count_many": lambda: tokenizer.count_many(["fine", text]),
        "prefix": lambda: tokenizer.prefix(text, 1),
        "suffix": lambda: tokenizer.suffix(text, 1),
    }
    with pytest.raises(UnreadableSource, match=r"lone surrogate U\+D[0-9A-F]{3} \(its line \d, column \d\)") as caught:
        calls[call]()
    assert caught.value.help


# -- long runs of whitespace -------------------------------------------------------------------------------------------


def test_tiktoken_itself_panics_there(reference: Reference) -> None:
    """The reason for the blocks. When this fails, tiktoken has been mended and they may go."""
    with pytest.raises(BaseException, match="StackOverflow") as caught:
        reference("o200k_base").encode_ordinary(" " * 1_100_000 + "x")
    assert type(caught.value).__name__ == "PanicException"


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
@pytest.mark.parametrize(
    "text",
    [
        "before " + " " * 40 + "x after 's 12 \n",
        "a\nb\n" + "\t" * 41 + "1\nnext line\n/slash\nend",
        "!" + "\n" * 50 + "x",
        "é!\u0301\n\n" + " \n" * 30 + "/y\nz",
        "x" + " " * 60,
        "\n" * 40 + "a" + " " * 40 + "b\nc" + "\u3000" * 45,
        " \x1c" * 30 + "x\n" * 20,
    ],
)
def test_blocks_and_pieces_encode_as_the_whole(
    name: str, text: str, reference: Reference, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the threshold made small, so that tiktoken can still say what is right."""
    monkeypatch.setattr(bytepair, "LONG_RUN", 30)
    monkeypatch.setattr(bytepair, "_LONG_RUN", bytepair.re.compile(r"(?<!\s)\s{30}"))
    assert any(long_run for _, long_run in bytepair._blocks(text))
    assert "".join(block for block, _ in bytepair._blocks(text)) == text
    assert tokens.get(name).encode(text) == reference(name).encode_ordinary(text)  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
def test_places_between_blocks_are_safe(name: str, reference: Reference, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bytepair, "LONG_RUN", 4)
    monkeypatch.setattr(bytepair, "_LONG_RUN", bytepair.re.compile(r"(?<!\s)\s{4}"))
    rnd = random.Random(11)
    alphabet = [*"aAsStT19 '!/\\\n\n\r\t   ", "'s", "ſ", "\u0301", "\u00a0", "\u2028", "\x85", "\x1c", "中", "ǅ", "😀"]
    tokenizer, whole = tokens.get(name), reference(name)
    several = 0
    for _ in range(20_000):
        text = "".join(rnd.choice(alphabet) for _ in range(rnd.randint(1, 30)))
        several += len(list(bytepair._blocks(text))) > 1
        assert tokenizer.encode(text) == whole.encode_ordinary(text), ascii(text)  # type: ignore[attr-defined]
    assert several > 500


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
def test_a_million_spaces_are_counted(name: str) -> None:
    tokenizer = tokens.get(name)
    # One piece of all spaces but the last, which goes with the x; the longest token of spaces holds 128.
    assert tokenizer.count(" " * (128 * 8_000) + " x") == 8_000 + 1
    assert tokenizer.count("head\n" + " " * (128 * 8_000) + " x\ntail") == 8_000 + 1 + tokenizer.count("head\n") + 2


def test_a_run_just_under_the_threshold_costs_linear_time_to_look_for() -> None:
    text = (" " * (bytepair.LONG_RUN - 1) + "x") * 3
    assert not bytepair._LONG_RUN.search(text)


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
@pytest.mark.slow
def test_both_engines_agree_on_every_assigned_character(name: str, reference: Reference) -> None:
    """What the module's docstring claims of the block with a long run."""
    import unicodedata

    whole, tokenizer = reference(name), tokens.get(name)
    wrong = []
    for point in range(0x110000):
        c = chr(point)
        if unicodedata.category(c) in ("Cs", "Cn"):
            continue
        text = f"a{c}b 1{c}2 !{c}! {c}\n{c}'{c}  {c}A{c}'s"
        pieces = [piece.group() for piece in regex.finditer(tokenizer._pattern, text)]  # type: ignore[attr-defined]
        if [i for piece in pieces for i in whole._encode_single_piece(piece)] != whole.encode_ordinary(text):
            wrong.append(hex(point))
    assert wrong == []


def test_a_panic_becomes_an_error_with_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    class PanicException(BaseException):
        pass

    class Panicking:
        def encode_ordinary(self, text: str) -> list[int]:
            raise PanicException("called `Result::unwrap()` on an `Err` value")

    monkeypatch.setattr(bytepair.BytePair, "_encoding", lambda self, western: Panicking())
    with pytest.raises(InternalFault, match="o200k_base gave up on a text of 3 characters"):
        tokens.get("o200k_base").count("abc")


def test_other_base_exceptions_pass_through(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted:
        def encode_ordinary(self, text: str) -> list[int]:
            raise KeyboardInterrupt

    monkeypatch.setattr(bytepair.BytePair, "_encoding", lambda self, western: Interrupted())
    with pytest.raises(KeyboardInterrupt):
        tokens.get("o200k_base").count("abc")


# -- prefix and suffix -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
def test_ends_at_every_limit(name: str) -> None:
    tokenizer = tokens.get(name)
    for text in SAMPLES:
        total = tokenizer.count(text)
        for limit in range(-1, total + 2):
            before, after = tokenizer.prefix(text, limit), tokenizer.suffix(text, limit)
            assert tokenizer.count(text[:before]) <= max(limit, 0)
            assert tokenizer.count(text[len(text) - after :]) <= max(limit, 0)
            if limit >= total:
                assert (before, after) == (len(text), len(text))


def test_a_prefix_is_about_as_long_as_the_limit_allows() -> None:
    tokenizer = tokens.get("o200k_base")
    text = "The insurer shall answer within thirty days, else the claim counts as accepted. " * 400
    for limit in (1, 10, 500, 5_000):
        assert tokenizer.count(text[: tokenizer.prefix(text, limit)]) == limit
        assert tokenizer.count(text[len(text) - tokenizer.suffix(text, limit) :]) == limit


def test_ends_do_not_need_the_whole_of_a_long_text(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = tokens.get("o200k_base")
    seen: list[int] = []
    encode = bytepair.BytePair._encode

    def spy(self: bytepair.BytePair, text: str) -> list[int]:
        seen.append(len(text))
        return encode(self, text)

    monkeypatch.setattr(bytepair.BytePair, "_encode", spy)
    tokenizer.prefix("word " * 200_000, 100)
    tokenizer.suffix("word " * 200_000, 100)
    assert max(seen) <= 2_400


def test_an_end_inside_a_long_run() -> None:
    tokenizer = tokens.get("o200k_base")
    text = "a" * 300_000
    for limit in (1, 7, 100):
        assert tokenizer.prefix(text, limit) > 0
        assert tokenizer.count(text[: tokenizer.prefix(text, limit)]) <= limit
