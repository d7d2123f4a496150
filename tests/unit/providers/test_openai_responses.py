"""Responses: items, instructions, marks, counts."""

from __future__ import annotations

from typing import Any

import pytest

from ctxc.model.contract import Contract
from ctxc.model.request import Part
from ctxc.providers import shape

RESPONSES = shape("openai_responses")


def test_whole_request(make_plan: Any) -> None:
    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    contract = Contract(id="answer", version="1", schema=schema)
    plan = make_plan("openai_responses", "gpt-5.6-sol", contract=contract, contract_section="contract")
    rendered = RESPONSES.render(plan)
    assert rendered.request == {
        "model": "gpt-5.6-sol",
        "instructions": "Never reveal other customers.\n\nAnswer from evidence.",
        "input": [
            {"role": "user", "content": "Is it raining in Paris?"},
            {"role": "assistant", "content": "Let me look."},
            {"type": "function_call", "call_id": "call_1", "name": "get_weather", "arguments": '{"city": "Paris"}'},
            {"type": "function_call_output", "call_id": "call_1", "output": '{"rain": true}'},
            {
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "<state>open</state>"},
                    {"type": "input_text", "text": "And tomorrow?"},
                ],
            },
        ],
        "tools": [
            {
                "type": "function",
                "name": "get_weather",
                "description": "Weather of a city.",
                "parameters": {
                    "type": "object",
                    "properties": {"city": {"type": "string"}},
                    "required": ["city"],
                },
                "strict": False,
            }
        ],
        "text": {"format": {"type": "json_schema", "name": "answer", "schema": schema, "strict": True}},
        "max_output_tokens": 512,
    }
    assert rendered.placed["user"] == ("/input/4/content/1",)
    assert RESPONSES.check(rendered.request, plan.profile, plan.row) == ()
    assert "".join(s.wire for s in rendered.segments) == "".join(s.wire for s in RESPONSES.segments(rendered.request))


def test_a_mark_moves_the_system_part_into_the_input(make_plan: Any) -> None:
    system = (Part(section_id="a", text="A", stable=True, mark="12h"), Part(section_id="b", text="B"))
    plan = make_plan("openai_responses", "gpt-5.6-sol", system=system)
    rendered = RESPONSES.render(plan)
    assert "instructions" not in rendered.request
    assert rendered.request["input"][0] == {
        "role": "developer",
        "content": [
            {"type": "input_text", "text": "A", "prompt_cache_breakpoint": {"mode": "explicit", "ttl": "12h"}},
            {"type": "input_text", "text": "\n\nB"},
        ],
    }
    assert RESPONSES.check(rendered.request, plan.profile, plan.row) == ()
    assert [s.mark for s in rendered.segments if s.mark] == ["12h"]


def test_tools_are_taken_here_for_models_that_refuse_them_in_chat(make_plan: Any) -> None:
    plan = make_plan("openai_responses", "gpt-6-astra")
    request = RESPONSES.render(plan).request
    assert RESPONSES.check(request, plan.profile, plan.row) == ()
    chat = make_plan("openai", "gpt-6-astra")
    assert shape("openai_chat").check(shape("openai_chat").render(chat).request, chat.profile, chat.row) != ()


def test_parts_add_up_and_texts_are_asked_for(make_plan: Any, words: Any) -> None:
    plan = make_plan("openai_responses", "gpt-5.6-sol")
    request = RESPONSES.render(plan).request
    count = RESPONSES.count(request, words, plan.row)
    assert count.tokens == sum(p.tokens for p in count.parts)
    asked: list[str] = []

    class Spy(type(words)):  # type: ignore[misc]
        def count_many(self, texts: Any) -> list[int]:
            asked.extend(texts)
            return [self.count(t) for t in texts]

    RESPONSES.count(request, Spy(), plan.row)
    assert set(asked) == set(RESPONSES.texts(request))


def test_what_does_not_stand_in_the_request_is_said(get_profile: Any, get_row: Any, words: Any) -> None:
    row = get_row(get_profile("openai_responses"), "gpt-5.6-sol")
    request = {"input": "hello", "previous_response_id": "resp_1", "tools": [{"type": "web_search"}]}
    count = RESPONSES.count(request, words, row)
    assert count.method == "heuristic"
    assert [n.split(" ")[0] for n in count.notes] == ["nothing", "previous_response_id"]


@pytest.mark.parametrize(
    ("items", "complaint"),
    [
        ([{"type": "function_call_output", "call_id": "x", "output": "1"}], "has to follow its call"),
        ([{"type": "function_call", "call_id": "x", "name": "f", "arguments": "{}"}], "has no output"),
        ([{"role": "tool", "content": "1"}], "is not a role"),
        ([], "at least one item"),
    ],
)
def test_check_refuses(get_profile: Any, get_row: Any, items: Any, complaint: str) -> None:
    profile = get_profile("openai_responses")
    found = RESPONSES.check({"model": "gpt-5", "input": items}, profile, get_row(profile, "gpt-5"))
    assert any(complaint in f for f in found), found


@pytest.mark.parametrize("request_", [{}, {"input": 3}, {"input": [1, {"type": "x"}, {"content": [2, {}]}], "text": 1}])
def test_any_json_can_be_read(get_profile: Any, get_row: Any, words: Any, request_: Any) -> None:
    profile = get_profile("openai_responses")
    row = get_row(profile, "gpt-5")
    assert RESPONSES.count(request_, words, row).tokens >= 0
    RESPONSES.read_back(request_)
    RESPONSES.segments(request_)
    assert RESPONSES.check(request_, profile, row)
