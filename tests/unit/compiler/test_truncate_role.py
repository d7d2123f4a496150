"""role: whole messages leave, calls keep their results, and the rest is a conversation that providers accept."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from ctxc import tokens
from ctxc.compiler.truncate import MessagesCut, MessageUnit, group_messages, truncate_messages
from ctxc.model.section import Message, ToolCall

O200K = tokens.get("o200k_base")


def user(text: str = "u") -> Message:
    return Message(role="user", content=text)


def says(text: str = "a") -> Message:
    return Message(role="assistant", content=text)


def calls(*ids: str) -> Message:
    return Message(
        role="assistant", content="", tool_calls=tuple(ToolCall(id=i, name="f", arguments="{}") for i in ids)
    )


def answers(id: str, text: str = "r") -> Message:
    return Message(role="tool", content=text, tool_call_id=id)


SYSTEM = Message(role="system", content="s")


def shape(units: tuple[MessageUnit, ...]) -> list[str]:
    """Units as words of role initials; pinned in brackets, an orphan with a question mark."""
    words = []
    for unit in units:
        word = "".join({"assistant": "a", "user": "u", "tool": "t"}.get(m.role, "s") for m in unit.messages)
        words.append(f"[{word}]" if unit.pinned else word + "?" * unit.orphan)
    return words


def one(unit: MessageUnit) -> int:
    return len(unit.messages)


def tokens_of(unit: MessageUnit) -> int:
    return sum(
        3 + O200K.count(m.content) + sum(O200K.count(c.name) + O200K.count(c.arguments) for c in m.tool_calls)
        for m in unit.messages
    )


@pytest.mark.parametrize(
    ("messages", "expected", "turns"),
    [
        ([], [], []),
        ([SYSTEM, user(), says(), user()], ["[s]", "u", "a", "u"], [0, 0, 0, 1]),
        ([says(), user(), says(), user()], ["a", "u", "a", "u"], [0, 0, 0, 1]),
        ([user(), calls("1"), answers("1"), says()], ["u", "at", "a"], [0, 0, 0]),
        ([user(), calls("1", "2"), answers("2"), answers("1"), says()], ["u", "att", "a"], [0, 0, 0]),
        ([user(), calls("1"), user(), answers("1"), says()], ["u", "aut", "a"], [0, 0, 0]),
        ([calls("1"), calls("2"), answers("1"), answers("2")], ["aatt"], [0]),
        ([user(), answers("9"), user()], ["u", "t?", "u"], [0, 0, 1]),
        ([user(), calls("1"), answers("1"), user(), calls("1"), answers("1")], ["u", "at", "u", "at"], [0, 0, 1, 1]),
        ([user(), calls("1"), user()], ["u", "a", "u"], [0, 0, 1]),
        ([user(), calls(""), answers("")], ["u", "at"], [0, 0]),
        ([user(), calls("1"), SYSTEM, answers("1")], ["u", "[ast]"], [0, 0]),
    ],
)
def test_units(messages: list[Message], expected: list[str], turns: list[int]) -> None:
    units = group_messages(messages)
    assert shape(units) == expected
    assert [unit.turn for unit in units] == turns
    assert [m for unit in units for m in unit.messages] == messages
    assert all(messages[unit.start] is unit.messages[0] for unit in units)


TWO_TURNS = [SYSTEM, user("1"), calls("1"), answers("1"), says("1"), user("2"), says("2"), user("3")]


@pytest.mark.parametrize(
    ("limit", "kept", "mark_at", "fits"),
    [
        (8, ["[s]", "u", "at", "a", "u", "a", "u"], 0, True),
        (7, ["[s]", "u", "a", "u"], 1, True),
        (4, ["[s]", "u", "a", "u"], 1, True),
        (3, ["[s]", "u"], 1, True),
        (2, ["[s]", "u"], 1, True),
        (1, ["[s]"], 1, True),
        (0, ["[s]"], 1, False),
    ],
)
def test_oldest_turns_leave_whole(limit: int, kept: list[str], mark_at: int, fits: bool) -> None:
    result = truncate_messages(group_messages(TWO_TURNS), limit, one)
    assert (shape(result.kept), result.mark_at, result.fits) == (kept, mark_at, fits)
    assert result.tokens_before == 8
    assert result.tokens_after == 8 - sum(map(one, result.dropped))
    assert result.cut == (limit < 8)
    assert result.mark == (f"[… {sum(map(one, result.dropped))} tokens cut …]" if result.cut else "")


STEPS = [SYSTEM, user("old"), says("x"), user("go"), *(m for n in "12345" for m in (calls(n), answers(n)))]


@pytest.mark.parametrize(
    ("limit", "kept", "mark_at"),
    [
        (12, ["[s]", "u", "at", "at", "at", "at", "at"], 1),
        (11, ["[s]", "u", "at", "at", "at", "at"], 2),
        (4, ["[s]", "u", "at"], 2),
        (3, ["[s]"], 1),  # not the first message alone: the newest step would be missing
    ],
)
def test_a_turn_that_does_not_fit_keeps_its_first_message_and_newest_steps(
    limit: int, kept: list[str], mark_at: int
) -> None:
    result = truncate_messages(group_messages(STEPS), limit, one)
    assert (shape(result.kept), result.mark_at) == (kept, mark_at)
    if len(kept) > 2:
        assert result.kept[1].messages == (user("go"),)
        assert result.kept[-1].messages[1].tool_call_id == "5"


def test_the_place_of_the_mark_is_paid_for() -> None:
    units = group_messages(TWO_TURNS)
    result = truncate_messages(units, 7, one, mark_tokens=4)
    assert (shape(result.kept), result.tokens_after) == (["[s]", "u"], 6)
    assert truncate_messages(units, 8, one, mark_tokens=4).tokens_after == 8
    assert not truncate_messages(units, 4, one, mark_tokens=4).fits


def test_without_a_user_message_the_newest_units_stay_and_no_orphan_leads() -> None:
    messages = [says("1"), answers("9"), says("2"), says("3")]
    assert shape(truncate_messages(group_messages(messages), 2, one).kept) == ["a", "a"]
    assert shape(truncate_messages(group_messages(messages), 3, one).kept) == ["a", "a"]


def test_random_histories_keep_their_pairs() -> None:
    rnd = random.Random(3)
    for _ in range(400):
        messages: list[Message] = [SYSTEM] if rnd.random() < 0.5 else []
        for n in range(rnd.randint(0, 12)):
            messages.append(user() if rnd.random() < 0.5 or n == 0 else says())
            for step in range(rnd.randint(0, 3)):
                ids = [f"{n}.{step}.{k}" for k in range(rnd.randint(1, 2))]
                messages += [calls(*ids), *(answers(i) for i in rnd.sample(ids, len(ids)))]
        units = group_messages(messages)
        result = truncate_messages(units, rnd.randint(0, len(messages) + 1), one, mark_tokens=rnd.randint(0, 2))
        assert sorted([*result.kept, *result.dropped], key=lambda u: u.start) == list(units)
        kept = [m for unit in result.kept for m in unit.messages]
        assert {c.id for m in kept for c in m.tool_calls} == {m.tool_call_id for m in kept if m.role == "tool"}
        rest = [m for m in kept if m.role != "system"]
        assert not rest or rest[0].role == "user"
        assert (SYSTEM in kept) == (SYSTEM in messages)


# -- reported faults of other tools ------------------------------------------------------------------------------------


def anthropic(history: list[dict[str, Any]]) -> list[Message]:
    """Messages of a recorded history in Anthropic form."""
    messages: list[Message] = []
    for message in history:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        text = "".join(block["text"] for block in blocks if block["type"] == "text")
        results = [block for block in blocks if block["type"] == "tool_result"]
        messages += [answers(block["tool_use_id"], json.dumps(block["content"])) for block in results]
        uses = tuple(
            ToolCall(id=block["id"], name=block["name"], arguments=json.dumps(block["input"]))
            for block in blocks
            if block["type"] == "tool_use"
        )
        if text or uses:
            messages.append(Message(role=message["role"], content=text, tool_calls=uses))
    return messages


def openai(history: list[dict[str, Any]]) -> list[Message]:
    """Messages of a recorded history in OpenAI form."""
    return [
        Message(
            role=message["role"],
            content=message["content"] or "",
            tool_calls=tuple(
                ToolCall(id=call["id"], name=call["function"]["name"], arguments=call["function"]["arguments"])
                for call in message.get("tool_calls", ())
            ),
            tool_call_id=message.get("tool_call_id"),
        )
        for message in history
    ]


def accepted(result: MessagesCut) -> None:
    """What both providers ask: results after their calls, calls answered, a user message first."""
    pending: set[str] = set()
    first = True
    for message in (m for unit in result.kept for m in unit.messages):
        if message.role == "system":
            continue
        assert not first or message.role == "user"
        first = False
        if message.role == "tool":
            assert message.tool_call_id in pending
            pending.discard(message.tool_call_id)
        else:
            assert not pending
            pending = {call.id for call in message.tool_calls}
    assert not pending


@pytest.mark.parametrize("limit", [20, 600, 1_500, 10_000])
def test_bt_008_a_call_is_not_parted_from_its_result(root: Path, limit: int) -> None:
    history = json.loads((root / "tests/cases/bt-008/history.anthropic.json").read_text(encoding="utf-8"))
    messages = anthropic(history)
    assert [m.role for m in messages] == ["user", "assistant", "tool", "tool", "assistant", "user"]
    units = group_messages(messages)
    result = truncate_messages(units, limit, tokens_of)
    accepted(result)
    assert result.kept and result.tokens_after <= limit
    assert len(result.kept) + len(result.dropped) == len(units)
    if limit == 600:
        assert [m.content for unit in result.kept for m in unit.messages] == ["Thanks, what next?"]
        assert [m.role for unit in result.dropped for m in unit.messages] == [
            "user",
            "assistant",
            "tool",
            "tool",
            "assistant",
        ]


def test_bt_011_the_last_messages_do_not_begin_with_a_result(root: Path) -> None:
    history = json.loads((root / "tests/cases/bt-011/history.openai.json").read_text(encoding="utf-8"))
    result = truncate_messages(group_messages(openai(history)), 5, one)  # the last four and the system message
    accepted(result)
    kept = [(m.role, m.content) for unit in result.kept for m in unit.messages]
    assert kept == [("system", "Be brief."), ("user", "and tomorrow?")]


@pytest.mark.parametrize("limit", [0, 100])
def test_bt_014_an_empty_history_is_whole(root: Path, limit: int) -> None:
    history = json.loads((root / "tests/cases/bt-014/history.openai.json").read_text(encoding="utf-8"))
    result = truncate_messages(group_messages(openai(history)), limit, tokens_of, mark_tokens=10)
    assert (result.kept, result.dropped, result.tokens_before, result.fits, result.cut) == ((), (), 0, True, False)
