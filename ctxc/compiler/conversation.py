"""A conversation as units that may not be split: a message, or a call together with its results.

A turn begins with a user message and lasts to the next. Whatever is cut, is cut between units: a tool call and its
result leave together. Leading system and developer messages of a recorded history are units of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

from ctxc.base.values import dataclass
from ctxc.compiler.truncate import MessageUnit, group_messages
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
    grouped = group_messages(messages)
    return tuple(_unit(g, is_last=g is grouped[-1]) for g in grouped)


def _unit(group: MessageUnit, *, is_last: bool) -> Unit:
    asked = {c.id for m in group.messages for c in m.tool_calls}
    waiting = asked - {m.tool_call_id for m in group.messages if m.role == "tool"}
    return Unit(
        messages=group.messages,
        turn=group.turn,
        opens_turn=group.opens,
        unfinished=bool(waiting) and is_last,
        fault=_fault(group, unanswered=bool(waiting) and not is_last),
    )


def pending_calls(messages: Sequence[Message]) -> frozenset[str]:
    """Ids of the calls at the end of a conversation that no result answers yet."""
    found = units(messages)
    if not found or not found[-1].unfinished:
        return frozenset()
    last = found[-1].messages
    answered = {m.tool_call_id for m in last if m.role == "tool"}
    return frozenset(c.id for m in last for c in m.tool_calls if c.id not in answered)


def _fault(group: MessageUnit, *, unanswered: bool) -> str:
    """What is wrong with a unit."""
    if group.orphan:
        return "orphan"
    if unanswered:
        return "unanswered"
    first = group.messages[0]
    return "" if first.content.strip() or first.tool_calls else "blank"
