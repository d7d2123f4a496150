"""role: the units of a history that stay or leave as a whole; ``fit`` decides which leave, the oldest first.

A call and its results, and whatever stands between them, are one unit and are never parted. A turn begins with a
message of the user; what stands before the first belongs to it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ctxc.compiler.truncate._result import MessageUnit
from ctxc.model.section import Message


def group(messages: Sequence[Message]) -> tuple[MessageUnit, ...]:
    """The units of a history, oldest first."""
    last = list(range(len(messages)))  # for each message, the last one that may not be parted from it
    open_calls: dict[str, int] = {}
    orphans: set[int] = set()
    for at, message in enumerate(messages):
        if message.role == "tool":
            call = open_calls.get(message.tool_call_id or "")
            if call is None:
                orphans.add(at)
            else:
                last[call] = at
        for tool_call in message.tool_calls:
            open_calls[tool_call.id] = at
    units: list[MessageUnit] = []
    turn, start = -1, 0
    while start < len(messages):
        end = start
        reach = last[start]
        while end < reach:
            end += 1
            reach = max(reach, last[end])
        unit = tuple(messages[start : end + 1])
        opens = unit[0].role == "user"
        turn += opens
        units.append(
            MessageUnit(
                messages=unit,
                start=start,
                turn=max(turn, 0),
                opens=opens,
                orphan=start in orphans,
            )
        )
        start = end + 1
    return tuple(units)
