"""Marks, look-back, minimum, time to live, order: the cache of Claude, in words that can be added up by hand.

A user message costs a frame of 6 (3 in front, 3 behind the last block) with claude-opus-5, whose minimum is 512 tokens.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from usage_samples import BLOCK, words

from ctxc.model.usage import Call

OPUS = ("anthropic", "claude-opus-5")
MARK = {"type": "ephemeral"}


def block(count: int, word: str, *, mark: dict[str, str] | None = None) -> dict[str, Any]:
    value: dict[str, Any] = {"type": "text", "text": words(count, word)}
    if mark:
        value["cache_control"] = mark
    return value


def ask(user: str, *, system: list[dict[str, Any]] | None = None, **more: Any) -> dict[str, Any]:
    return {
        "model": "claude-opus-5",
        "system": system if system is not None else [block(BLOCK, "policy", mark=MARK)],
        "messages": [{"role": "user", "content": user}],
        **more,
    }


def numbers(call: Call) -> tuple[int, int, int, int, str]:
    return call.input, call.read, call.written, call.uncached, call.reason


def test_the_first_call_writes_and_the_second_reads(play: Callable[..., list[Call]]) -> None:
    first, second = play(*OPUS, ask("one two"), ask("three four five"))
    # 600 of the system text; 3 in front of the user's words, 3 behind them.
    assert numbers(first) == (608, 0, 600, 8, "first_request")
    assert numbers(second) == (609, 600, 0, 9, "cache_hit")
    assert first.written_by_ttl == {"5m": 600}
    assert [(m.tokens, m.outcome) for m in second.marks] == [(600, "read")]


def test_below_the_minimum_nothing_is_cached_and_it_is_said(play: Callable[..., list[Call]]) -> None:
    system = [block(511, "policy", mark=MARK)]
    first, second = play(*OPUS, ask("one", system=system), ask("one", system=system))
    assert numbers(first) == numbers(second) == (518, 0, 0, 518, "below_minimum")
    assert "minimum of 512 tokens" in second.detail
    assert play(*OPUS, ask("one", system=[block(512, "policy", mark=MARK)]))[0].written == 512


def test_a_mark_on_what_changes_writes_every_time(play: Callable[..., list[Call]]) -> None:
    def turn(user: str) -> dict[str, Any]:
        return {
            "model": "claude-opus-5",
            "system": [block(BLOCK, "policy")],
            "messages": [{"role": "user", "content": [{"type": "text", "text": user, "cache_control": MARK}]}],
        }

    first, second = play(*OPUS, turn("one"), turn("two"))
    assert (first.written, second.read, second.written) == (604, 0, 604)
    assert second.reason == "messages_changed"
    assert second.lost == 604
    assert "600 tokens before it are the same and no breakpoint stands after them" in second.detail


def conversation(turns: int, **more: Any) -> dict[str, Any]:
    messages = []
    for n in range(turns):
        messages.append({"role": "user", "content": words(100, f"u{n}_")})
        if n < turns - 1:
            messages.append({"role": "assistant", "content": words(100, f"a{n}_")})
    return {"model": "claude-opus-5", "system": [block(BLOCK, "policy")], "messages": messages, **more}


def test_the_automatic_mark_follows_the_conversation(play: Callable[..., list[Call]]) -> None:
    calls = play(*OPUS, *(conversation(n, cache_control=MARK) for n in (1, 2, 3)))
    assert [(c.read, c.written, c.uncached) for c in calls] == [(0, 703, 3), (703, 206, 3), (909, 206, 3)]
    assert [c.reason for c in calls] == ["first_request", "cache_hit", "cache_hit"]
    assert calls[1].marks[0].implicit


def blocks(count: int, *marked: int) -> dict[str, Any]:
    content = [block(100, f"b{n}_", mark=MARK if n in marked else None) for n in range(1, count + 1)]
    return {"model": "claude-opus-5", "messages": [{"role": "user", "content": content}]}


def test_lookback_of_the_documentation(play: Callable[..., list[Call]]) -> None:
    # An entry at block 10 and a mark at block 15: a hit at block 10, a new write at 15.
    _, hit = play(*OPUS, blocks(10, 10), blocks(15, 15))
    assert (hit.read, hit.written, hit.reason) == (1003, 500, "cache_hit")
    # An entry at block 15 and a mark at block 35: blocks 35 to 16 are looked at, a miss.
    _, miss = play(*OPUS, blocks(15, 15), blocks(35, 35))
    assert (miss.read, miss.written, miss.reason, miss.lost) == (0, 3503, "lookback_exceeded", 1503)
    # One block nearer is found: the mark itself is the first of the twenty positions.
    _, edge = play(*OPUS, blocks(15, 15), blocks(34, 34))
    assert (edge.read, edge.reason) == (1503, "cache_hit")


def test_a_tool_result_is_one_position(lay: Any) -> None:
    result = {
        "type": "tool_result",
        "tool_use_id": "t1",
        "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}],
    }
    layout = lay(
        *OPUS,
        {
            "model": "claude-opus-5",
            "messages": [
                {"role": "user", "content": "ask"},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "f", "input": {}}]},
                {"role": "user", "content": [result, {"type": "text", "text": "go on"}]},
            ],
        },
    )
    assert [b.pointer for b in layout.blocks] == [
        "/messages/0/content",
        "/messages/1/content/0",
        "/messages/2/content/0",
        "/messages/2/content/1",
    ]
    assert layout.blocks[-1].end + 3 == layout.total
    assert [b.role for b in layout.blocks] == ["user", "assistant", "tool", "user"]


def test_an_entry_lives_five_minutes_from_its_last_use(play: Callable[..., list[Call]]) -> None:
    one = ask("one")
    calls = play(*OPUS, one, one, one, one, at=(0, 299, 599, 900))
    assert [c.read for c in calls] == [0, 600, 600, 0]
    assert [c.reason for c in calls] == ["first_request", "cache_hit", "cache_hit", "expired"]
    assert calls[3].written == 600
    hour = ask("one", system=[block(BLOCK, "policy", mark={"type": "ephemeral", "ttl": "1h"})])
    assert [c.read for c in play(*OPUS, hour, hour, hour, at=(0, 3600, 7201))] == [0, 600, 0]


def test_written_tokens_are_split_by_time_to_live(play: Callable[..., list[Call]]) -> None:
    system = [
        block(BLOCK, "policy", mark={"type": "ephemeral", "ttl": "1h"}),
        block(50, "state", mark={"type": "ephemeral", "ttl": "5m"}),
    ]
    first, second = play(*OPUS, ask("one", system=system), ask("one", system=[system[0], block(60, "x", mark=MARK)]))
    assert first.written_by_ttl == {"1h": 600, "5m": 50}
    assert (second.read, second.written_by_ttl, second.reason) == (600, {"5m": 60}, "system_changed")
    assert second.lost == 50


def test_a_call_that_would_be_refused_writes_nothing(play: Callable[..., list[Call]]) -> None:
    five = play(*OPUS, blocks(6, 1, 2, 3, 4, 5))[0]
    assert (five.reason, five.read, five.written) == ("refused", 0, 0)
    assert five.problems == ("5 cache marks, 4 are allowed",)
    order = [
        block(BLOCK, "a", mark={"type": "ephemeral", "ttl": "5m"}),
        block(9, "b", mark={"type": "ephemeral", "ttl": "1h"}),
    ]
    late = play(*OPUS, ask("one", system=order))[0]
    assert late.problems == ("a mark of 1h stands behind one of 5m: longer ones come first",)
    empty = [block(BLOCK, "a"), {"type": "text", "text": "", "cache_control": MARK}]
    assert play(*OPUS, ask("one", system=empty))[0].problems == ("a mark on an empty text block",)
    both = ask("one", cache_control={"type": "ephemeral", "ttl": "1h"})
    both["messages"] = [{"role": "user", "content": [block(9, "u", mark=MARK)]}]
    assert "which has one of 5m" in play(*OPUS, both)[0].problems[0]


TOOL = {"name": "find", "description": words(BLOCK, "tool"), "input_schema": {"type": "object"}, "cache_control": MARK}


def test_each_change_loses_what_the_table_says(play: Callable[..., list[Call]]) -> None:
    def request(**more: Any) -> dict[str, Any]:
        base = ask("one", tools=[TOOL], messages=[{"role": "user", "content": [block(50, "u", mark=MARK)]}])
        return {**base, **more}

    whole = play(*OPUS, request())[0].written
    tools, system = (m.tokens for m in play(*OPUS, request())[0].marks[:2])
    assert whole > system > tools > 512

    def second(**more: Any) -> tuple[int, str]:
        call = play(*OPUS, request(), request(**more))[1]
        return call.read, call.reason

    assert second() == (whole, "cache_hit")
    assert second(model="claude-opus-5-20260701") == (0, "model_changed")
    assert second(tools=[{**TOOL, "description": words(BLOCK, "other")}]) == (0, "tools_changed")
    assert second(system=[block(BLOCK, "other", mark=MARK)]) == (tools, "system_changed")
    assert second(speed="fast") == (tools, "system_changed")
    assert second(output_config={"format": {"type": "json_schema", "schema": {}}})[1] == "system_changed"
    # What the tools cost in front of the system text does not depend on the choice in this table.
    assert second(tool_choice={"type": "any"})[1] == "messages_changed"
    assert second(tool_choice={"type": "auto"}) == (whole, "cache_hit")
    assert second(thinking={"type": "enabled", "budget_tokens": 1024}) == (0, "messages_changed")
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ""}}
    with_image = [{"role": "user", "content": [block(50, "u", mark=MARK), image]}]
    assert second(messages=with_image) == (system, "messages_changed")


def test_reordered_tools_are_named(play: Callable[..., list[Call]]) -> None:
    other = {"name": "book", "description": "Book.", "input_schema": {"type": "object"}}
    first, second = play(*OPUS, ask("one", tools=[other, TOOL]), ask("one", tools=[TOOL, other]))
    assert (second.reason, second.read) == ("tools_changed", 0)
    assert second.difference is not None
    assert (second.difference.block, second.difference.pointer) == (0, "/tools/0")
    assert first.written == second.lost


def test_deferred_tools_are_no_part_of_the_key(play: Callable[..., list[Call]]) -> None:
    deferred = {"name": "late", "description": "d", "input_schema": {}, "defer_loading": True}
    _, second = play(*OPUS, ask("one", tools=[TOOL]), ask("one", tools=[TOOL, deferred]))
    assert second.reason == "cache_hit"


def test_without_marks_nothing_is_cached(play: Callable[..., list[Call]]) -> None:
    calls = play(*OPUS, conversation(1), conversation(2))
    assert [(c.read, c.written, c.reason) for c in calls] == [(0, 0, "no_breakpoint")] * 2


def test_nova_loses_its_prefix_with_the_tool_choice_and_claude_does_not(play: Callable[..., list[Call]]) -> None:
    def request(choice: str) -> dict[str, Any]:
        return {
            "system": [{"text": words(5000, "policy")}, {"cachePoint": {"type": "default"}}],
            "messages": [{"role": "user", "content": [{"text": "go"}]}],
            "toolConfig": {
                "tools": [{"toolSpec": {"name": "f", "inputSchema": {"json": {"type": "object"}}}}],
                "toolChoice": {choice: {}},
            },
        }

    _, nova = play("bedrock", "us.amazon.nova-lite-v1:0", request("auto"), request("any"))
    assert (nova.read, nova.reason) == (0, "messages_changed")
    _, claude = play("bedrock", "us.anthropic.claude-opus-4-6-v1", request("auto"), request("any"))
    assert (claude.reason, claude.written) == ("cache_hit", 0)


def test_qwen_without_marks_caches_by_itself(play: Callable[..., list[Call]]) -> None:
    request = {"model": "qwen-plus", "messages": [{"role": "user", "content": words(2000)}]}
    _, second = play("qwen", "qwen-plus", request, request)
    assert second.read >= 1024
    assert second.written == 0
