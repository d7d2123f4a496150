"""Bedrock Converse request to what is in it: leaves, segments, and the view that is counted. Any origin will do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ctxc.model.request import Leaf, Segment
from ctxc.providers._claude_count import Block, View
from ctxc.providers._marks import ttl_of
from ctxc.providers._read import as_list, as_map, as_text, compact

_SETTINGS_EARLY = ("modelId", "serviceTier", "performanceConfig")
_SETTINGS_LATE = ("guardrailConfig", "additionalModelRequestFields")


def role_frame(role: str) -> str:
    """Protocol in front of a message."""
    return compact({"role": role})


def result_frame(result: Mapping[str, Any]) -> str:
    """Protocol in front of a tool result's content."""
    return compact({k: result[k] for k in ("toolUseId", "status") if k in result})


def tools_of(request: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Entries of ``toolConfig.tools`` with their pointers: toolSpec, systemTool or cachePoint."""
    for index, raw in enumerate(as_list(as_map(request.get("toolConfig")).get("tools"))):
        yield f"/toolConfig/tools/{index}", as_map(raw)


def system_of(request: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """System blocks with their pointers."""
    for index, raw in enumerate(as_list(request.get("system"))):
        yield f"/system/{index}", as_map(raw)


def messages_of(request: Mapping[str, Any]) -> Iterator[tuple[int, str, list[tuple[str, Mapping[str, Any]]]]]:
    """Index, role and content blocks (with pointers) of every message."""
    for index, raw in enumerate(as_list(request.get("messages"))):
        message = as_map(raw)
        at = f"/messages/{index}/content"
        blocks = [(f"{at}/{i}", as_map(b)) for i, b in enumerate(as_list(message.get("content")))]
        yield index, as_text(message.get("role")), blocks


def schema_of(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """``outputConfig.textFormat.structure.jsonSchema``, empty where there is none."""
    text_format = as_map(as_map(request.get("outputConfig")).get("textFormat"))
    return as_map(as_map(text_format.get("structure")).get("jsonSchema"))


def read_back(request: Mapping[str, Any]) -> tuple[Leaf, ...]:
    """Everything that the model reads, in physical order: tools, contract, system, messages."""
    found: list[Leaf] = []
    for pointer, entry in tools_of(request):
        spec = as_map(entry.get("toolSpec"))
        if not spec:
            continue
        at = f"{pointer}/toolSpec"
        name, about = as_text(spec.get("name")), as_text(spec.get("description"))
        found.append(Leaf(pointer=f"{at}/name", zone="tools", role="", kind="tool_name", text=name))
        if about:
            found.append(Leaf(pointer=f"{at}/description", zone="tools", role="", kind="text", text=about))
        schema = compact(as_map(spec.get("inputSchema")).get("json", {}))
        found.append(Leaf(pointer=f"{at}/inputSchema/json", zone="tools", role="", kind="schema", text=schema))
    text = schema_of(request).get("schema")
    if text is not None:
        at = "/outputConfig/textFormat/structure/jsonSchema/schema"
        found.append(Leaf(pointer=at, zone="system", role="", kind="schema", text=as_text(text)))
    for pointer, block in system_of(request):
        found += _leaves(pointer, block, "system", "system")
    for _, role, blocks in messages_of(request):
        for pointer, block in blocks:
            found += _leaves(pointer, block, "messages", role)
    return tuple(found)


def _leaves(pointer: str, block: Mapping[str, Any], zone: str, role: str) -> Iterator[Leaf]:
    if isinstance(block.get("text"), str):
        yield Leaf(pointer=f"{pointer}/text", zone=zone, role=role, kind="text", text=block["text"])
    elif isinstance(block.get("toolUse"), Mapping):
        use = block["toolUse"]
        at = f"{pointer}/toolUse"
        yield Leaf(pointer=f"{at}/name", zone=zone, role=role, kind="tool_name", text=as_text(use.get("name")))
        yield Leaf(pointer=f"{at}/input", zone=zone, role=role, kind="tool_use", text=compact(use.get("input", {})))
    elif isinstance(block.get("toolResult"), Mapping):
        inner = as_list(block["toolResult"].get("content"))
        for number, raw in enumerate(inner):
            text = _result_text(as_map(raw))
            at = f"{pointer}/toolResult/content/{number}"
            yield Leaf(pointer=at, zone=zone, role=role, kind="tool_result", text=text)
        if not inner:
            yield Leaf(pointer=f"{pointer}/toolResult", zone=zone, role=role, kind="tool_result", text="")
    elif "cachePoint" not in block:
        yield Leaf(pointer=pointer, zone=zone, role=role, kind=_kind(block), text="")


def _result_text(block: Mapping[str, Any]) -> str:
    if isinstance(block.get("text"), str):
        return str(block["text"])
    return compact(block["json"]) if "json" in block else ""


def _kind(block: Mapping[str, Any]) -> str:
    return next((str(k) for k in block), "?")


def _as_messages(pointer: str, block: Mapping[str, Any]) -> Block | None:
    """A block in Messages form, at its own pointer; None for a cache mark."""
    if "cachePoint" in block:
        return None
    if isinstance(block.get("text"), str):
        return pointer, {"type": "text", "text": block["text"]}
    if isinstance(block.get("toolUse"), Mapping):
        use = block["toolUse"]
        return pointer, {"type": "tool_use", "name": use.get("name"), "input": use.get("input", {})}
    if isinstance(block.get("toolResult"), Mapping):
        content = [
            {"type": "text", "text": _result_text(b)} if "text" in b or "json" in b else {"type": _kind(b)}
            for b in map(as_map, as_list(block["toolResult"].get("content")))
        ]
        return f"{pointer}/toolResult", {"type": "tool_result", "content": content}
    if isinstance(block.get("image"), Mapping):
        return pointer, {"type": "image", "source": as_map(block["image"].get("source"))}
    if isinstance(block.get("reasoningContent"), Mapping):
        text = as_map(block["reasoningContent"].get("reasoningText")).get("text")
        return pointer, {"type": "thinking", "thinking": as_text(text)}
    return pointer, {"type": _kind(block)}


def view_of(request: Mapping[str, Any]) -> View:
    """What of the request costs tokens."""
    config = as_map(request.get("toolConfig"))
    tools = []
    for pointer, entry in tools_of(request):
        spec = as_map(entry.get("toolSpec"))
        if spec:
            schema = as_map(spec.get("inputSchema")).get("json", {})
            tools.append((pointer, {**spec, "input_schema": schema}))
        elif "systemTool" in entry:
            tools.append((pointer, {"type": as_text(as_map(entry["systemTool"]).get("name")) or "?"}))
    text = schema_of(request).get("schema")
    choice = as_map(config.get("toolChoice"))
    return View(
        tools=tools,
        tools_at="/toolConfig/tools",
        choice=next((c for c in ("any", "tool") if c in choice), "auto"),
        schema=("/outputConfig/textFormat", _parsed(text)) if text is not None else None,
        system=[b for b in (_as_messages(p, block) for p, block in system_of(request)) if b],
        messages=[
            (f"/messages/{i}", role, [b for b in (_as_messages(p, block) for p, block in blocks) if b])
            for i, role, blocks in messages_of(request)
        ],
        uncounted=[k for k in ("guardrailConfig", "promptVariables") if request.get(k)],
    )


def _parsed(text: object) -> Any:
    import json

    if not isinstance(text, str):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def segments(request: Mapping[str, Any]) -> tuple[Segment, ...]:
    """Settings, tools, contract, system, messages; a cache mark belongs to the segment before it."""
    found: list[Segment] = []
    found += _settings(request, _SETTINGS_EARLY)
    for pointer, entry in tools_of(request):
        if "cachePoint" in entry:
            _mark_last(found, entry)
        else:
            body = entry.get("toolSpec", entry)
            found.append(Segment(id=pointer[1:], pointer=pointer, text=compact(body), zone="tools"))
    text_format = as_map(request.get("outputConfig")).get("textFormat")
    if text_format is not None:
        at = "/outputConfig/textFormat"
        found.append(Segment(id="contract", pointer=at, text=compact(text_format), zone="settings"))
    for pointer, block in system_of(request):
        if "cachePoint" in block:
            _mark_last(found, block)
        else:
            found += _block_segments(pointer, block, "system", "")
    choice = as_map(request.get("toolConfig")).get("toolChoice")
    if choice is not None:
        at = "/toolConfig/toolChoice"
        found.append(Segment(id="tool_choice", pointer=at, text=compact(choice), zone="settings"))
    found += _settings(request, _SETTINGS_LATE)
    for _, role, blocks in messages_of(request):
        frame = role_frame(role)
        for pointer, block in blocks:
            if "cachePoint" in block:
                _mark_last(found, block)
                continue
            found += _block_segments(pointer, block, "messages", frame)
            frame = ""
    return tuple(found)


def _settings(request: Mapping[str, Any], keys: tuple[str, ...]) -> list[Segment]:
    found = []
    for key in keys:
        if key in request:
            value = request[key]
            text = value if isinstance(value, str) else compact(value)
            found.append(
                Segment(id="model" if key == "modelId" else key, pointer=f"/{key}", text=text, zone="settings")
            )
    return found


def _mark_last(found: list[Segment], block: Mapping[str, Any]) -> None:
    if not found or found[-1].zone == "settings":
        return
    last = found[-1]
    found[-1] = Segment(
        id=last.id,
        pointer=last.pointer,
        text=last.text,
        zone=last.zone,
        stable=last.stable,
        mark=ttl_of(block["cachePoint"]),
        frame=last.frame,
    )


def _block_segments(pointer: str, block: Mapping[str, Any], zone: str, frame: str) -> list[Segment]:
    if isinstance(block.get("toolResult"), Mapping):
        result = block["toolResult"]
        frame += result_frame(result)
        found = []
        for number, raw in enumerate(as_list(result.get("content"))):
            at = f"{pointer}/toolResult/content/{number}"
            inner = as_map(raw)
            text = _result_text(inner) if "text" in inner or "json" in inner else compact(inner)
            found.append(Segment(id=at[1:], pointer=at, text=text, zone=zone, frame=frame))
            frame = ""
        return found or [Segment(id=pointer[1:], pointer=pointer, text="", zone=zone, frame=frame)]
    text = block["text"] if isinstance(block.get("text"), str) else compact(block)
    return [Segment(id=pointer[1:], pointer=pointer, text=text, zone=zone, frame=frame)]
