"""OpenAI Responses request to what is in it: leaves, texts, segments, tokens. Works on requests of any origin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ctxc.model.counting import Count, Tokenizer
from ctxc.model.provider import ModelRow
from ctxc.model.request import Leaf, Segment
from ctxc.providers._chat_read import add_block, add_contract, add_tools, blocks_of, format_text, tool_leaves
from ctxc.providers._chat_render import role_frame
from ctxc.providers._marks import ttl_of
from ctxc.providers._read import as_int, as_list, as_map, as_text, compact
from ctxc.providers._tally import Tally, framing_of, tokenizer_ref
from ctxc.providers._typescript import declaration, namespace

SETTINGS = (
    "model",
    "text",
    "reasoning",
    "tool_choice",
    "parallel_tool_calls",
    "service_tier",
    "context_management",
    "prompt_cache_key",
    "prompt_cache_options",
)
"""Keys of a request that may decide whether a cached prefix is found (OpenAI prompt caching guide, October 2026)."""

_SYSTEM = ("system", "developer")
_ELSEWHERE = ("previous_response_id", "conversation", "prompt")


def output_frame(item: Mapping[str, Any]) -> str:
    """Protocol in front of the output of a call."""
    return compact({"type": "function_call_output", "call_id": as_text(item.get("call_id"))})


def items_of(request: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any], str, str]]:
    """Pointer, item, kind (message, function_call, ...) and zone of every input item; a string reads as one message."""
    value = request.get("input")
    if isinstance(value, str):
        yield "", {"role": "user", "content": value}, "message", "messages"
        return
    leading = True
    for index, raw in enumerate(as_list(value)):
        item = as_map(raw)
        kind = as_text(item.get("type")) or "message"
        leading = leading and kind == "message" and as_text(item.get("role")) in _SYSTEM
        yield f"/input/{index}", item, kind, "system" if leading else "messages"


def message_blocks(item: Mapping[str, Any], pointer: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Content parts of a message item; the pointer of an input that is one string is ``/input``."""
    for place, part in blocks_of(item, pointer):
        yield (place if pointer else "/input"), part


def outputs_of(item: Mapping[str, Any], pointer: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Content parts of the output of a call."""
    output = item.get("output")
    if isinstance(output, (list, tuple)):
        for index, part in enumerate(output):
            yield f"{pointer}/output/{index}", as_map(part)
    else:
        yield f"{pointer}/output", {"type": "input_text", "text": as_text(output)}


def functions_of(request: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Function definitions that stand in the request, flat or nested, with their pointers."""
    for index, raw in enumerate(as_list(request.get("tools"))):
        tool = as_map(raw)
        if tool.get("type") == "function":
            yield f"/tools/{index}", as_map(tool.get("function")) or tool


def read_back(request: Mapping[str, Any]) -> tuple[Leaf, ...]:
    """Everything that the model reads, in physical order: tools, contract, instructions, input."""
    found: list[Leaf] = []
    for pointer, tool in functions_of(request):
        found += tool_leaves(pointer, tool, "parameters")
    schema = as_map(as_map(request.get("text")).get("format")).get("schema")
    if schema is not None:
        found.append(Leaf(pointer="/text/format/schema", zone="system", role="", kind="schema", text=compact(schema)))
    instructions = as_text(request.get("instructions"))
    if instructions:
        found.append(Leaf(pointer="/instructions", zone="system", role="system", kind="text", text=instructions))
    for pointer, item, kind, zone in items_of(request):
        found += _item_leaves(pointer, item, kind, zone)
    return tuple(found)


def _item_leaves(pointer: str, item: Mapping[str, Any], kind: str, zone: str) -> Iterator[Leaf]:
    role = as_text(item.get("role"))
    if kind == "message":
        for place, part in message_blocks(item, pointer):
            yield _part_leaf(place, part, zone, role, "text")
    elif kind == "function_call":
        name, arguments = as_text(item.get("name")), as_text(item.get("arguments"))
        yield Leaf(pointer=f"{pointer}/name", zone=zone, role="assistant", kind="tool_name", text=name)
        yield Leaf(pointer=f"{pointer}/arguments", zone=zone, role="assistant", kind="tool_use", text=arguments)
    elif kind == "function_call_output":
        for place, part in outputs_of(item, pointer):
            yield _part_leaf(place, part, zone, "tool", "tool_result")
    else:
        yield Leaf(pointer=pointer, zone=zone, role=role, kind=kind, text="")


def _part_leaf(pointer: str, part: Mapping[str, Any], zone: str, role: str, kind: str) -> Leaf:
    for key in ("text", "refusal"):
        if isinstance(part.get(key), str):
            tail = f"/{key}" if pointer.rsplit("/", 1)[-1].isdigit() else ""
            return Leaf(pointer=pointer + tail, zone=zone, role=role, kind=kind, text=part[key])
    return Leaf(pointer=pointer, zone=zone, role=role, kind=as_text(part.get("type")) or "?", text="")


def declarations(request: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Pointer and TypeScript declaration of every function definition that is not deferred."""
    return [
        (
            pointer,
            declaration(as_text(t.get("name")), as_text(t.get("description")), as_map(t.get("parameters"))),
        )
        for pointer, t in functions_of(request)
        if t.get("defer_loading") is not True
    ]


def _format(request: Mapping[str, Any]) -> str:
    return format_text(as_map(as_map(request.get("text")).get("format")))


_COUNTED = frozenset({"text", "tool_name", "tool_use", "tool_result"})


def texts(request: Mapping[str, Any]) -> Sequence[str]:
    """Every text that ``count`` hands to the tokenizer."""
    found = [leaf.text for leaf in read_back(request) if leaf.zone != "tools" and leaf.kind in _COUNTED]
    found.append(_format(request))
    drawn = [text for _, text in declarations(request)]
    if drawn:
        found += [*drawn, namespace(drawn)]
    return tuple(t for t in found if t)


def count(request: Mapping[str, Any], tokenizer: Tokenizer, row: ModelRow) -> Count:
    """Tokens of a whole request, with the constants of the row's framing.

    Those of Chat Completions, and ``tools_responses``, ``pro_mode`` (hidden text of ``reasoning.mode: pro``) and
    ``compaction`` (what a request to compact a conversation adds).
    """
    framing = framing_of(row, tokenizer_ref(tokenizer, row))
    tally = Tally()
    per_message = as_int(framing.get("per_message"))
    instructions = as_text(request.get("instructions"))
    if instructions:
        tally.text("/instructions", instructions)
        tally.fixed("/instructions", per_message)
    last = ""
    for pointer, item, kind, _ in items_of(request):
        _count_item(tally, pointer, item, kind, last, row, framing)
        last = as_text(item.get("role")) if kind == "message" else kind
    tally.fixed("", as_int(framing.get("priming")))
    data = as_map(framing.get("tools_responses")) or as_map(framing.get("tools"))
    add_tools(tally, declarations(request), tokenizer, data, has_system=bool(instructions))
    add_contract(tally, "/text/format", _format(request), as_map(framing.get("contract")))
    _count_settings(tally, request, framing, last)
    slack = as_int(framing.get("slack"))
    tally.uncertain(slack, slack)
    return tally.finish(tokenizer, row)


def _count_item(
    tally: Tally,
    pointer: str,
    item: Mapping[str, Any],
    kind: str,
    before: str,
    row: ModelRow,
    framing: Mapping[str, Any],
) -> None:
    per_message = as_int(framing.get("per_message"))
    if kind == "message":
        tally.fixed(pointer or "/input", per_message)
        for place, part in message_blocks(item, pointer):
            add_block(tally, place, part, row)
    elif kind == "function_call":
        # A call belongs to the assistant's message before it; alone it is a message of its own.
        own = 0 if before in ("assistant", "function_call", "reasoning") else per_message
        tally.fixed(pointer, own)
        tally.text(f"{pointer}/name", as_text(item.get("name")))
        tally.text(f"{pointer}/arguments", as_text(item.get("arguments")))
        high = as_int(framing.get("per_tool_call_high"))
        tally.fixed(f"{pointer}/name", as_int(framing.get("per_tool_call")), high=high)
    elif kind == "function_call_output":
        tally.fixed(pointer, per_message)
        for place, part in outputs_of(item, pointer):
            add_block(tally, place, part, row)
    else:
        tally.method("heuristic")
        tally.note(f"an item of type {kind} is not counted: {pointer}")


def _count_settings(tally: Tally, request: Mapping[str, Any], framing: Mapping[str, Any], last: str) -> None:
    pro = as_int(framing.get("pro_mode"))
    if as_map(request.get("reasoning")).get("mode") == "pro":
        tally.fixed("/reasoning/mode", pro, low=pro // 10, high=pro // 10)
        tally.method("calibrated")
        tally.note("pro mode adds hidden text; its size is taken from one recorded call")
    if last == "assistant" and framing.get("compaction"):
        tally.uncertain(0, as_int(framing.get("compaction")))
        tally.note("the input ends with the assistant: a request to compact it would add hidden text")
    for index, raw in enumerate(as_list(request.get("tools"))):
        kind = as_text(as_map(raw).get("type"))
        if kind != "function":
            tally.method("heuristic")
            tally.note(f"nothing public says what a tool of type {kind or '?'} adds: /tools/{index} is not counted")
    for key in _ELSEWHERE:
        if request.get(key):
            tally.method("heuristic")
            tally.note(f"{key} brings in text that does not stand in the request; it is not counted")


def segments(request: Mapping[str, Any]) -> tuple[Segment, ...]:
    """Settings that key the cache, tools, instructions, input."""
    found: list[Segment] = []
    for key in SETTINGS:
        if key not in request:
            continue
        value = request[key]
        name, pointer = key, f"/{key}"
        if key == "text" and isinstance(as_map(value).get("format"), Mapping):
            name, pointer, value = "contract", "/text/format", value["format"]
        text = value if isinstance(value, str) else compact(value)
        found.append(Segment(id=name, pointer=pointer, text=text, zone="settings"))
    for index, raw in enumerate(as_list(request.get("tools"))):
        found.append(Segment(id=f"tools/{index}", pointer=f"/tools/{index}", text=compact(raw), zone="tools"))
    instructions = as_text(request.get("instructions"))
    if instructions:
        found.append(Segment(id="instructions", pointer="/instructions", text=instructions, zone="system"))
    for pointer, item, kind, zone in items_of(request):
        found += _item_segments(pointer, item, kind, zone)
    return tuple(found)


def _item_segments(pointer: str, item: Mapping[str, Any], kind: str, zone: str) -> list[Segment]:
    if kind == "message":
        blocks, frame = list(message_blocks(item, pointer)), role_frame(as_text(item.get("role")))
    elif kind == "function_call_output":
        blocks, frame = list(outputs_of(item, pointer)), output_frame(item)
    else:
        return [Segment(id=pointer[1:], pointer=pointer, text=compact(item), zone=zone)]
    found = []
    for place, part in blocks:
        text = part.get("text")
        if not isinstance(text, str):
            text = compact({k: v for k, v in part.items() if k != "prompt_cache_breakpoint"})
        mark = ttl_of(part.get("prompt_cache_breakpoint"))
        found.append(Segment(id=place[1:], pointer=place, text=text, zone=zone, mark=mark, frame=frame))
        frame = ""
    return found or [Segment(id=pointer[1:], pointer=pointer, text="", zone=zone, frame=frame)]
