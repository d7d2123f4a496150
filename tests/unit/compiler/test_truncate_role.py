"""role: a history as units; calls keep their results, whatever stands between them."""

from __future__ import annotations

import pytest

from ctxc.compiler.truncate import MessageUnit, group_messages
from ctxc.model.section import Message, ToolCall


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
    """Units as words of role initials, an orphan with a question mark."""
    words = []
    for unit in units:
        word = "".join({"assistant": "a", "user": "u", "tool": "t"}.get(m.role, "s") for m in unit.messages)
        words.append(word + "?" * unit.orphan)
    return words


@pytest.mark.parametrize(
    ("messages", "expected", "turns"),
    [
        ([], [], []),
        ([SYSTEM, user(), says(), user()], ["s", "u", "a", "u"], [0, 0, 0, 1]),
        ([says(), user(), says(), user()], ["a", "u", "a", "u"], [0, 0, 0, 1]),
        ([user(), calls("1"), answers("1"), says()], ["u", "at", "a"], [0, 0, 0]),
        ([user(), calls("1", "2"), answers("2"), answers("1"), says()], ["u", "att", "a"], [0, 0, 0]),
        ([user(), calls("1"), user(), answers("1"), says()], ["u", "aut", "a"], [0, 0, 0]),
        ([calls("1"), calls("2"), answers("1"), answers("2")], ["aatt"], [0]),
        ([user(), answers("9"), user()], ["u", "t?", "u"], [0, 0, 1]),
        ([user(), calls("1"), answers("1"), user(), calls("1"), answers("1")], ["u", "at", "u", "at"], [0, 0, 1, 1]),
        ([user(), calls("1"), user()], ["u", "a", "u"], [0, 0, 1]),
        ([user(), calls(""), answers("")], ["u", "at"], [0, 0]),
        ([user(), calls("1"), SYSTEM, answers("1")], ["u", "ast"], [0, 0]),
    ],
)
def test_units(messages: list[Message], expected: list[str], turns: list[int]) -> None:
    units = group_messages(messages)
    assert shape(units) == expected
    assert [unit.turn for unit in units] == turns
    assert [m for unit in units for m in unit.messages] == messages
    assert all(messages[unit.start] is unit.messages[0] for unit in units)
