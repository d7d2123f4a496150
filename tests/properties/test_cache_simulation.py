"""Whatever is sent to whichever kind of cache: tokens add up, nothing is read that was not written, twice is a hit."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from ctxc import providers
from ctxc.app.workspace import load_tree
from ctxc.model.provider import ModelRow, ProviderProfile
from ctxc.model.usage import Sent
from ctxc.source.memory import MemoryTree
from ctxc.usage.layout import lay_out
from ctxc.usage.placement import advise
from ctxc.usage.price import cost_of_call, read_prices
from ctxc.usage.simulate import simulate


class Words:
    """Counts words, so that examples are quick and sums are plain."""

    method, digest, id = "exact", "words", "words"

    def count(self, text: str) -> int:
        return len(text.split())

    def count_many(self, texts: list[str]) -> list[int]:
        return [self.count(t) for t in texts]

    def prefix(self, text: str, limit: int) -> int:
        return min(len(text), limit)

    def suffix(self, text: str, limit: int) -> int:
        return min(len(text), limit)


WORDS = Words()
MODELS = (
    ("anthropic", "claude-opus-5"),
    ("openai", "gpt-4o"),
    ("openai", "gpt-5.6-sol"),
    ("vllm", "gpt-oss-20b"),
    ("deepseek", "deepseek-v4-flash"),
    ("qwen", "qwen-plus"),
    ("gemini", "gemini-2.5-flash"),
)


@cache
def profiles() -> Mapping[str, ProviderProfile]:
    return load_tree(MemoryTree({})).providers


def find(model: tuple[str, str]) -> tuple[ProviderProfile, ModelRow]:
    profile = profiles()[model[0]]
    row = providers.find_row(profile, model[1])
    assert row is not None
    return profile, row


@st.composite
def block(draw: st.DrawFn, sizes: tuple[int, ...] = (600, 1100, 40, 1)) -> tuple[str, bool]:
    word = draw(st.sampled_from(["a", "b"]))
    return " ".join([word] * draw(st.sampled_from(sizes))), draw(st.sampled_from([False, True, False]))


@st.composite
def request(draw: st.DrawFn) -> dict[str, Any]:
    """Blocks with marks, in neutral form; each shape writes them its own way. An empty block is refused by some."""
    blocks = draw(st.sampled_from([block(), block(), block(sizes=(0, 1, 600, 1100))]))
    return {
        "system": draw(st.lists(blocks, max_size=3)),
        "turns": draw(st.lists(st.lists(blocks, min_size=1, max_size=3), min_size=1, max_size=5)),
    }


@st.composite
def conversation(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Requests that each go on where the one before ended; now and then one says something else in the middle."""
    value = draw(request())
    more = draw(st.lists(st.lists(block(), min_size=1, max_size=2), min_size=1, max_size=4))
    found = [{**value, "turns": [*value["turns"], *more[:n]]} for n in range(len(more) + 1)]
    if draw(st.booleans()):
        found.insert(draw(st.integers(0, len(found))), draw(request()))
    return found


REQUESTS = st.one_of(st.lists(request(), min_size=1, max_size=5), conversation(), conversation())


def written(value: dict[str, Any], model: tuple[str, str]) -> dict[str, Any]:
    provider, name = model
    roles = ("user", "model" if provider == "gemini" else "assistant")

    def part(text: str, mark: bool) -> dict[str, Any]:
        if provider == "gemini":
            return {"text": text}
        found: dict[str, Any] = {"type": "text", "text": text}
        if mark and provider in ("anthropic", "qwen"):
            found["cache_control"] = {"type": "ephemeral"}
        elif mark and name.startswith("gpt-5.6"):
            found["prompt_cache_breakpoint"] = {"mode": "explicit"}
        return found

    turns = [
        {"role": roles[n % 2], ("parts" if provider == "gemini" else "content"): [part(*b) for b in blocks]}
        for n, blocks in enumerate(value["turns"])
    ]
    system = [part(*b) for b in value["system"]]
    if provider == "gemini":
        return {"contents": turns, **({"systemInstruction": {"parts": system}} if system else {})}
    if provider == "anthropic":
        return {"model": name, "messages": turns, **({"system": system} if system else {})}
    return {"model": name, "messages": [*([{"role": "system", "content": system}] if system else []), *turns]}


def sent(values: list[dict[str, Any]], model: tuple[str, str]) -> list[Sent]:
    profile, row = find(model)
    shape = providers.shape(profile.shape)
    return [Sent(id=str(n), layout=lay_out(written(v, model), shape, row, WORDS)) for n, v in enumerate(values)]


EMPTY = ("", False)
GROWING = [{"system": [EMPTY], "turns": [[EMPTY]] * n} for n in (3, 4)]
"""A conversation whose whole prefix is read again, though a hidden preamble makes each request longer than it shows."""


@given(values=REQUESTS, model=st.sampled_from(MODELS))
@example(values=[{"system": [], "turns": [[EMPTY]]}, *GROWING], model=("vllm", "gpt-oss-20b"))
@settings(deadline=None)
def test_tokens_add_up_and_nothing_is_read_that_was_not_there(
    values: list[dict[str, Any]], model: tuple[str, str]
) -> None:
    profile, row = find(model)
    calls = sent(values, model)
    for one in calls:
        ends = [b.end for b in one.layout.blocks]
        assert ends == sorted(ends)
        assert not ends or ends[-1] <= one.layout.total
    found = simulate(calls, profile, row, WORDS)
    assert found == simulate(calls, profile, row, WORDS)
    longest = 0
    for call in found.calls:
        assert call.input == call.read + call.written + call.uncached
        assert min(call.read, call.written, call.uncached, call.lost) >= 0
        assert sum(call.written_by_ttl.values()) == call.written
        assert call.read <= longest
        longest = max(longest, call.input)
        assert call.reason
        assert (call.reason == "refused") == bool(call.problems)
        if call.reason in ("first_request", "below_minimum", "no_breakpoint", "not_cached", "refused"):
            assert call.read == 0
    assert found.calls[0].read == 0


@given(value=request(), model=st.sampled_from(MODELS))
@settings(deadline=None)
def test_the_same_request_again_reads_all_that_was_cached(value: dict[str, Any], model: tuple[str, str]) -> None:
    profile, row = find(model)
    first, second = simulate(sent([value, value], model), profile, row, WORDS).calls
    assert second.written == 0
    assert second.read >= first.written
    assert second.lost == 0
    assert second.difference is None
    if first.written:
        assert second.reason == "cache_hit"


@given(values=REQUESTS, model=st.sampled_from(MODELS[:3]))
@settings(deadline=None, max_examples=40)
def test_advice_is_never_dearer_and_money_adds_up(values: list[dict[str, Any]], model: tuple[str, str]) -> None:
    profile, row = find(model)
    prices = read_prices({"input": "4", "output": "20", "cache_read": "0.4", "cache_write": {"5m": "5", "30m": "5"}})
    assert prices is not None
    calls = sent(values, model)
    for call in simulate(calls, profile, row, WORDS).calls:
        cost = cost_of_call(prices, call)
        assert cost.without_cache == cost_of_call(prices, call, "none").total
        assert cost_of_call(prices, call, "warm").total <= cost.without_cache
        assert cost.total <= cost_of_call(prices, call, "cold").total
    advice = advise(calls, profile, row, WORDS, prices)
    if advice is not None:
        assert advice.best.cost <= advice.none.cost
        assert advice.best.cost <= min(o.cost for o in (advice.best, *advice.others))
