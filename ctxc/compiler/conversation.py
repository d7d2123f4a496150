"""A conversation as units that may not be split: a message, or a call together with its results.

A turn begins with a user message and lasts to the next. Whatever is cut, is cut between units: a tool call and its
result leave together. Leading system and developer messages of a recorded history are units of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ctxc.model.section import Authority, Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """Messages that stay or leave together.

    ``unfinished``: a call at the end has no result yet. ``fault``: why no provider would take it (``orphan``,
    ``unanswered``, ``blank``), or empty.
    """

    messages: tuple[Message, ...]
    turn: int
    opens_turn: bool
    unfinished: bool = False
    fault: str = ""

    @property
    def authority(self) -> Authority:
        """The lowest authority in the unit: user T3, assistant T2, tool T5."""
        return max(_OF_ROLE.get(m.role, Authority.T3) for m in self.messages)


_OF_ROLE = {
    "assistant": Authority.T2,
    "user": Authority.T3,
    # Text that once was a system message is a recording now: it may not instruct again.
    "system": Authority.T3,
    "developer": Authority.T3,
    "tool": Authority.T5,
}


def units(messages: Sequence[Message]) -> tuple[Unit, ...]:
    """Units in order. A result whose call is not in the history is a unit of its own (an orphan)."""
    found: list[Unit] = []
    turn = -1
    position = 0
    while position < len(messages):
        message = messages[position]
        opens = message.role == "user" and not _answers(message)
        if opens or turn < 0:
            turn += 1
        taken = [message]
        position += 1
        waiting = {c.id for c in message.tool_calls}
        while waiting and position < len(messages):
            following = messages[position]
            if following.role != "tool" or following.tool_call_id not in waiting:
                break
            waiting.discard(following.tool_call_id or "")
            taken.append(following)
            position += 1
        last = position >= len(messages)
        found.append(
            Unit(
                messages=tuple(taken),
                turn=turn,
                opens_turn=opens,
                unfinished=bool(waiting) and last,
                fault=_fault(message, unanswered=bool(waiting) and not last),
            )
        )
    return tuple(found)


def pending_calls(messages: Sequence[Message]) -> frozenset[str]:
    """Ids of the calls at the end of a conversation that no result answers yet."""
    found = units(messages)
    if not found or not found[-1].unfinished:
        return frozenset()
    last = found[-1].messages
    answered = {m.tool_call_id for m in last if m.role == "tool"}
    return frozenset(c.id for m in last for c in m.tool_calls if c.id not in answered)


def _answers(message: Message) -> bool:
    return message.tool_call_id is not None


def _fault(message: Message, *, unanswered: bool) -> str:
    """What is wrong with a unit that begins with a message. A result can only begin one when its call is missing."""
    if message.role == "tool":
        return "orphan"
    if unanswered:
        return "unanswered"
    return "" if message.content.strip() or message.tool_calls else "blank"
