"""What holds of counting and cutting for any text, any limit and any tokenizer."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
import regex
import tiktoken
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxc import tokens
from ctxc.base.text import is_boundary
from ctxc.compiler.truncate import (
    Cut,
    group_messages,
    truncate_json,
    truncate_text,
)
from ctxc.model.section import Message, ToolCall
from ctxc.tokens.tokenizers import cl100k_base, o200k_base
from ctxc.tokens.vocabulary import VOCABULARIES, load_ranks

ORDINARY = settings(
    max_examples=200,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    derandomize=True,
)
MANY = settings(ORDINARY, max_examples=5_000)

PIECES = [
    *("The deductible is 300 EUR. ", "赔偿应在30天内支付。", "word ", "\n", "\r\n", "\r", " " * 9, "\t", "a" * 40),
    *(
        "👨\u200d👩\u200d👧\u200d👦",
        "🇨🇭",
        "🇨",
        "👋🏽",
        "e\u0301",
        "\u0301",
        "\u200d",
        "각",
        "\u1100\u1161\u11a8",
        "क्षि",
        "ก็",
    ),
    *("<|endoftext|>", "<|im_start|>", "[… 3 tokens cut …]", "…", "\x00", "\ufffd", "\ufeff", "\u202e", "\u2028"),
    *("ev_17", "1,300.50", "0x1F", "=" * 17, '{"a": [1, 2]}', "''s'S", "ſ", "ǅ"),
]
CHARACTERS = st.characters(exclude_categories=["Cs"])
TEXTS = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=60).map("".join),
    st.lists(st.one_of(st.sampled_from(PIECES), st.text(CHARACTERS, max_size=8)), max_size=40).map("".join),
    st.text(CHARACTERS, max_size=200),
)
LIMITS = st.one_of(st.integers(-1, 30), st.integers(0, 300))
NAMES = st.sampled_from(("o200k_base", "cl100k_base", "estimate_000"))
TEXT_STRATEGIES = st.sampled_from(["tail", "head", "middle", "lines", "evidence", "json"])
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXTS)
KEYS = st.one_of(
    st.sampled_from(["id", "status", "error", "artifact_ref", "a/b", "~", "_truncated"]),
    st.text(CHARACTERS, max_size=5),
)
VALUES = st.recursive(
    SCALARS, lambda v: st.one_of(st.lists(v, max_size=12), st.dictionaries(KEYS, v, max_size=8)), max_leaves=40
)

STORES = {name: tokens.get(name) for name in ("o200k_base", "cl100k_base", "estimate_000")}


@cache
def reference(name: str) -> tiktoken.Encoding:
    """tiktoken itself on the same ranks."""
    base = "cl100k_base" if name == "cl100k_base" else "o200k_base"
    pattern = cl100k_base.PATTERN if base == "cl100k_base" else o200k_base.PATTERN
    return tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=load_ranks(VOCABULARIES[base]), special_tokens={})


def both(*strategies: st.SearchStrategy[Any]) -> Any:
    """A check as an ordinary test and, under the marker ``slow``, with thousands of examples."""

    def decorate(check: Any) -> Any:
        @pytest.mark.parametrize("examples", ["ordinary", pytest.param("many", marks=pytest.mark.slow)])
        def run(examples: str) -> None:
            asked = ORDINARY if examples == "ordinary" else MANY
            asked(given(st.tuples(*strategies))(lambda values: check(*values)))()

        run.__doc__ = check.__doc__
        return run

    return decorate


@both(NAMES.filter(lambda name: name != "estimate_000"), st.lists(TEXTS, max_size=5))
def test_counts_are_those_of_tiktoken(name: str, texts: list[str]) -> None:
    expected = [len(reference(name).encode_ordinary(text)) for text in texts]
    assert tokens.get(name).count_many(texts) == expected
    assert [STORES[name].count(text) for text in texts] == expected


@both(NAMES, TEXTS, LIMITS)
def test_ends_are_never_over(name: str, text: str, limit: int) -> None:
    tokenizer = STORES[name]
    before, after = tokenizer.prefix(text, limit), tokenizer.suffix(text, limit)
    assert 0 <= before <= len(text) and 0 <= after <= len(text)
    assert tokenizer.count(text[:before]) <= max(limit, 0)
    assert tokenizer.count(text[len(text) - after :]) <= max(limit, 0)
    if tokenizer.count(text) <= limit:
        assert (before, after) == (len(text), len(text))


def boundaries(text: str) -> set[int]:
    """Every grapheme boundary of a text, by enumeration."""
    return {0, len(text), *(match.end() for match in regex.finditer(r"\X", text))}


def holds(text: str, limit: int, result: Cut, name: str) -> None:
    """What every cut of a text promises."""
    tokenizer = STORES[name]
    assert result.tokens_before == tokenizer.count(text)
    assert result.tokens_after == tokenizer.count(result.text)
    assert result.fits == (result.tokens_after <= limit and (bool(result.text) or not text))
    assert "\ufffd" in text or "\ufffd" not in result.text
    if result.tokens_before <= limit:
        assert (result.text, result.cut) == (text, False)
        return
    at, previous = 0, 0
    places = boundaries(text)
    for start, end in result.kept_ranges:
        assert previous <= start < end <= len(text)
        assert {start, end} <= places
        at, previous = result.text.index(text[start:end], at) + end - start, end
    if result.cut and result.fits and result.strategy != "json":
        kept = "".join(text[start:end] for start, end in result.kept_ranges)
        assert result.text.count(" tokens cut …]") == kept.count(" tokens cut …]") + 1


@both(NAMES, TEXT_STRATEGIES, TEXTS, LIMITS, st.lists(st.one_of(st.sampled_from(PIECES), TEXTS), max_size=3))
def test_every_strategy_holds_its_promises(name: str, strategy: str, text: str, limit: int, keep: list[str]) -> None:
    result = truncate_text(text, limit, strategy, STORES[name], keep=keep)
    holds(text, limit, result, name)
    again = truncate_text(text, limit, strategy, tokens.get(name), keep=keep)
    assert again == result
    if strategy == "evidence" and result.fits and result.cut:
        assert all(entry in text for entry in result.lost)
    if strategy == "json" and result.fits and result.cut and result.strategy == "json":
        assert json.loads(result.text) == result.value


@both(NAMES, VALUES, LIMITS)
def test_a_cut_value_is_valid_json_and_fits(name: str, value: object, limit: int) -> None:
    tokenizer = STORES[name]
    result = truncate_json(value, limit, tokenizer)
    assert tokenizer.count(result.text) == result.tokens_after
    if not result.fits:
        assert (result.text, result.value) == ("", None)
        return
    assert result.tokens_after <= limit
    assert json.loads(result.text) == result.value
    if not result.cut:
        assert result.value == value
        return
    assert result.removed
    assert "_truncated" in result.text or " more]" in result.text
    if isinstance(value, dict) and isinstance(result.value, dict) and not result.lost:
        for key in ("id", "status", "error", "artifact_ref"):
            if key in value and isinstance(value[key], (bool, int, float, type(None))):
                assert result.value[key] == value[key]
    shrinks(value, result.value)


def shrinks(before: object, after: object) -> None:
    """A cut value holds nothing that was not there, marks apart."""
    if before == after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        extra = set(after) - set(before)
        assert all(key.startswith("_truncated") for key in extra) and len(extra) <= 1
        for key in set(after) & set(before):
            shrinks(before[key], after[key])
    elif isinstance(before, list) and isinstance(after, list):
        if after and after[-1] == {"_truncated": len(before) - len(after) + 1}:
            after = after[:-1]
        assert len(after) <= len(before)
        for old, new in zip(before, after, strict=False):
            shrinks(old, new)
    elif isinstance(before, str) and isinstance(after, str):
        kept, _, number = after.rpartition("… [")
        assert before.startswith(kept) and number == f"{len(before) - len(kept)} more]"
        assert is_boundary(before, len(kept)) and len(kept) in boundaries(before)
    else:
        assert isinstance(after, dict) and set(after) == {"_truncated"}  # nothing of it fits


@st.composite
def histories(draw: st.DrawFn) -> list[Message]:
    """Messages in any order, calls with and without results, results with and without calls."""
    ids = st.sampled_from(["1", "2", "3", "4", "5", ""])
    made = st.one_of(
        st.builds(Message, role=st.sampled_from(["user", "user", "assistant", "system"]), content=st.just("x")),
        st.builds(
            lambda given: Message(
                role="assistant", content="", tool_calls=tuple(ToolCall(id=i, name="f", arguments="{}") for i in given)
            ),
            st.lists(ids, min_size=1, max_size=2, unique=True),
        ),
        st.builds(lambda id: Message(role="tool", content="r", tool_call_id=id), ids),
    )
    return draw(st.lists(made, max_size=25))


@both(histories())
def test_a_history_is_grouped_without_loss_and_pairs_stay_together(messages: list[Message]) -> None:
    units = group_messages(messages)
    assert [message for unit in units for message in unit.messages] == messages
    # A result never loses the call that it answers: the nearest one before it with its id.
    seen: dict[str, int] = {}
    place = {unit.start + n: index for index, unit in enumerate(units) for n in range(len(unit.messages))}
    for at, message in enumerate(messages):
        if message.role == "tool" and (message.tool_call_id or "") in seen:
            assert place[at] == place[seen[message.tool_call_id or ""]]
        seen |= {call.id: at for call in message.tool_calls}
