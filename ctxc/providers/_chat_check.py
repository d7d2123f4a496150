"""What a Chat Completions server would refuse: pairing, names, schemas, limits, marks, capabilities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ctxc.model.provider import ModelRow, ProviderProfile
from ctxc.providers._chat_read import blocks_of, messages_of, tools_of
from ctxc.providers._chat_render import TOOL_NAME
from ctxc.providers._checks import Marked, mark_complaints, size_complaints, tool_complaints
from ctxc.providers._read import as_int, as_list, as_map, as_text
from ctxc.providers._subset import complaints

_ROLES = ("system", "developer", "user", "assistant", "tool", "function")


def check(request: Mapping[str, Any], profile: ProviderProfile, row: ModelRow) -> tuple[str, ...]:
    """Everything that would be refused, with pointers."""
    return tuple(_check(request, profile, row))


def _check(request: Mapping[str, Any], profile: ProviderProfile, row: ModelRow) -> Iterator[str]:
    if not as_list(request.get("messages")):
        yield "/messages: there has to be at least one message"
    messages = list(messages_of(request))
    blocks = [list(blocks_of(message, f"/messages/{index}")) for index, message, _, _ in messages]
    yield from _pairs(messages)
    for (index, _, role, _), parts in zip(messages, blocks, strict=True):
        if role not in _ROLES:
            yield f"/messages/{index}/role: {role!r} is not a role"
        if role in ("user", "system", "developer") and not parts:
            yield f"/messages/{index}/content: a {role} message has to have content"
    drawn = list(tools_of(request))
    if drawn and "tools" not in row.capabilities:
        yield f"/tools: this interface does not take tools for {as_text(request.get('model')) or row.pattern}"
    yield from tool_complaints(drawn, profile, TOOL_NAME, "parameters")
    yield from _format(request, profile, row)
    placed = [
        (pointer, part, zone)
        for (_, _, _, zone), parts in zip(messages, blocks, strict=True)
        for pointer, part in parts
    ]
    yield from _marks(placed, row)
    yield from size_complaints(request, profile, [as_text(part.get("type")) for _, part, _ in placed])
    limit = as_int(request.get("max_completion_tokens", request.get("max_tokens")), -1)
    if row.max_output is not None and limit > row.max_output:
        yield f"/max_completion_tokens: {limit:,} is over the model's {row.max_output:,}"


def _marks(blocks: Sequence[tuple[str, Mapping[str, Any], str]], row: ModelRow) -> Iterator[str]:
    marks: list[Marked] = []
    for pointer, part, zone in blocks:
        for key in ("prompt_cache_breakpoint", "cache_control"):
            if key in part:
                marks.append((pointer, part[key], part, zone))
                if key != as_text(row.cache.get("marker")):
                    yield f"{pointer}/{key}: R9: this model takes no cache mark of this name"
    positions = {pointer: number for number, (pointer, _, _) in enumerate(blocks)}
    yield from mark_complaints(marks, row, positions=positions)


def _format(request: Mapping[str, Any], profile: ProviderProfile, row: ModelRow) -> Iterator[str]:
    format_ = as_map(request.get("response_format"))
    if as_text(format_.get("type")) != "json_schema":
        return
    at = "/response_format/json_schema"
    if "json_schema" not in row.capabilities:
        yield f"{at}: this interface does not take a schema for {as_text(request.get('model')) or row.pattern}"
    body = as_map(format_.get("json_schema"))
    if not TOOL_NAME.holds(as_text(body.get("name"))):
        yield f"{at}/name: ASCII letters, digits, _ and -, at most {TOOL_NAME.max}"
    if body.get("strict") is True and profile.schema_subset:
        for complaint in complaints(as_map(body.get("schema")), profile.schema_subset):
            yield f"{at}/schema: {complaint}"


def _pairs(messages: Iterable[tuple[int, Mapping[str, Any], str, str]]) -> Iterator[str]:
    open_calls: dict[str, str] = {}
    for index, message, role, _ in messages:
        at = f"/messages/{index}"
        if role == "tool":
            call = as_text(message.get("tool_call_id"))
            if call not in open_calls:
                yield f"{at}: a tool message has to answer a call of the assistant message before it, {call!r} is none"
            open_calls.pop(call, None)
            continue
        for call, place in open_calls.items():
            yield f"{place}: call {call!r} is not answered by a tool message right after it"
        open_calls = {}
        for number, value in enumerate(as_list(message.get("tool_calls"))):
            call = as_text(as_map(value).get("id"))
            place = f"{at}/tool_calls/{number}"
            if call in open_calls:
                yield f"{place}: the id {call!r} stands twice"
            open_calls[call] = place
    for call, place in open_calls.items():
        yield f"{place}: call {call!r} is not answered by a tool message right after it"
