"""role: whole messages leave, the oldest first. For a history.

Between turns, as long as the newest turn fits: a turn begins with a message of the user. Inside the newest turn only
where it does not fit by itself: then its first message stays and its oldest steps leave. A call and its results, and
whatever stands between them, are one unit and are never parted. System and developer messages stay.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ctxc.compiler.truncate._marker import tokens_cut
from ctxc.compiler.truncate._result import MessagesCut, MessageUnit
from ctxc.model.section import Message

_PINNED = ("system", "developer")


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
                pinned=any(message.role in _PINNED for message in unit),
                orphan=start in orphans,
            )
        )
        start = end + 1
    return tuple(units)


def cut(
    units: Sequence[MessageUnit], limit: int, count_unit: Callable[[MessageUnit], int], mark_tokens: int = 0
) -> MessagesCut:
    """The units of at most ``limit`` tokens (sum of ``count_unit``, plus ``mark_tokens`` where something was dropped).

    What is kept never begins with a result whose call was dropped, and begins with a message of the user where there
    is one. ``fits`` is false when the messages that must stay do not fit, alone or with the mark.
    """
    sizes = [count_unit(unit) for unit in units]
    before = sum(sizes)
    if before <= limit:
        return MessagesCut(
            kept=tuple(units), dropped=(), tokens_before=before, tokens_after=before, cut=False, fits=True
        )
    pinned = {n for n, unit in enumerate(units) if unit.pinned}
    room = limit - mark_tokens - sum(sizes[n] for n in pinned)
    chosen = _newest(units, sizes, pinned, room) if room >= 0 else set()
    kept = tuple(unit for n, unit in enumerate(units) if n in pinned or n in chosen)
    dropped = tuple(unit for n, unit in enumerate(units) if n not in pinned and n not in chosen)
    left_out = sum(size for n, size in enumerate(sizes) if n not in pinned and n not in chosen)
    after = before - left_out
    last_dropped = dropped[-1].start if dropped else -1
    return MessagesCut(
        kept=kept,
        dropped=dropped,
        tokens_before=before,
        tokens_after=after + (mark_tokens if dropped else 0),
        cut=True,
        fits=room >= 0,
        mark=tokens_cut(left_out) if dropped else "",
        mark_at=sum(unit.start < last_dropped for unit in kept),
    )


def _newest(units: Sequence[MessageUnit], sizes: Sequence[int], pinned: set[int], room: int) -> set[int]:
    free = [n for n in range(len(units)) if n not in pinned]
    if not free:
        return set()
    chosen: set[int] = set()
    turns: dict[int, list[int]] = {}
    for n in free:
        turns.setdefault(units[n].turn, []).append(n)
    for turn in sorted(turns, reverse=True):
        size = sum(sizes[n] for n in turns[turn])
        if size > room:
            break
        room -= size
        chosen.update(turns[turn])
    return chosen or _newest_steps(units, sizes, turns[max(turns)], room)


def _newest_steps(units: Sequence[MessageUnit], sizes: Sequence[int], turn: Sequence[int], room: int) -> set[int]:
    """Of a turn that does not fit: its first message and as many of its newest units as fit, or nothing."""
    opener = next((n for n in turn if units[n].opens), None)
    room -= 0 if opener is None else sizes[opener]
    steps: list[int] = []
    for n in reversed(turn):
        if n == opener or sizes[n] > room:
            break
        room -= sizes[n]
        steps.append(n)
    while opener is None and steps and units[steps[-1]].orphan:
        steps.pop()
    if not steps:
        return set()
    return {*steps} if opener is None else {opener, *steps}
