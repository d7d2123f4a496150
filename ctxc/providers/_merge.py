"""Turns to messages for providers that take only user and assistant messages in turn.

Such providers merge neighbours of the same role anyway (Anthropic says so), so they are merged here, where the result
can be counted. Tool results are user content and stand before all other content of their message. A blank text is
refused by all of them and is not sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ctxc.base.values import dataclass
from ctxc.model.request import Part, Turn
from ctxc.model.section import ToolCall
from ctxc.providers._build import spoken
from ctxc.providers._read import parse_object


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One content block: a text, a call, or the result of a call (whose parts are its content)."""

    section_id: str
    part: Part | None = None
    call: ToolCall | None = None
    result_of: str | None = None
    parts: tuple[Part, ...] = ()
    is_error: bool = False
    stable: bool = False


def merged(turns: Iterable[Turn]) -> list[tuple[str, tuple[Block, ...]]]:
    """Role (user or assistant) and blocks of each message; a message without blocks is left out."""
    messages: list[tuple[str, list[Block]]] = []
    for turn in turns:
        role = "assistant" if turn.role == "assistant" else "user"
        blocks = _blocks(turn)
        if not blocks:
            continue
        if messages and messages[-1][0] == role:
            messages[-1][1].extend(blocks)
        else:
            messages.append((role, blocks))
    return [(role, _results_first(blocks)) for role, blocks in messages]


def _blocks(turn: Turn) -> list[Block]:
    parts = spoken(turn.parts)
    if turn.role == "tool":
        owner = turn.section_id or (turn.parts[0].section_id if turn.parts else "")
        return [
            Block(
                section_id=owner,
                result_of=turn.tool_call_id or "",
                parts=parts,
                is_error=turn.is_error,
                stable=bool(parts) and all(p.stable for p in parts),
            )
        ]
    blocks = [Block(section_id=p.section_id, part=p, stable=p.stable) for p in parts]
    owner = turn.section_id or (parts[0].section_id if parts else "")
    stable = bool(parts) and all(p.stable for p in parts)
    blocks += [Block(section_id=owner, call=c, stable=stable) for c in turn.tool_calls]
    return blocks


def _results_first(blocks: Sequence[Block]) -> tuple[Block, ...]:
    results = [b for b in blocks if b.result_of is not None]
    return (*results, *(b for b in blocks if b.result_of is None)) if results else tuple(blocks)


def call_ids(turns: Iterable[Turn]) -> list[str]:
    """Ids of all calls and results, in order."""
    found: list[str] = []
    for turn in turns:
        found += [c.id for c in turn.tool_calls]
        if turn.role == "tool":
            found.append(turn.tool_call_id or "")
    return found


def call_input(arguments: str) -> dict[str, Any]:
    """The arguments of a call as the object that such interfaces demand.

    A text that is no JSON object, or would not come back out of one unchanged, is kept as ``{"_raw": text}``; an
    empty text is the empty object.
    """
    if not arguments.strip():
        return {}
    value = parse_object(arguments)
    return {"_raw": arguments} if value is None else value


def result_mark(block: Block) -> str:
    """The mark that a tool result's parts ask for, if any."""
    return next((p.mark for p in reversed(block.parts) if p.mark), "")
