"""Anthropic Messages request to what is in it: leaves, segments, and the view that is counted. Any origin will do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ctxc.model.request import Leaf, Segment
from ctxc.providers._chat_read import tool_leaves
from ctxc.providers._claude_count import View, content_of
from ctxc.providers._marks import ttl_of
from ctxc.providers._read import as_list, as_map, as_text, compact

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


def view_of(request: Mapping[str, Any]) -> View:
    """What of the request costs tokens."""
    format_ = as_map(as_map(request.get("output_config")).get("format"))
    return View(
        tools=[(f"/tools/{i}", as_map(t)) for i, t in enumerate(as_list(request.get("tools")))],
        choice=as_text(as_map(request.get("tool_choice")).get("type")) or "auto",
        schema=("/output_config/format", format_["schema"]) if "schema" in format_ else None,
        thinking=as_text(as_map(request.get("thinking")).get("type")),
        system=list(system_of(request)),
        messages=[(f"/messages/{index}", role, blocks) for index, role, blocks in messages_of(request)],
        uncounted=[k for k in ("mcp_servers", "container", "context_management") if request.get(k)],
    )


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
