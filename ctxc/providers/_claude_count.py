"""Tokens of a request to Claude, in whichever interface's form it comes: all of them reduce to one view.

``total = frame + turns + texts + tools + settings``; the constants are the row's framing (where and how they were
fitted: see the profile's sources). A Converse request is counted as the Messages request that it means.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ctxc.base.values import dataclass
from ctxc.model.counting import Count, Tokenizer
from ctxc.model.provider import ModelRow
from ctxc.providers._images import add_image
from ctxc.providers._read import as_int, as_list, as_map, as_text, compact, spaced
from ctxc.providers._tally import Tally, framing_of, tokenizer_ref

Block = tuple[str, Mapping[str, Any]]
"""JSON pointer into the request as sent, and the block in Messages form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What of a request costs tokens, in Messages form, with pointers into the request as sent."""

    tools: Sequence[Block] = ()
    tools_at: str = "/tools"
    choice: str = "auto"
    schema: tuple[str, Any] | None = None
    thinking: str = ""
    system: Sequence[Block] = ()
    messages: Sequence[tuple[str, str, Sequence[Block]]] = ()  # pointer, role, blocks
    uncounted: Sequence[str] = ()  # keys that bring in what nobody can count


def tool_json(tool: Mapping[str, Any]) -> str:
    """The serialization of a tool definition whose count, with the constants of the framing, agrees with recordings.

    One of sixteen forms that agree equally well on the recorded rows (30 rows, all of the older tokenizer), so its
    exact form is not identified.
    """
    body: dict[str, Any] = {}
    if tool.get("description"):
        body["description"] = as_text(tool.get("description"))
    body["name"] = as_text(tool.get("name"))
    body["parameters"] = tool.get("input_schema", {})
    return spaced(body)


def _is_custom(tool: Mapping[str, Any]) -> bool:
    return "input_schema" in tool or tool.get("type") in (None, "custom")


def texts(view: View) -> Sequence[str]:
    """Every text that ``count`` hands to the tokenizer."""
    found = [tool_json(t) for _, t in view.tools if _is_custom(t) and t.get("defer_loading") is not True]
    if view.schema is not None:
        found.append(compact(view.schema[1]))
    for pointer, block in view.system:
        found += _texts_of(pointer, block)
    for _, _, blocks in view.messages:
        for pointer, block in blocks:
            found += _texts_of(pointer, block)
    return tuple(t for t in found if t)


def _texts_of(pointer: str, block: Mapping[str, Any]) -> Iterator[str]:
    match as_text(block.get("type")) or "text":
        case "text":
            yield as_text(block.get("text"))
        case "thinking" | "redacted_thinking":
            yield as_text(block.get("thinking"))
        case "tool_use" | "server_tool_use":
            yield as_text(block.get("name"))
            yield compact(block.get("input", {}))
        case "tool_result":
            for inner, child in content_of(block, pointer):
                yield from _texts_of(inner, child)
        case _:
            return


def content_of(holder: Mapping[str, Any], pointer: str) -> list[Block]:
    """Content blocks of a message or a tool result; a plain string reads as one text block."""
    content = holder.get("content")
    if isinstance(content, str):
        return [(f"{pointer}/content", {"type": "text", "text": content})]
    return [(f"{pointer}/content/{i}", as_map(b)) for i, b in enumerate(as_list(content))]


def count(view: View, tokenizer: Tokenizer, row: ModelRow) -> Count:
    """Tokens of a whole request.

    Constants come from the row's framing: ``frame`` (one user message), ``per_turn`` (each further turn),
    ``per_merged`` (a neighbour of the same role, a system message inside the conversation), ``per_block`` (a further
    text block of a message), ``keeps_thinking`` (whether earlier thinking stays in the context), ``tools`` (``auto``
    and ``any`` overheads, ``per_tool``, ``named``, ``fixed``), ``tool_use`` and ``tool_result`` (per block),
    ``contract``, ``thinking``, ``slack``.
    """
    framing = framing_of(row, tokenizer_ref(tokenizer, row))
    tally = Tally()
    _count_tools(tally, view, as_map(framing.get("tools")))
    _count_settings(tally, view, framing)
    for pointer, block in view.system:
        _count_block(tally, pointer, block, row, framing)
    tally.fixed("", as_int(framing.get("frame")))
    before = ""
    for number, (at, role, blocks) in enumerate(view.messages):
        if number:
            joined = role in (before, "system")
            tally.fixed(at, as_int(framing.get("per_merged" if joined else "per_turn")))
        before = role
        for position, (pointer, block) in enumerate(blocks):
            _count_block(tally, pointer, block, row, framing)
            if position and as_text(block.get("type")) in ("", "text"):
                tally.fixed(pointer, as_int(framing.get("per_block")))
    slack = as_int(framing.get("slack"))
    tally.uncertain(slack, slack)
    return tally.finish(tokenizer, row)


def _count_tools(tally: Tally, view: View, data: Mapping[str, Any]) -> None:
    tools = [(p, t) for p, t in view.tools if t.get("defer_loading") is not True]
    if len(tools) < len(view.tools):
        tally.method("heuristic")
        tally.note("deferred tools are not counted; the search tool in front of them is")
    if not tools:
        return
    overhead = as_int(data.get("any" if view.choice in ("any", "tool") else "auto"))
    if view.choice == "tool":
        overhead += as_int(data.get("named"))
    tally.fixed(view.tools_at, overhead, low=as_int(data.get("low")), high=as_int(data.get("high")))
    fixed = as_map(data.get("fixed"))
    for pointer, tool in tools:
        if _is_custom(tool):
            tally.text(pointer, tool_json(tool))
            tally.fixed(pointer, as_int(data.get("per_tool")))
            continue
        kind = as_text(tool.get("type"))
        known = next((v for k, v in fixed.items() if kind.startswith(k)), None)
        tally.fixed(pointer, as_int(known))
        tally.method("heuristic" if known is None else "calibrated")
        if known is None:
            tally.note(f"nothing is known of the tokens of tool type {kind!r}: not counted")


def _count_settings(tally: Tally, view: View, framing: Mapping[str, Any]) -> None:
    if view.schema is not None:
        data = as_map(framing.get("contract"))
        at, schema = view.schema
        tally.text(at, compact(schema))
        tally.fixed(at, as_int(data.get("base")), low=as_int(data.get("low")), high=as_int(data.get("high")))
        tally.method("calibrated")
        tally.note("the text that an output format adds is not published; it is estimated")
    thinking = as_map(framing.get("thinking"))
    if view.thinking in thinking:
        tally.fixed("/thinking", as_int(thinking.get(view.thinking)), low=as_int(thinking.get("low")))
    for key in view.uncounted:
        tally.method("heuristic")
        tally.note(f"nothing public says what {key} adds; it is not counted")


def _count_block(
    tally: Tally, pointer: str, block: Mapping[str, Any], row: ModelRow, framing: Mapping[str, Any]
) -> None:
    match as_text(block.get("type")) or "text":
        case "text":
            tally.text(pointer, as_text(block.get("text")))
        case "thinking" | "redacted_thinking":
            if framing.get("keeps_thinking") is False:
                tally.note("earlier thinking is not counted: this model's context drops it")
                return
            # What the service keeps of it is not what stands here.
            tally.text(pointer, as_text(block.get("thinking")))
            tally.method("heuristic")
            tally.note("earlier thinking is counted as its visible text")
        case "tool_use" | "server_tool_use":
            tally.text(pointer, as_text(block.get("name")))
            tally.text(pointer, compact(block.get("input", {})))
            _frame(tally, pointer, as_map(framing.get("tool_use")))
        case "tool_result":
            _frame(tally, pointer, as_map(framing.get("tool_result")))
            for inner_pointer, inner in content_of(block, pointer):
                _count_block(tally, inner_pointer, inner, row, framing)
        case "image":
            add_image(tally, pointer, block, row)
        case kind:
            tally.method("heuristic")
            tally.note(f"a block of type {kind} is not counted: {pointer}")


def _frame(tally: Tally, pointer: str, data: Mapping[str, Any]) -> None:
    if data:
        tally.method("calibrated")
    tally.fixed(pointer, as_int(data.get("base")), low=as_int(data.get("low")), high=as_int(data.get("high")))
