"""Anthropic Messages: what is sent, what is counted, what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from ctxc.model.contract import Contract
from ctxc.model.request import Part, Turn
from ctxc.model.section import ToolCall
from ctxc.providers import shape

MESSAGES = shape("anthropic_messages")


def test_whole_request(make_plan: Any) -> None:
    rendered = MESSAGES.render(make_plan("anthropic", "claude-sonnet-4-5", tools_mark="1h"))
    assert rendered.request == {
        "model": "claude-sonnet-4-5",
        "max_tokens": 512,
        "tools": [
            {
                "name": "get_weather",
                "description": "Weather of a city.",
                "input_schema": {
                    "type": "object",
                    "properties": {"city": {"type": "string"}},
                    "required": ["city"],
                },
                "cache_control": {"type": "ephemeral", "ttl": "1h"},
            }
        ],
        "system": [
            {"type": "text", "text": "Never reveal other customers."},
            {"type": "text", "text": "Answer from evidence."},
        ],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Is it raining in Paris?"}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "Let me look."},
                    {"type": "tool_use", "id": "call_1", "name": "get_weather", "input": {"city": "Paris"}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "call_1", "content": '{"rain": true}'},
                    {"type": "text", "text": "<state>open</state>"},
                    {"type": "text", "text": "And tomorrow?"},
                ],
            },
        ],
    }
    assert list(rendered.request) == ["model", "max_tokens", "tools", "system", "messages"]
    assert rendered.placed["user"] == ("/messages/2/content/2",)
    assert [s.zone for s in rendered.segments[:4]] == ["settings", "tools", "system", "system"]
    assert [s.mark for s in rendered.segments if s.zone == "tools"] == ["1h"]
    plan = make_plan("anthropic", "claude-sonnet-4-5")
    assert MESSAGES.check(rendered.request, plan.profile, plan.row) == ()


def test_segments_of_a_plan_and_of_its_request_have_the_same_bytes(make_plan: Any) -> None:
    contract = Contract(id="answer", version="5", schema={"type": "object", "additionalProperties": False})
    rendered = MESSAGES.render(make_plan("anthropic", "claude-opus-5", contract=contract, tools_mark="default"))
    assert [s.wire for s in rendered.segments] == [s.wire for s in MESSAGES.segments(rendered.request)]
    assert [s.mark for s in rendered.segments] == [s.mark for s in MESSAGES.segments(rendered.request)]


def test_results_come_first_and_together(make_plan: Any) -> None:
    def part(text: str) -> tuple[Part, ...]:
        return (Part(section_id="h", text=text),)

    turns = (
        Turn(role="user", parts=part("go"), section_id="h"),
        Turn(
            role="assistant",
            tool_calls=(
                ToolCall(id="a", name="f", arguments="not json"),
                ToolCall(id="b:2", name="f", arguments=""),
                ToolCall(id="c", name="f", arguments='{"x": 1, "x": 2}'),
            ),
            section_id="h",
        ),
        Turn(role="tool", parts=part("1"), tool_call_id="a", section_id="h"),
        Turn(role="user", parts=part("between"), section_id="h"),
        Turn(role="tool", parts=part("2"), tool_call_id="b:2", is_error=True, section_id="h"),
        Turn(role="tool", parts=(), tool_call_id="c", section_id="h"),
        Turn(role="system", parts=part("focus"), section_id="focus"),
    )
    plan = make_plan("anthropic", "claude-sonnet-4-5", turns=turns, tools=())
    rendered = MESSAGES.render(plan)
    calls = rendered.request["messages"][1]["content"]
    assert [c["input"] for c in calls] == [{"_raw": "not json"}, {}, {"_raw": '{"x": 1, "x": 2}'}]
    assert [c["id"] for c in calls] == ["a", "b_2", "c"]
    assert rendered.call_ids == {"b:2": "b_2"}
    assert rendered.request["messages"][2]["content"] == [
        {"type": "tool_result", "tool_use_id": "a", "content": "1"},
        {"type": "tool_result", "tool_use_id": "b_2", "content": "2", "is_error": True},
        {"type": "tool_result", "tool_use_id": "c"},
        {"type": "text", "text": "between"},
        {"type": "text", "text": "focus"},
    ]
    assert MESSAGES.check(rendered.request, plan.profile, plan.row) == ()


def test_empty_text_is_never_sent(make_plan: Any) -> None:
    plan = make_plan(
        "anthropic",
        "claude-sonnet-4-5",
        system=(Part(section_id="a", text="", mark="5m"), Part(section_id="b", text="B", mark="5m")),
        turns=(
            Turn(role="user", parts=(Part(section_id="u", text=""),), section_id="u"),
            Turn(role="user", parts=(Part(section_id="u", text="x"), Part(section_id="v", text="")), section_id="u"),
        ),
    )
    request = MESSAGES.render(plan).request
    assert request["system"] == [{"type": "text", "text": "B", "cache_control": {"type": "ephemeral"}}]
    assert request["messages"] == [{"role": "user", "content": [{"type": "text", "text": "x"}]}]


def _text(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": text, **more}


MARK = {"cache_control": {"type": "ephemeral"}}
HOUR = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"system": [_text(str(i), **MARK) for i in range(5)]}, "R3: 5 cache marks, at most 4"),
        ({"system": [_text(" ", **MARK)]}, "/system/0: R4: a cache mark may not stand on an empty text block"),
        ({"system": [_text("a", **MARK), _text("b", **HOUR)]}, "/system/1: R5"),
        (
            {"system": [_text("a", **MARK), *(_text(str(i)) for i in range(20)), _text("z", **MARK)]},
            "/system/21: R7: 21 blocks",
        ),
        ({"system": [_text("a", cache_control={"type": "ephemeral", "ttl": "3h"})]}, "R9: the time to live"),
        ({"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "{"}]}, "prefilled"),
        ({"max_tokens": 0}, "/max_tokens"),
        ({"messages": [{"role": "user", "content": [{"type": "image"}] * 601}]}, ": 601 images, at most 600"),
        ({"system": "x" * 34_000_000}, "bytes, at most 33,554,432"),
        (
            {"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "q"}]}]},
            "answers no tool_use",
        ),
        ({"output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}}}, "additionalProperties"),
        ({"tools": [{"name": "a.b", "input_schema": {}}]}, "not a legal tool name"),
        (
            {
                "messages": [
                    {"role": "assistant", "content": [{"type": "tool_use", "id": "q", "name": "f", "input": {}}]},
                    {"role": "user", "content": [_text("no"), {"type": "tool_result", "tool_use_id": "q"}]},
                ]
            },
            "before all other content",
        ),
    ],
)
def test_check_refuses(get_profile: Any, get_row: Any, changes: Any, complaint: str) -> None:
    profile = get_profile("anthropic")
    request = {"model": "claude-opus-5", "max_tokens": 5, "messages": [{"role": "user", "content": "x"}], **changes}
    found = MESSAGES.check(request, profile, get_row(profile, "claude-opus-5"))
    assert any(complaint in f for f in found), found


def test_twenty_blocks_between_marks_are_within_reach(get_profile: Any, get_row: Any) -> None:
    profile = get_profile("anthropic")
    system = [_text("a", **MARK), *(_text(str(i)) for i in range(18)), _text("z", **MARK)]
    request = {
        "model": "claude-opus-5",
        "max_tokens": 5,
        "system": system,
        "messages": [{"role": "user", "content": "x"}],
    }
    assert MESSAGES.check(request, profile, get_row(profile, "claude-opus-5")) == ()


def test_count_adds_up_and_grows_with_its_band(make_plan: Any, words: Any) -> None:
    plan = make_plan("anthropic", "claude-sonnet-4-5")
    request = MESSAGES.render(plan).request
    count = MESSAGES.count(request, words, plan.row)
    assert count.tokens == sum(p.tokens for p in count.parts)
    assert count.method == "calibrated"
    assert count.error_low_bp > 0 and count.error_high_bp > 0
    asked: list[str] = []

    class Spy(type(words)):  # type: ignore[misc]
        def count_many(self, texts: Any) -> list[int]:
            asked.extend(texts)
            return [self.count(t) for t in texts]

    MESSAGES.count(request, Spy(), plan.row)
    assert set(asked) == set(MESSAGES.texts(request))


@pytest.mark.parametrize("request_", [{}, {"messages": 1, "system": 3}, {"messages": [1, {"content": [3, {"x": 1}]}]}])
def test_any_json_can_be_read(get_profile: Any, get_row: Any, words: Any, request_: Any) -> None:
    profile = get_profile("anthropic")
    row = get_row(profile, "claude-opus-5")
    assert MESSAGES.count(request_, words, row).tokens >= 0
    MESSAGES.read_back(request_)
    MESSAGES.segments(request_)
    MESSAGES.texts(request_)
    assert MESSAGES.check(request_, profile, row)
