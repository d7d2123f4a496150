"""What OpenAI Responses would refuse: pairing, names, schemas, marks, capabilities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ctxc.model.provider import ModelRow, ProviderProfile
from ctxc.providers._chat_render import TOOL_NAME
from ctxc.providers._checks import Marked, mark_complaints, size_complaints, tool_complaints
from ctxc.providers._read import as_int, as_list, as_map, as_text
from ctxc.providers._responses_read import functions_of, items_of, message_blocks
from ctxc.providers._subset import complaints

_ROLES = ("system", "developer", "user", "assistant")


def check(request: Mapping[str, Any], profile: ProviderProfile, row: ModelRow) -> tuple[str, ...]:
    """Everything that would be refused, with pointers."""
    return tuple(_check(request, profile, row))


def _check(request: Mapping[str, Any], profile: ProviderProfile, row: ModelRow) -> Iterator[str]:
    items = list(items_of(request))
    if not items and not request.get("prompt"):
        yield "/input: there has to be at least one item"
    for pointer, item, kind, _ in items:
        if kind == "message" and as_text(item.get("role")) not in _ROLES:
            yield f"{pointer}/role: {as_text(item.get('role'))!r} is not a role"
    if not request.get("previous_response_id") and not request.get("conversation"):
        yield from _pairs(items)
    functions = list(functions_of(request))
    if as_list(request.get("tools")) and "tools" not in row.capabilities:
        yield f"/tools: this interface does not take tools for {as_text(request.get('model')) or row.pattern}"
    yield from tool_complaints(functions, profile, TOOL_NAME, "parameters")
    yield from _format(request, profile, row)
    marks: list[Marked] = [
        (place, part["prompt_cache_breakpoint"], part, "messages")
        for pointer, item, kind, _ in items
        if kind == "message"
        for place, part in message_blocks(item, pointer)
        if "prompt_cache_breakpoint" in part
    ]
    yield from mark_complaints(marks, row)
    parts = (part for pointer, item, kind, _ in items if kind == "message" for _, part in message_blocks(item, pointer))
    yield from size_complaints(request, profile, (as_text(part.get("type")) for part in parts))
    limit = as_int(request.get("max_output_tokens"), -1)
    if row.max_output is not None and limit > row.max_output:
        yield f"/max_output_tokens: {limit:,} is over the model's {row.max_output:,}"


def _pairs(items: list[tuple[str, Mapping[str, Any], str, str]]) -> Iterator[str]:
    calls: dict[str, str] = {}
    answered: set[str] = set()
    for pointer, item, kind, _ in items:
        call = as_text(item.get("call_id"))
        if kind == "function_call":
            if call in calls:
                yield f"{pointer}: the call id {call!r} stands twice"
            calls[call] = pointer
        elif kind == "function_call_output":
            if call not in calls:
                yield f"{pointer}: an output has to follow its call, {call!r} is none"
            answered.add(call)
    for call, place in calls.items():
        if call not in answered:
            yield f"{place}: call {call!r} has no output"


def _format(request: Mapping[str, Any], profile: ProviderProfile, row: ModelRow) -> Iterator[str]:
    body = as_map(as_map(request.get("text")).get("format"))
    if as_text(body.get("type")) != "json_schema":
        return
    at = "/text/format"
    if "json_schema" not in row.capabilities:
        yield f"{at}: this interface does not take a schema for {as_text(request.get('model')) or row.pattern}"
    if not TOOL_NAME.holds(as_text(body.get("name"))):
        yield f"{at}/name: ASCII letters, digits, _ and -, at most {TOOL_NAME.max}"
    if body.get("strict") is True and profile.schema_subset:
        for complaint in complaints(as_map(body.get("schema")), profile.schema_subset):
            yield f"{at}/schema: {complaint}"
