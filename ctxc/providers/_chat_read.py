"""Chat Completions request to what is in it: leaves, texts, segments, tokens. Works on requests of any origin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ctxc.model.counting import Count, Tokenizer
from ctxc.model.provider import ModelRow
from ctxc.model.request import Leaf, Segment
from ctxc.providers._chat_render import role_frame
from ctxc.providers._images import add_image
from ctxc.providers._marks import ttl_of
from ctxc.providers._read import as_int, as_list, as_map, as_text, compact, escape
from ctxc.providers._tally import Tally, framing_of, tokenizer_ref
from ctxc.providers._typescript import declaration, namespace

SETTINGS = (
    "model",
    "response_format",
    "tool_choice",
    "parallel_tool_calls",
    "reasoning_effort",
    "verbosity",
    "service_tier",
    "prompt_cache_key",
    "prompt_cache_options",
    "functions",
    "function_call",
)
"""Keys of a request that may decide whether a cached prefix is found (OpenAI prompt caching guide, October 2026)."""

_SYSTEM = ("system", "developer")


def messages_of(request: Mapping[str, Any]) -> Iterator[tuple[int, Mapping[str, Any], str, str]]:
    """Index, message, role and zone of every message: system for the leading run of system and developer messages,
    messages for all others."""
    zone = "system"
    for index, value in enumerate(as_list(request.get("messages"))):
        message = as_map(value)
        role = as_text(message.get("role"))
        if role not in _SYSTEM:
            zone = "messages"
        yield index, message, role, zone


def blocks_of(message: Mapping[str, Any], pointer: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The content of a message as content parts with their pointers; a plain string reads as one text part."""
    content = message.get("content")
    if isinstance(content, str):
        yield f"{pointer}/content", {"type": "text", "text": content}
        return
    for index, value in enumerate(as_list(content)):
        part = as_map(value) if not isinstance(value, str) else {"type": "text", "text": value}
        yield f"{pointer}/content/{index}", part


def calls_of(message: Mapping[str, Any], pointer: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The functions that a message calls (``tool_calls``, and the older ``function_call``), with their pointers."""
    for index, call in enumerate(as_list(message.get("tool_calls"))):
        data = as_map(call)
        inner = "function" if isinstance(data.get("function"), Mapping) else "custom"
        yield f"{pointer}/tool_calls/{index}/{inner}", as_map(data.get(inner))
    if isinstance(message.get("function_call"), Mapping):
        yield f"{pointer}/function_call", as_map(message.get("function_call"))


def tools_of(request: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Function definitions (``tools``, and the older ``functions``), with their pointers."""
    for index, tool in enumerate(as_list(request.get("tools"))):
        data = as_map(tool)
        if isinstance(data.get("function"), Mapping):
            yield f"/tools/{index}/function", as_map(data.get("function"))
        elif data.get("type") == "function" or "name" in data:
            yield f"/tools/{index}", data
        else:
            yield f"/tools/{index}", {"name": as_text(data.get("type")), "description": "", "parameters": {}}
    for index, function in enumerate(as_list(request.get("functions"))):
        yield f"/functions/{index}", as_map(function)


def read_back(request: Mapping[str, Any]) -> tuple[Leaf, ...]:
    """Everything that the model reads, in physical order: tools, contract, messages."""
    found: list[Leaf] = []
    for pointer, tool in tools_of(request):
        found += tool_leaves(pointer, tool, "parameters")
    schema = as_map(as_map(request.get("response_format")).get("json_schema")).get("schema")
    if schema is not None:
        at = "/response_format/json_schema/schema"
        found.append(Leaf(pointer=at, zone="system", role="", kind="schema", text=compact(schema)))
    for index, message, role, zone in messages_of(request):
        at = f"/messages/{index}"
        if isinstance(message.get("name"), str) and message["name"]:
            found.append(Leaf(pointer=f"{at}/name", zone=zone, role=role, kind="name", text=message["name"]))
        for pointer, part in blocks_of(message, at):
            found.append(_leaf(pointer, part, zone, role))
        for pointer, call in calls_of(message, at):
            name = as_text(call.get("name"))
            arguments = as_text(call.get("arguments", call.get("input")))
            found.append(Leaf(pointer=f"{pointer}/name", zone=zone, role=role, kind="tool_name", text=name))
            found.append(Leaf(pointer=f"{pointer}/arguments", zone=zone, role=role, kind="tool_use", text=arguments))
    return tuple(found)


def tool_leaves(pointer: str, tool: Mapping[str, Any], schema_key: str) -> list[Leaf]:
    """Name, description and schema of a tool definition."""
    leaves = [Leaf(pointer=f"{pointer}/name", zone="tools", role="", kind="tool_name", text=as_text(tool.get("name")))]
    if tool.get("description"):
        text = as_text(tool.get("description"))
        leaves.append(Leaf(pointer=f"{pointer}/description", zone="tools", role="", kind="text", text=text))
    if schema_key in tool:
        at = f"{pointer}/{escape(schema_key)}"
        leaves.append(Leaf(pointer=at, zone="tools", role="", kind="schema", text=compact(tool[schema_key])))
    return leaves


def _leaf(pointer: str, part: Mapping[str, Any], zone: str, role: str) -> Leaf:
    kind = as_text(part.get("type")) or "text"
    for key in ("text", "refusal"):
        if isinstance(part.get(key), str):
            what = "tool_result" if role in ("tool", "function") else "text"
            place = pointer if not pointer.rsplit("/", 1)[-1].isdigit() else f"{pointer}/{key}"
            return Leaf(pointer=place, zone=zone, role=role, kind=what, text=part[key])
    return Leaf(pointer=pointer, zone=zone, role=role, kind=kind, text="")


def declarations(request: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Pointer and TypeScript declaration of every function definition that is not deferred."""
    found: list[tuple[str, str]] = []
    for pointer, tool in tools_of(request):
        if tool.get("defer_loading") is True:
            continue
        text = declaration(as_text(tool.get("name")), as_text(tool.get("description")), as_map(tool.get("parameters")))
        found.append((pointer.removesuffix("/function"), text))
    return found


def contract_text(request: Mapping[str, Any]) -> str:
    """The output format as the documented harmony form shows it to a model; "" where there is none."""
    body = as_map(as_map(request.get("response_format")).get("json_schema"))
    return format_text(body)


def format_text(body: Mapping[str, Any]) -> str:
    """Name, description and schema of a structured output as the model is told of them."""
    if not isinstance(body.get("schema"), Mapping):
        return ""
    lines = ["# Response Formats", "", f"## {as_text(body.get('name'))}", ""]
    if body.get("description"):
        lines.append(f"// {as_text(body.get('description'))}")
    return "\n".join([*lines, compact(body["schema"])])


def texts(request: Mapping[str, Any]) -> Sequence[str]:
    """Every text that ``count`` hands to the tokenizer."""
    return tuple(t for t in _counted(request) if t)


def _counted(request: Mapping[str, Any]) -> list[str]:
    found = [leaf.text for leaf in read_back(request) if leaf.zone != "tools" and leaf.kind in _COUNTED]
    found.append(contract_text(request))
    drawn = [text for _, text in declarations(request)]
    if drawn:
        found += [*drawn, namespace(drawn)]
    return found


_COUNTED = frozenset({"text", "name", "tool_name", "tool_use", "tool_result"})


def count(request: Mapping[str, Any], tokenizer: Tokenizer, row: ModelRow) -> Count:
    """Tokens of a whole request.

    Constants come from the row's framing: ``per_message`` (3 and the role), ``per_name``, ``priming``,
    ``per_tool_call``, ``tools``, ``contract``, ``slack`` (tokens that the whole may be off).
    """
    framing = framing_of(row, tokenizer_ref(tokenizer, row))
    tally = Tally()
    has_system = False
    per_message = as_int(framing.get("per_message"))
    per_name = as_int(framing.get("per_name"))
    for index, message, role, _ in messages_of(request):
        at = f"/messages/{index}"
        has_system = has_system or role in _SYSTEM
        name = message.get("name")
        has_name = isinstance(name, str) and name != ""
        if has_name:
            tally.text(f"{at}/name", as_text(name))
        tally.fixed(at, per_message + per_name if has_name else per_message)
        for pointer, part in blocks_of(message, at):
            add_block(tally, pointer, part, row)
        for pointer, call in calls_of(message, at):
            tally.text(pointer, as_text(call.get("name")))
            tally.text(pointer, as_text(call.get("arguments", call.get("input"))))
            tally.fixed(pointer, as_int(framing.get("per_tool_call")), high=as_int(framing.get("per_tool_call_high")))
    tally.fixed("", as_int(framing.get("priming")))
    add_tools(tally, declarations(request), tokenizer, as_map(framing.get("tools")), has_system=has_system)
    add_contract(tally, "/response_format", contract_text(request), as_map(framing.get("contract")))
    slack = as_int(framing.get("slack"))
    tally.uncertain(slack, slack)
    return tally.finish(tokenizer, row)


def add_block(tally: Tally, pointer: str, part: Mapping[str, Any], row: ModelRow) -> None:
    """Count one content part: its text, or its picture, or a note that nothing public says what it costs."""
    for key in ("text", "refusal"):
        if isinstance(part.get(key), str):
            tally.text(pointer, part[key])
            return
    if part.get("type") in ("image_url", "input_image", "image"):
        add_image(tally, pointer, part, row)
        return
    if part:
        tally.method("heuristic")
        tally.note(f"a part of type {as_text(part.get('type')) or '?'} is not counted: {pointer}")


def add_tools(
    tally: Tally,
    drawn: Sequence[tuple[str, str]],
    tokenizer: Tokenizer,
    data: Mapping[str, Any],
    *,
    has_system: bool,
) -> None:
    """Tool definitions: the namespace as a whole, shown per tool, what is left over shown at ``/tools``."""
    if not drawn:
        return
    texts_ = [text for _, text in drawn]
    counts = tokenizer.count_many([namespace(texts_), *texts_])
    whole, each = counts[0], counts[1:]
    constant = as_int(data.get("base")) + len(drawn) * as_int(data.get("per_tool"))
    if has_system:
        constant += as_int(data.get("with_system"))
    for (pointer, _), tokens in zip(drawn, each, strict=True):
        tally.fixed(pointer, tokens)
    left = whole - sum(each) + constant
    tally.fixed("/tools", left, low=as_int(data.get("low")), high=as_int(data.get("high")))


def add_contract(tally: Tally, pointer: str, text: str, data: Mapping[str, Any]) -> None:
    """Structured output: its text as the model is told of it, a constant, and how far that may be off."""
    if not text:
        return
    tally.text(pointer, text)
    tally.fixed(pointer, as_int(data.get("base")), low=as_int(data.get("low")), high=as_int(data.get("high")))
    tally.method("calibrated")
    tally.note("the cost of a structured output format is not published; it is estimated from its text")


def segments(request: Mapping[str, Any]) -> tuple[Segment, ...]:
    """Settings that key the cache, tools, messages: the order in which a changed byte loses what follows it."""
    found: list[Segment] = []
    for key in SETTINGS:
        if key in request:
            value = request[key]
            text = value if isinstance(value, str) else compact(value)
            if key == "response_format" and isinstance(as_map(value).get("json_schema"), Mapping):
                text = compact(value["json_schema"])
            name = "contract" if key == "response_format" else key
            found.append(Segment(id=name, pointer=f"/{key}", text=text, zone="settings"))
    for index, tool in enumerate(as_list(request.get("tools"))):
        data = as_map(tool)
        body = data.get("function", data)
        found.append(Segment(id=f"tools/{index}", pointer=f"/tools/{index}", text=compact(body), zone="tools"))
    for index, message, role, zone in messages_of(request):
        found += _message_segments(index, message, role, zone)
    return tuple(found)


def _message_segments(index: int, message: Mapping[str, Any], role: str, zone: str) -> list[Segment]:
    found: list[Segment] = []
    at = f"/messages/{index}"
    frame = role_frame(role, name=as_text(message.get("name")), tool_call_id=as_text(message.get("tool_call_id")))
    for pointer, part in blocks_of(message, at):
        text = part.get("text")
        if not isinstance(text, str):
            text = compact({k: v for k, v in part.items() if k not in ("prompt_cache_breakpoint", "cache_control")})
        mark = ttl_of(part.get("prompt_cache_breakpoint", part.get("cache_control")))
        if text or mark:
            found.append(Segment(id=pointer[1:], pointer=pointer, text=text, zone=zone, mark=mark, frame=frame))
            frame = ""
    calls = as_list(message.get("tool_calls")) or [v for v in [message.get("function_call")] if v]
    for number, call in enumerate(calls):
        pointer = f"{at}/tool_calls/{number}"
        found.append(Segment(id=pointer[1:], pointer=pointer, text=compact(call), zone=zone, frame=frame))
        frame = ""
    if not found:
        found.append(Segment(id=at[1:], pointer=at, text="", zone=zone, frame=frame))
    return found
