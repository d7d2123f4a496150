"""Anthropic Messages request to what is in it: leaves, texts, segments, tokens. Works on requests of any origin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ctxc.model.counting import Count, Tokenizer
from ctxc.model.provider import ModelRow
from ctxc.model.request import Leaf, Segment
from ctxc.providers._chat_read import tool_leaves
from ctxc.providers._images import add_image
from ctxc.providers._marks import ttl_of
from ctxc.providers._read import as_int, as_list, as_map, as_text, compact, spaced
from ctxc.providers._tally import Tally, framing_of, tokenizer_ref

SETTINGS_BEFORE = ("model", "speed", "service_tier")
SETTINGS_AFTER_TOOLS = ("output_config", "thinking", "context_management")
SETTINGS_LATE = ("tool_choice", "cache_control")
"""Where a change of a setting begins to lose cached tokens (invalidation table, 2026-08-22)."""


def role_frame(role: str) -> str:
    """Protocol in front of a message."""
    return compact({"role": role})


def result_frame(block: Mapping[str, Any]) -> str:
    """Protocol in front of a tool result's content."""
    return compact({k: block[k] for k in ("tool_use_id", "is_error") if k in block})


def system_of(request: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """System blocks with their pointers; a plain string reads as one text block."""
    system = request.get("system")
    if isinstance(system, str):
        yield "/system", {"type": "text", "text": system}
        return
    for index, block in enumerate(as_list(system)):
        yield f"/system/{index}", as_map(block)


def messages_of(request: Mapping[str, Any]) -> Iterator[tuple[int, str, list[tuple[str, Mapping[str, Any]]]]]:
    """Index, role and content blocks (with pointers) of every message."""
    for index, value in enumerate(as_list(request.get("messages"))):
        message = as_map(value)
        yield index, as_text(message.get("role")), content_of(message, f"/messages/{index}")


def content_of(holder: Mapping[str, Any], pointer: str) -> list[tuple[str, Mapping[str, Any]]]:
    """Content blocks of a message or a tool result; a plain string reads as one text block."""
    content = holder.get("content")
    if isinstance(content, str):
        return [(f"{pointer}/content", {"type": "text", "text": content})]
    return [(f"{pointer}/content/{i}", as_map(b)) for i, b in enumerate(as_list(content))]


def read_back(request: Mapping[str, Any]) -> tuple[Leaf, ...]:
    """Everything that the model reads, in physical order: tools, contract, system, messages."""
    found: list[Leaf] = []
    for index, tool in enumerate(as_list(request.get("tools"))):
        found += tool_leaves(f"/tools/{index}", as_map(tool), "input_schema")
    schema = as_map(as_map(request.get("output_config")).get("format")).get("schema")
    if schema is not None:
        at = "/output_config/format/schema"
        found.append(Leaf(pointer=at, zone="system", role="", kind="schema", text=compact(schema)))
    for pointer, block in system_of(request):
        found += _leaves(pointer, block, "system", "system")
    for _, role, blocks in messages_of(request):
        for pointer, block in blocks:
            found += _leaves(pointer, block, "messages", role)
    return tuple(found)


def _leaves(pointer: str, block: Mapping[str, Any], zone: str, role: str) -> list[Leaf]:
    kind = as_text(block.get("type")) or "text"

    def leaf(tail: str, kind: str, text: str) -> Leaf:
        return Leaf(pointer=pointer + tail, zone=zone, role=role, kind=kind, text=text)

    match kind:
        case "text":
            tail = "" if pointer in ("/system",) or not pointer.rsplit("/", 1)[-1].isdigit() else "/text"
            return [leaf(tail, "text", as_text(block.get("text")))]
        case "thinking":
            return [leaf("/thinking", "thinking", as_text(block.get("thinking")))]
        case "tool_use" | "server_tool_use":
            return [
                leaf("/name", "tool_name", as_text(block.get("name"))),
                leaf("/input", "tool_use", compact(block.get("input", {}))),
            ]
        case "tool_result":
            inner = content_of(block, pointer)
            return [
                Leaf(pointer=p, zone=zone, role=role, kind=_result_kind(b), text=as_text(b.get("text")))
                for p, b in inner
            ] or [leaf("", "tool_result", "")]
        case _:
            return [leaf("", kind, "")]


def _result_kind(block: Mapping[str, Any]) -> str:
    kind = as_text(block.get("type")) or "text"
    return "tool_result" if kind == "text" else kind


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


def _counted_tools(request: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for index, value in enumerate(as_list(request.get("tools"))):
        tool = as_map(value)
        if tool.get("defer_loading") is not True:
            yield f"/tools/{index}", tool


def _is_custom(tool: Mapping[str, Any]) -> bool:
    return "input_schema" in tool or tool.get("type") in (None, "custom")


def texts(request: Mapping[str, Any]) -> Sequence[str]:
    """Every text that ``count`` hands to the tokenizer."""
    found = [tool_json(t) for _, t in _counted_tools(request) if _is_custom(t)]
    found += [leaf.text for leaf in read_back(request) if leaf.zone != "tools"]
    return tuple(t for t in found if t)


def count(request: Mapping[str, Any], tokenizer: Tokenizer, row: ModelRow) -> Count:
    """Tokens of a whole request.

    Constants come from the row's framing: ``frame`` (one user message), ``per_turn`` (each further turn),
    ``per_merged`` (a neighbour of the same role, a further block), ``tools`` (``auto`` and ``any`` overheads,
    ``per_tool``, ``named``, ``fixed``), ``tool_use`` and ``tool_result`` (per block), ``contract``, ``thinking``,
    ``slack``.
    """
    framing = framing_of(row, tokenizer_ref(tokenizer, row))
    tally = Tally()
    _count_tools(tally, request, as_map(framing.get("tools")))
    _count_settings(tally, request, framing)
    for pointer, block in system_of(request):
        _count_block(tally, pointer, block, row, framing)
    tally.fixed("", as_int(framing.get("frame")))
    before = ""
    for index, role, blocks in messages_of(request):
        step = "" if not index else "per_merged" if role == before else "per_turn"
        tally.fixed(f"/messages/{index}", as_int(framing.get(step)) if step else 0)
        before = role
        for number, (pointer, block) in enumerate(blocks):
            _count_block(tally, pointer, block, row, framing)
            if number and as_text(block.get("type")) in ("", "text"):
                tally.fixed(pointer, as_int(framing.get("per_merged")))
    slack = as_int(framing.get("slack"))
    tally.uncertain(slack, slack)
    return tally.finish(tokenizer, row)


def _count_tools(tally: Tally, request: Mapping[str, Any], data: Mapping[str, Any]) -> None:
    tools = list(_counted_tools(request))
    if not tools:
        return
    choice = as_text(as_map(request.get("tool_choice")).get("type")) or "auto"
    overhead = as_int(data.get("any" if choice in ("any", "tool") else "auto"))
    if choice == "tool":
        overhead += as_int(data.get("named"))
    tally.fixed("/tools", overhead, low=as_int(data.get("low")), high=as_int(data.get("high")))
    fixed = as_map(data.get("fixed"))
    for pointer, tool in tools:
        if _is_custom(tool):
            tally.text(pointer, tool_json(tool))
            tally.fixed(pointer, as_int(data.get("per_tool")))
            continue
        known = next((v for k, v in fixed.items() if as_text(tool.get("type")).startswith(k)), None)
        tally.fixed(pointer, as_int(known))
        tally.method("heuristic" if known is None else "calibrated")
        if known is None:
            tally.note(f"nothing is known of the tokens of tool type {as_text(tool.get('type'))!r}: not counted")
    if any(True for t in as_list(request.get("tools")) if as_map(t).get("defer_loading") is True):
        tally.method("heuristic")
        tally.note("deferred tools are not counted; the search tool in front of them is")


def _count_settings(tally: Tally, request: Mapping[str, Any], framing: Mapping[str, Any]) -> None:
    schema = as_map(as_map(request.get("output_config")).get("format")).get("schema")
    if schema is not None:
        data = as_map(framing.get("contract"))
        at = "/output_config/format"
        tally.text(at, compact(schema))
        tally.fixed(at, as_int(data.get("base")), low=as_int(data.get("low")), high=as_int(data.get("high")))
        tally.method("calibrated")
        tally.note("the text that an output format adds is not published; it is estimated")
    thinking = as_map(framing.get("thinking"))
    kind = as_text(as_map(request.get("thinking")).get("type"))
    if kind in thinking:
        tally.fixed("/thinking", as_int(thinking.get(kind)), high=1)
    for key in ("mcp_servers", "container", "context_management"):
        if request.get(key):
            tally.method("heuristic")
            tally.note(f"nothing public says what {key} adds; it is not counted")


def _count_block(
    tally: Tally, pointer: str, block: Mapping[str, Any], row: ModelRow, framing: Mapping[str, Any]
) -> None:
    kind = as_text(block.get("type")) or "text"
    match kind:
        case "text":
            tally.text(pointer, as_text(block.get("text")))
        case "thinking" | "redacted_thinking":
            # The bytes of earlier thinking are replaced by the service; what it counts is not what stands here.
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
        case _:
            tally.method("heuristic")
            tally.note(f"a block of type {kind} is not counted: {pointer}")


def _frame(tally: Tally, pointer: str, data: Mapping[str, Any]) -> None:
    tally.fixed(pointer, as_int(data.get("base")), low=as_int(data.get("low")), high=as_int(data.get("high")))


def segments(request: Mapping[str, Any]) -> tuple[Segment, ...]:
    """Settings, tools, system, messages, each setting where its change begins to lose cached tokens."""
    found: list[Segment] = []
    found += _settings(request, SETTINGS_BEFORE)
    for index, value in enumerate(as_list(request.get("tools"))):
        tool = as_map(value)
        if tool.get("defer_loading") is True:
            continue
        mark = ttl_of(tool.get("cache_control"))
        body = {k: v for k, v in tool.items() if k != "cache_control"}
        found.append(
            Segment(id=f"tools/{index}", pointer=f"/tools/{index}", text=compact(body), zone="tools", mark=mark)
        )
    found += _settings(request, SETTINGS_AFTER_TOOLS)
    for pointer, block in system_of(request):
        found.append(_segment(pointer, block, "system", ""))
    found += _settings(request, SETTINGS_LATE)
    for _, role, blocks in messages_of(request):
        frame = role_frame(role)
        for pointer, block in blocks:
            found += _block_segments(pointer, block, frame)
            frame = ""
    return tuple(found)


def _settings(request: Mapping[str, Any], keys: Sequence[str]) -> list[Segment]:
    found = []
    for key in keys:
        if key not in request:
            continue
        value = request[key]
        name, pointer = key, f"/{key}"
        if key == "output_config" and isinstance(as_map(value).get("format"), Mapping):
            name, pointer, value = "contract", "/output_config/format", value["format"]
        text = value if isinstance(value, str) else compact(value)
        found.append(Segment(id=name, pointer=pointer, text=text, zone="settings"))
    return found


def _segment(pointer: str, block: Mapping[str, Any], zone: str, frame: str) -> Segment:
    text = block.get("text") if as_text(block.get("type")) in ("", "text") else None
    if not isinstance(text, str):
        text = compact({k: v for k, v in block.items() if k != "cache_control"})
    mark = ttl_of(block.get("cache_control"))
    return Segment(id=pointer[1:], pointer=pointer, text=text, zone=zone, mark=mark, frame=frame)


def _block_segments(pointer: str, block: Mapping[str, Any], frame: str) -> list[Segment]:
    if as_text(block.get("type")) != "tool_result":
        return [_segment(pointer, block, "messages", frame)]
    frame += result_frame(block)
    mark = ttl_of(block.get("cache_control"))
    inner = content_of(block, pointer)
    if not inner:
        return [Segment(id=pointer[1:], pointer=pointer, text="", zone="messages", mark=mark, frame=frame)]
    found = []
    for number, (inner_pointer, inner_block) in enumerate(inner):
        last = number == len(inner) - 1
        one = _segment(inner_pointer, inner_block, "messages", "" if number else frame)
        found.append(
            Segment(
                id=one.id,
                pointer=one.pointer,
                text=one.text,
                zone="messages",
                mark=one.mark or (mark if last else ""),
                frame=one.frame,
            )
        )
    return found
