"""Caches that find prefixes by themselves, breakpoints of GPT-5.6, stored prefixes of Gemini."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from usage_samples import words

from ctxc.model.usage import Call, Sent
from ctxc.usage.simulate import simulate

OLD = ("openai", "gpt-4o")
NEW = ("openai", "gpt-5.6-sol")


def chat(system: str, *users: str, **more: Any) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [{"role": "system", "content": system}]
    for number, user in enumerate(users):
        messages.append({"role": "user", "content": user})
        if number < len(users) - 1:
            messages.append({"role": "assistant", "content": f"answer {number}"})
    return {"model": "x", "messages": messages, **more}


def test_openai_reads_the_common_prefix_in_steps_of_128(play: Callable[..., list[Call]]) -> None:
    first, second, third = play(*OLD, chat(words(1500), "a b"), chat(words(1500), "c d"), chat(words(1500), "c d"))
    # 1,500 words and 4 around them, a message of 4 and two words, 3 to begin the answer with.
    assert first.input == 1513
    assert (first.read, first.written, first.reason) == (0, 0, "first_request")
    # Shared: 1,504 tokens of the system message and the opening of the next; rounded down to 11 times 128.
    assert (second.read, second.reason) == (1408, "cache_hit")
    assert (third.read, third.uncached) == (1408, 105)


def test_a_prefix_is_cut_inside_a_message(play: Callable[..., list[Call]]) -> None:
    before, after = words(1300) + " " + words(300, "old"), words(1300) + " " + words(300, "new")
    _, second = play(*OLD, chat(before, "a"), chat(after, "a"))
    assert second.read == 1280
    assert (second.reason, second.lost) == ("input_changed", 256)
    assert second.difference is not None
    assert 1300 <= second.difference.tokens <= 1304
    assert second.difference.byte == len(f'{{"role":"system"}}{words(1300)} ')


def test_below_1024_tokens_nothing_is_read(play: Callable[..., list[Call]]) -> None:
    one = chat(words(1000), "a")
    assert [c.reason for c in play(*OLD, one, one)] == ["below_minimum"] * 2


def test_a_prefix_in_memory_expires(play: Callable[..., list[Call]]) -> None:
    one = chat(words(1500), "a")
    calls = play(*OLD, one, one, one, at=(0, 300, 601))
    assert [c.reason for c in calls] == ["first_request", "cache_hit", "expired"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"reasoning_effort": "low"}, "reasoning_effort_changed"),
        ({"verbosity": "low"}, "verbosity_changed"),
        ({"service_tier": "flex"}, "service_tier_changed"),
        ({"prompt_cache_key": "k2"}, "prompt_cache_key_changed"),
        ({"model": "y"}, "model_changed"),
        ({"parallel_tool_calls": False}, "tools_changed"),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {}}}},
            "text_format_changed",
        ),
        ({"tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}]}, "tools_changed"),
    ],
)
def test_openais_own_names(play: Callable[..., list[Call]], change: dict[str, Any], reason: str) -> None:
    base = chat(words(1500), "a", prompt_cache_key="k1")
    assert play(*OLD, base, {**base, **change})[1].reason == reason


def test_gpt_5_5_writes_every_2048_tokens(play: Callable[..., list[Call]]) -> None:
    one, other = chat(words(5000), "a"), chat(words(5000), "b")
    assert play("openai", "gpt-5.5", one, other)[1].read == 4096


def test_the_trap_of_gpt_5_6_and_its_remedy(play: Callable[..., list[Call]]) -> None:
    # A static developer message under a user message that changes: nothing is found.
    first, second = play(*NEW, chat(words(2000), "a"), chat(words(2000), "b"))
    assert (first.written, first.uncached) == (2009, 2)
    assert (second.read, second.written, second.reason) == (0, 2009, "input_changed")
    assert "2,004 tokens before it are the same and no breakpoint stands after them" in second.detail
    # An explicit breakpoint after the static part: it is.
    part = {"type": "text", "text": words(2000), "prompt_cache_breakpoint": {"mode": "explicit"}}

    def marked(user: str, **more: Any) -> dict[str, Any]:
        return {
            "model": "x",
            "messages": [{"role": "developer", "content": [part]}, {"role": "user", "content": user}],
            **more,
        }

    first, second = play(*NEW, marked("a"), marked("b"))
    assert (first.written, second.read, second.written) == (2009, 2003, 6)
    # In explicit mode nothing is written after the user's message.
    explicit = {"prompt_cache_options": {"mode": "explicit"}}
    first, second = play(*NEW, marked("a", **explicit), marked("b", **explicit))
    assert (first.written, second.read, second.written, second.uncached) == (2003, 2003, 0, 8)
    assert second.reason == "cache_hit"


def test_explicit_mode_without_a_breakpoint_caches_nothing(play: Callable[..., list[Call]]) -> None:
    one = chat(words(2000), "a", prompt_cache_options={"mode": "explicit"})
    assert [(c.read, c.written, c.reason) for c in play(*NEW, one, one)] == [(0, 0, "no_breakpoint")] * 2


def test_a_conversation_is_found_at_its_earlier_message_ends(play: Callable[..., list[Call]]) -> None:
    system = words(2000)
    calls = play(*NEW, chat(system, "a"), chat(system, "a", "b"), chat(system, "a", "b", "c"))
    assert [c.read for c in calls] == [0, 2009, 2020]
    assert [c.reason for c in calls] == ["first_request", "cache_hit", "cache_hit"]
    assert [c.written for c in calls] == [2009, 11, 11]


def test_gpt_5_6_writes_at_most_four_breakpoints(play: Callable[..., list[Call]]) -> None:
    content = [
        {"type": "text", "text": words(1100, f"p{n}_"), "prompt_cache_breakpoint": {"mode": "explicit"}}
        for n in range(5)
    ]
    request = {"model": "x", "messages": [{"role": "user", "content": content}, {"role": "user", "content": "go"}]}
    call = play(*NEW, request)[0]
    assert [m.outcome for m in call.marks] == ["ignored", "ignored", "written", "written", "written", "written"]
    assert [m.implicit for m in call.marks] == [False] * 5 + [True]


def test_blocks_of_a_key_value_cache(play: Callable[..., list[Call]]) -> None:
    one = chat(words(100), "a")
    call = play("vllm", "gpt-oss-20b", one, one)[1]
    assert (call.read, call.written) == ((call.input - 1) // 16 * 16, 0)
    deep = chat(words(1000), "a")
    call = play("deepseek", "deepseek-v4-flash", deep, deep)[1]
    # 128 tokens a block, the last whole one of what was stored is withheld.
    assert call.read == (call.input // 128 - 1) * 128


def content(text: str, **more: Any) -> dict[str, Any]:
    return {"model": "gemini-2.5-flash", "contents": [{"role": "user", "parts": [{"text": text}]}], **more}


def test_a_stored_prefix_is_input_and_is_read(who: Any, lay: Any, words_only: Any) -> None:
    profile, row = who("gemini", "gemini-2.5-flash")
    stored = lay("gemini", "gemini-2.5-flash", content(words(3000), ttl="120s"))
    asked = lay("gemini", "gemini-2.5-flash", content("how many", cachedContent="cachedContents/abc"))
    sent = [
        Sent(id="store", layout=stored, creates=True, ttl="120s", at=0),
        Sent(id="ask", layout=asked, at=60),
        Sent(id="late", layout=asked, at=200),
    ]
    store, ask, late = simulate(sent, profile, row, words_only).calls
    assert (store.input, store.written, store.uncached, store.reason) == (stored.total, stored.total, 0, "stored")
    assert (ask.input, ask.read, ask.uncached) == (stored.total + asked.total, stored.total, asked.total)
    assert (ask.reason, ask.guaranteed) == ("cache_hit", True)
    assert (late.read, late.reason) == (0, "expired")
    alone = simulate([Sent(id="ask", layout=asked)], profile, row, words_only).calls[0]
    assert (alone.reason, alone.read) == ("unknown_resource", 0)
    assert "before this log begins" in alone.detail


def test_geminis_implicit_cache_promises_nothing(play: Callable[..., list[Call]]) -> None:
    calls = play("gemini", "gemini-2.5-flash", content(words(3000) + " a"), content(words(3000) + " b"))
    assert calls[1].read >= 2900
    assert not calls[1].guaranteed


def test_a_model_without_a_cache(play: Callable[..., list[Call]]) -> None:
    one = chat(words(2000), "a")
    assert [c.reason for c in play("openai", "gpt-4", one, one)] == ["not_cached"] * 2


def test_text_that_openai_hides_is_in_no_cached_prefix(play: Callable[..., list[Call]], lay: Any) -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
    request = chat(words(1500), "a", tools=[tool])
    layout = lay("openai", "gpt-5.2", request)
    # Behind the last block: the 2 tokens that begin the answer, and the 82 that only Chat adds.
    assert layout.total - layout.blocks[-1].closed == 84
    breakpoint_ = {"prompt_cache_breakpoint": {"mode": "explicit"}}
    part = {"type": "text", "text": words(1500), **breakpoint_}
    marked = {"model": "x", "tools": [tool], "messages": [{"role": "developer", "content": [part]}]}
    call = play("openai", "gpt-5.6", {**marked, "prompt_cache_options": {"mode": "explicit"}})[0]
    assert call.uncached == 85
