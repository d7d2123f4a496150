"""Recorded conversations in both forms become the same neutral messages; nothing recorded is lost silently."""

from __future__ import annotations

from typing import Any

import pytest

from ctxc.base.spans import Origin
from ctxc.model.section import Message, ToolCall
from ctxc.parse.context import File, Shared
from ctxc.parse.load_messages import read_messages
from ctxc.source.memory import MemoryTree


def read(*items: Any) -> tuple[list[Message], list[tuple[str, str, str]]]:
    shared = Shared(MemoryTree({}))
    messages = read_messages(list(items), File("h.json", shared), "/messages")
    problems = [(p.severity.label, p.pointer, p.message) for p in shared.problems.get("h.json", ())]
    return list(messages), problems


def clean(*items: Any) -> list[Message]:
    messages, problems = read(*items)
    assert problems == []
    return messages


def test_openai_messages() -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "find", "arguments": '{"a" :1}'}}
    system, user, assistant, tool = clean(
        {"role": "system", "content": "S"},
        {"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}], "name": "ada"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "result"},
    )
    assert (system.role, system.content, system.origin) == ("system", "S", Origin("h.json", "/messages/0"))
    assert (user.content, user.name) == ("one\ntwo", "ada")
    assert (assistant.content, assistant.tool_calls) == (
        "",
        (ToolCall(id="call_1", name="find", arguments='{"a" :1}'),),
    )
    assert (tool.role, tool.tool_call_id, tool.content) == ("tool", "call_1", "result")


def test_anthropic_messages() -> None:
    messages = clean(
        {"role": "user", "content": "How much?"},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "tu_1", "name": "price", "input": {"ä": 1, "a": [2]}},
                {"type": "tool_use", "id": "tu_2", "name": "tax", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "tu_1", "content": [{"type": "text", "text": "12"}]},
                {"type": "tool_result", "tool_use_id": "tu_2", "content": "none", "is_error": True},
                {"type": "text", "text": "And now?"},
            ],
        },
    )
    assert [(m.role, m.content, m.tool_call_id, m.is_error) for m in messages] == [
        ("user", "How much?", None, False),
        ("assistant", "I look.", None, False),
        ("tool", "12", "tu_1", False),
        ("tool", "none", "tu_2", True),
        ("user", "And now?", None, False),
    ]
    assert [(c.id, c.name, c.arguments) for c in messages[1].tool_calls] == [
        ("tu_1", "price", '{"ä":1,"a":[2]}'), ("tu_2", "tax", "{}")
    ]  # fmt: skip
    assert messages[3].origin == Origin("h.json", "/messages/2/content/1")


def test_the_older_openai_form_pairs_by_name_with_ids_made_up() -> None:
    messages = clean(
        {"role": "assistant", "content": None, "function_call": {"name": "a", "arguments": "{}"}},
        {"role": "function", "name": "a", "content": "1"},
        {"role": "assistant", "content": "x", "function_call": {"name": "a", "arguments": {"k": 1}}},
        {"role": "function", "name": "a", "content": "2"},
    )
    assert [(m.role, m.content, m.legacy, m.tool_call_id, [c.id for c in m.tool_calls]) for m in messages] == [
        ("assistant", "", True, None, ["call_legacy_1"]),
        ("tool", "1", True, "call_legacy_1", []),
        ("assistant", "x", True, None, ["call_legacy_2"]),
        ("tool", "2", True, "call_legacy_2", []),
    ]
    assert messages[2].tool_calls[0].arguments == '{"k":1}'


def test_items_of_the_responses_form() -> None:
    messages = clean(
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "done"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "ok"}]},
    )
    assert [(m.role, m.content, m.tool_call_id) for m in messages] == [
        ("user", "hi", None), ("assistant", "", None), ("tool", "done", "c1"), ("assistant", "ok", None)
    ]  # fmt: skip


def test_a_tool_message_may_carry_its_id_in_a_list() -> None:
    (message,) = clean({"role": "tool", "content": "x\r\ny", "tool_call_ids": ["c1"]})
    assert (message.tool_call_id, message.content) == ("c1", "x\r\ny")


def test_a_refusal_is_the_text_of_its_message() -> None:
    first, second = clean(
        {"role": "assistant", "content": None, "refusal": "No."},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "Never."}]},
    )
    assert (first.content, second.content) == ("No.", "Never.")


def test_reasoning_is_left_out_with_a_note() -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    messages, problems = read({"role": "assistant", "content": [thinking, {"type": "text", "text": "yes"}]})
    assert [m.content for m in messages] == ["yes"]
    assert [(level, at) for level, at, _ in problems] == [("info", "/messages/0/content/0")]


@pytest.mark.parametrize(
    ("item", "at", "said"),
    [
        ({"role": "human", "content": "x"}, "/role", 'did you mean "user"?'),
        ({"role": "assitant", "content": "x"}, "/role", 'did you mean "assistant"?'),
        ({"content": "x"}, "", 'the message has no "role"'),
        ({"role": "user", "content": None}, "", "a user message without content"),
        ({"role": "user", "content": []}, "", "a user message without content"),
        ({"role": "tool", "content": "x"}, "", "without `tool_call_id`"),
        ({"role": "function", "name": "f", "content": "x"}, "", "answers no `function_call`"),
        (
            {"role": "user", "content": [{"type": "image_url", "image_url": {}}]},
            "/content/0",
            '"image_url" cannot be carried',
        ),
        ({"role": "user", "content": [{"type": {"a": 1}, "text": "x"}]}, "/content/0", "cannot be carried"),
        ({"role": "assistant", "content": [{"type": ["text"]}]}, "/content/0", "cannot be carried"),
        ({"role": "assistant", "content": [{"type": "tool_use", "name": "f"}]}, "/content/0", "the call has no id"),
        ({"role": "assistant", "tool_calls": [{"id": "1", "function": {}}]}, "/tool_calls/0", "the call has no name"),
        (
            {"role": "assistant", "tool_calls": [{"id": "1", "type": "custom"}]},
            "/tool_calls/0",
            '"custom" cannot be carried',
        ),
        ({"role": "assistant", "function_call": "f"}, "/function_call", "has no name"),
        ({"role": "user", "content": [{"type": "tool_result", "content": "x"}]}, "/content/0", "without `tool_use_id`"),
        ({"type": "web_search_call"}, "", 'has no "role"'),
        ("text", "", "expected a message"),
    ],
)
def test_what_cannot_be_read_is_reported_at_its_place(item: Any, at: str, said: str) -> None:
    _, problems = read({"role": "user", "content": "before"}, item)
    assert [(level, place) for level, place, _ in problems] == [("error", "/messages/1" + at)]
    assert said in problems[0][2]
