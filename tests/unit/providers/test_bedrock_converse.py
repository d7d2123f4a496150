"""Converse: blocks, cache points as blocks of their own, counts equal to those of the Messages request it means."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ctxc.model.contract import Contract
from ctxc.model.request import Part, Turn
from ctxc.providers import shape

CONVERSE = shape("bedrock_converse")
MODEL = "anthropic.claude-sonnet-4-5-20250929-v1:0"


def test_whole_request(make_plan: Any) -> None:
    schema = {"type": "object", "additionalProperties": False}
    plan = make_plan(
        "bedrock",
        MODEL,
        tools_mark="1h",
        system=(Part(section_id="a", text="A", stable=True, mark="default"), Part(section_id="b", text="B")),
        contract=Contract(id="answer", version="1", schema=schema),
    )
    rendered = CONVERSE.render(plan)
    assert rendered.request == {
        "modelId": MODEL,
        "toolConfig": {
            "tools": [
                {
                    "toolSpec": {
                        "name": "get_weather",
                        "description": "Weather of a city.",
                        "inputSchema": {
                            "json": {
                                "type": "object",
                                "properties": {"city": {"type": "string"}},
                                "required": ["city"],
                            }
                        },
                    }
                },
                {"cachePoint": {"type": "default", "ttl": "1h"}},
            ]
        },
        "system": [{"text": "A"}, {"cachePoint": {"type": "default"}}, {"text": "B"}],
        "messages": [
            {"role": "user", "content": [{"text": "Is it raining in Paris?"}]},
            {
                "role": "assistant",
                "content": [
                    {"text": "Let me look."},
                    {"toolUse": {"toolUseId": "call_1", "name": "get_weather", "input": {"city": "Paris"}}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"toolResult": {"toolUseId": "call_1", "content": [{"text": '{"rain": true}'}]}},
                    {"text": "<state>open</state>"},
                    {"text": "And tomorrow?"},
                ],
            },
        ],
        "inferenceConfig": {"maxTokens": 512},
        "outputConfig": {
            "textFormat": {
                "type": "json_schema",
                "structure": {"jsonSchema": {"schema": json.dumps(schema, separators=(",", ":")), "name": "answer"}},
            }
        },
    }
    assert CONVERSE.check(rendered.request, plan.profile, plan.row) == ()
    again = CONVERSE.segments(rendered.request)
    assert [(s.wire, s.mark) for s in rendered.segments] == [(s.wire, s.mark) for s in again]
    assert [s.mark for s in again if s.mark] == ["1h", "default"]


def test_it_counts_as_the_messages_request_that_it_means(make_plan: Any, words: Any) -> None:
    converse, messages = make_plan("bedrock", MODEL), make_plan("anthropic", "claude-sonnet-4-5")
    left = CONVERSE.count(CONVERSE.render(converse).request, words, messages.row)
    native = shape("anthropic_messages")
    right = native.count(native.render(messages).request, words, messages.row)
    assert (left.tokens, left.method, left.error_high_bp) == (right.tokens, right.method, right.error_high_bp)
    assert left.tokens == sum(p.tokens for p in left.parts)


def test_ids_and_errors_of_results(make_plan: Any) -> None:
    from ctxc.model.section import ToolCall

    long = "call " * 30
    turns = (
        Turn(role="assistant", tool_calls=(ToolCall(id=long, name="f", arguments="[1]"),), section_id="h"),
        Turn(role="tool", tool_call_id=long, parts=(Part(section_id="h", text=" "),), is_error=True, section_id="h"),
        Turn(role="user", parts=(Part(section_id="u", text="go"),), section_id="u"),
    )
    plan = make_plan("bedrock", MODEL, turns=turns, tools=())
    rendered = CONVERSE.render(plan)
    use = rendered.request["messages"][0]["content"][0]["toolUse"]
    result = rendered.request["messages"][1]["content"][0]["toolResult"]
    assert use["toolUseId"] == result["toolUseId"] == rendered.call_ids[long]
    assert len(use["toolUseId"]) == 64
    assert use["input"] == {"_raw": "[1]"}
    assert result == {"toolUseId": use["toolUseId"], "content": [], "status": "error"}
    assert CONVERSE.check(rendered.request, plan.profile, plan.row) == ()


POINT = {"cachePoint": {"type": "default"}}


@pytest.mark.parametrize(
    ("changes", "model", "complaint"),
    [
        ({"system": [{"text": " "}]}, MODEL, "R4: a blank text block is refused"),
        ({"system": [{"text": "a"}, POINT] * 5}, MODEL, "R3: 5 cache marks, at most 4"),
        ({"messages": [{"role": "user", "content": [POINT, {"text": "x"}]}]}, MODEL, "has to stand after the block"),
        (
            {
                "messages": [
                    {"role": "user", "content": [{"text": "x"}, {"document": {"format": "txt", "name": "d"}}, POINT]}
                ]
            },
            MODEL,
            "R9: no cache point may stand right after a document that is not a PDF",
        ),
        (
            {"toolConfig": {"tools": [{"toolSpec": {"name": "f", "inputSchema": {"json": {}}}}, POINT]}},
            "us.amazon.nova-lite-v1:0",
            "R9: this model takes no cache mark in tools",
        ),
        (
            {"system": [{"text": "a"}, POINT, {"text": "b"}, {"cachePoint": {"type": "default", "ttl": "1h"}}]},
            MODEL,
            "R5",
        ),
        ({"toolConfig": {"tools": []}}, MODEL, "at least one tool"),
        ({"messages": [{"role": "user", "content": [{"image": {}}] * 21}]}, MODEL, ": 21 images, at most 20"),
        (
            {"messages": [{"role": "user", "content": [{"document": {"name": "a"}}] * 6}]},
            MODEL,
            "6 documents, at most 5",
        ),
        ({"messages": [{"role": "user", "content": [{"document": {"name": "a"}}]}]}, MODEL, "needs a text beside it"),
        (
            {"messages": [{"role": "user", "content": [{"text": "x"}, {"document": {"name": "a_b  c"}}]}]},
            MODEL,
            "/messages/0/content/1/document/name",
        ),
    ],
)
def test_check_refuses(get_profile: Any, get_row: Any, changes: Any, model: str, complaint: str) -> None:
    profile = get_profile("bedrock")
    request = {"modelId": model, "messages": [{"role": "user", "content": [{"text": "x"}]}], **changes}
    found = CONVERSE.check(request, profile, get_row(profile, model))
    assert any(complaint in f for f in found), found


@pytest.mark.parametrize("request_", [{}, {"messages": 3, "toolConfig": 1}, {"messages": [1, {"content": [2, {}]}]}])
def test_any_json_can_be_read(get_profile: Any, get_row: Any, words: Any, request_: Any) -> None:
    profile = get_profile("bedrock")
    row = get_row(profile, MODEL)
    assert CONVERSE.count(request_, words, row).tokens >= 0
    CONVERSE.read_back(request_)
    CONVERSE.segments(request_)
    CONVERSE.texts(request_)
    assert CONVERSE.check(request_, profile, row)
