"""Chat Completions: what is sent, what is counted, what comes back out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ctxc.model.contract import Contract
from ctxc.model.request import Part, Turn
from ctxc.model.section import Tool, ToolCall
from ctxc.providers import shape

CHAT = shape("openai_chat")


def test_whole_request(make_plan: Any) -> None:
    rendered = CHAT.render(make_plan("openai", "gpt-4o"))
    assert rendered.request == {
        "model": "gpt-4o",
        "messages": [
            {"role": "system", "content": "Never reveal other customers.\n\nAnswer from evidence."},
            {"role": "user", "content": "Is it raining in Paris?"},
            {
                "role": "assistant",
                "content": "Let me look.",
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": '{"rain": true}'},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "<state>open</state>"},
                    {"type": "text", "text": "And tomorrow?"},
                ],
            },
        ],
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "get_weather",
                    "description": "Weather of a city.",
                    "parameters": {
                        "type": "object",
                        "properties": {"city": {"type": "string"}},
                        "required": ["city"],
                    },
                },
            }
        ],
        "max_completion_tokens": 512,
    }
    assert rendered.placed["user"] == ("/messages/4/content/1",)
    assert rendered.placed["policy"] == rendered.placed["core"] == ("/messages/0/content",)
    assert rendered.placed["tools"] == ("/tools/0",)
    assert [s.zone for s in rendered.segments][:4] == ["settings", "tools", "system", "system"]


def test_segments_of_a_plan_and_of_its_request_have_the_same_bytes(make_plan: Any) -> None:
    rendered = CHAT.render(make_plan("openai", "gpt-4o"))
    assert "".join(s.wire for s in rendered.segments) == "".join(s.wire for s in CHAT.segments(rendered.request))


def test_developer_role_and_marks_between_system_parts(make_plan: Any) -> None:
    plan = make_plan(
        "openai",
        "gpt-5.6-sol",
        system=(
            Part(section_id="a", text="A", stable=True),
            Part(section_id="b", text="B", stable=True, mark="default"),
            Part(section_id="c", text="C"),
        ),
    )
    rendered = CHAT.render(plan)
    assert rendered.request["messages"][0] == {
        "role": "developer",
        "content": [
            {"type": "text", "text": "A\n\nB", "prompt_cache_breakpoint": {"mode": "explicit"}},
            {"type": "text", "text": "\n\nC"},
        ],
    }
    assert [s.mark for s in rendered.segments if s.zone == "system"] == ["", "default", ""]
    assert "".join(s.wire for s in rendered.segments) == "".join(s.wire for s in CHAT.segments(rendered.request))


def test_marks_are_left_out_where_the_model_takes_none(make_plan: Any) -> None:
    plan = make_plan("openai", "gpt-4o", system=(Part(section_id="a", text="A", mark="1h"),))
    rendered = CHAT.render(plan)
    assert rendered.request["messages"][0]["content"] == "A"
    assert not any(s.mark for s in rendered.segments)


def test_illegal_tool_names_are_mapped_everywhere(make_plan: Any) -> None:
    tools = (
        Tool(name="claims.find", description="", input_schema={"type": "object"}),
        Tool(name="claims_find", description="", input_schema={"type": "object"}),
        Tool(name="x" * 80, description="", input_schema={"type": "object"}),
    )
    turns = (
        Turn(role="user", parts=(Part(section_id="u", text="go"),), section_id="u"),
        Turn(role="assistant", tool_calls=(ToolCall(id="c", name="claims.find", arguments="{}"),), section_id="u"),
        Turn(role="tool", tool_call_id="c", parts=(Part(section_id="u", text="ok"),), section_id="u"),
    )
    plan = make_plan("openai", "gpt-4o", tools=tools, turns=turns)
    rendered = CHAT.render(plan)
    names = [t["function"]["name"] for t in rendered.request["tools"]]
    assert names[1] == "claims_find"
    assert len(set(names)) == 3 and all(len(n) <= 64 for n in names)
    assert rendered.renamed["claims.find"] == names[0] != "claims_find"
    assert rendered.request["messages"][2]["tool_calls"][0]["function"]["name"] == names[0]
    assert rendered.request["messages"][2]["content"] is None
    assert CHAT.check(rendered.request, plan.profile, plan.row) == ()


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (
            {
                "type": "object",
                "properties": {"a": {"type": "string"}},
                "required": ["a"],
                "additionalProperties": False,
            },
            True,
        ),
        ({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False}, False),
        ({"type": "object", "properties": {}, "required": []}, False),
        ({"type": "array", "items": {"type": "string"}}, False),
    ],
)
def test_contract_is_strict_only_where_the_subset_allows_it(make_plan: Any, schema: Any, strict: bool) -> None:
    contract = Contract(id="answer/v 1", version="5", schema=schema, description="What to say.")
    plan = make_plan("openai", "gpt-4o", contract=contract, contract_section="contract")
    rendered = CHAT.render(plan)
    assert rendered.request["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer_v_1", "description": "What to say.", "schema": schema, "strict": strict},
    }
    assert rendered.placed["contract"] == ("/response_format",)
    assert CHAT.check(rendered.request, plan.profile, plan.row) == ()


def test_parts_of_a_count_add_up(make_plan: Any, words: Any) -> None:
    contract = Contract(id="answer", version="5", schema={"type": "object", "properties": {"a": {"type": "string"}}})
    plan = make_plan("openai", "gpt-4o", contract=contract)
    request = CHAT.render(plan).request
    count = CHAT.count(request, words, plan.row)
    assert count.tokens == sum(p.tokens for p in count.parts)
    assert {p.pointer for p in count.parts} >= {"", "/messages/0", "/messages/0/content", "/tools/0", "/tools"}
    assert count.method == "calibrated"  # a structured output's cost is an estimate
    assert count.upper > count.tokens


def test_texts_are_all_that_is_asked_of_the_tokenizer(make_plan: Any, words: Any) -> None:
    asked: list[str] = []

    class Spy(type(words)):  # type: ignore[misc]
        def count_many(self, texts: Any) -> list[int]:
            asked.extend(texts)
            return [self.count(t) for t in texts]

    contract = Contract(id="answer", version="5", schema={"type": "object", "properties": {"a": {"type": "string"}}})
    plan = make_plan("openai", "gpt-4o", contract=contract)
    request = CHAT.render(plan).request
    CHAT.count(request, Spy(), plan.row)
    assert set(asked) == set(CHAT.texts(request))


def test_read_back_gives_every_text_with_role_and_place(make_plan: Any) -> None:
    leaves = CHAT.read_back(CHAT.render(make_plan("openai", "gpt-4o")).request)
    found = {(leaf.zone, leaf.role, leaf.kind, leaf.text) for leaf in leaves}
    assert ("messages", "user", "text", "And tomorrow?") in found
    assert ("messages", "assistant", "tool_use", '{"city": "Paris"}') in found
    assert ("messages", "tool", "tool_result", '{"rain": true}') in found
    assert ("system", "system", "text", "Never reveal other customers.\n\nAnswer from evidence.") in found


@pytest.mark.parametrize(
    ("messages", "complaint"),
    [
        ([{"role": "tool", "tool_call_id": "x", "content": "1"}], "has to answer a call"),
        (
            [
                {"role": "assistant", "tool_calls": [{"id": "x", "type": "function", "function": {"name": "f"}}]},
                {"role": "user", "content": "hi"},
            ],
            "is not answered",
        ),
        ([{"role": "robot", "content": "1"}], "is not a role"),
        ([], "at least one message"),
    ],
)
def test_check_refuses(get_profile: Any, get_row: Any, messages: Any, complaint: str) -> None:
    profile = get_profile("openai")
    found = CHAT.check({"model": "gpt-4o", "messages": messages}, profile, get_row(profile, "gpt-4o"))
    assert any(complaint in f for f in found), found


def test_tools_are_refused_for_models_that_take_them_elsewhere(get_profile: Any, get_row: Any) -> None:
    profile = get_profile("openai")
    request = {
        "model": "gpt-6-astra",
        "messages": [{"role": "user", "content": "x"}],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}],
    }
    found = CHAT.check(request, profile, get_row(profile, "gpt-6-astra"))
    assert found == ("/tools: this interface does not take tools for gpt-6-astra",)


@pytest.mark.parametrize("request_", [{}, {"messages": 1}, {"messages": [1, None, {"content": [3, {"x": 1}]}]}])
def test_any_json_can_be_read(get_profile: Any, get_row: Any, words: Any, request_: Any) -> None:
    profile = get_profile("openai")
    row = get_row(profile, "gpt-4o")
    assert CHAT.count(request_, words, row).tokens >= 0
    CHAT.read_back(request_)
    CHAT.segments(request_)
    CHAT.texts(request_)
    assert CHAT.check(request_, profile, row)
    json.dumps([s.text for s in CHAT.segments(request_)])
