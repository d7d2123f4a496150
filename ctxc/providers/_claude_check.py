"""What Anthropic Messages would refuse: pairing and its order, names, schemas, marks, capabilities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ctxc.model.provider import ModelRow, ProviderProfile
from ctxc.providers._checks import Marked, mark_complaints, size_complaints, tool_complaints
from ctxc.providers._claude_count import content_of
from ctxc.providers._claude_read import messages_of, system_of
from ctxc.providers._names import NameRule
from ctxc.providers._read import as_int, as_list, as_map, as_text
from ctxc.providers._subset import complaints

TOOL_NAME = NameRule(extra="_-", max=64)
"""``^[a-zA-Z0-9_-]{1,64}$`` (tool definition guide, 2026-08-22)."""

Messages = list[tuple[int, str, list[tuple[str, Mapping[str, Any]]]]]
"""Index, role and content blocks (pointer, block) of each message."""

_MESSAGES = 100_000  # messages of a request (SDK 2.14.0)


def check(request: Mapping[str, Any], profile: ProviderProfile, row: ModelRow) -> tuple[str, ...]:
    """Everything that would be refused, with pointers."""
    return tuple(_check(request, profile, row))


def _check(request: Mapping[str, Any], profile: ProviderProfile, row: ModelRow) -> Iterator[str]:
    messages = list(messages_of(request))
    if not messages:
        yield "/messages: there has to be at least one message"
    if len(messages) > as_int(profile.limits.get("max_messages"), _MESSAGES):
        yield f"/messages: {len(messages):,} messages, at most {_MESSAGES:,}"
    if as_int(request.get("max_tokens")) < 1:
        yield "/max_tokens: the interface demands a limit of at least 1"
    elif row.max_output is not None and as_int(request.get("max_tokens")) > row.max_output:
        yield f"/max_tokens: {as_int(request.get('max_tokens')):,} is over the model's {row.max_output:,}"
    yield from _roles(messages, row)
    yield from pair_complaints(messages)
    yield from _empty(request, messages)
    tools = [(f"/tools/{i}", as_map(t)) for i, t in enumerate(as_list(request.get("tools")))]
    if tools and "tools" not in row.capabilities:
        yield f"/tools: this interface does not take tools for {as_text(request.get('model')) or row.pattern}"
    yield from tool_complaints([t for t in tools if "input_schema" in t[1]], profile, TOOL_NAME, "input_schema")
    yield from _format(request, profile, row)
    yield from _marks(request, messages, row)
    yield from size_complaints(request, profile, (as_text(b.get("type")) for _, _, bs in messages for _, b in bs))


def _roles(messages: Messages, row: ModelRow) -> Iterator[str]:
    for index, role, _ in messages:
        if role == "system":
            if "mid_conversation_system" not in row.capabilities:
                yield f"/messages/{index}/role: this model takes no system message inside the conversation"
            elif index == 0 or messages[index - 1][1] != "user":
                yield f"/messages/{index}/role: a system message has to follow a user message"
            elif index + 1 < len(messages) and messages[index + 1][1] != "assistant":
                yield f"/messages/{index}/role: a system message has to stand last or before an assistant message"
        elif role not in ("user", "assistant"):
            yield f"/messages/{index}/role: {role!r} is not a role"
    if messages and messages[-1][1] == "assistant" and "prefill" not in row.capabilities:
        yield f"/messages/{messages[-1][0]}: this model takes no prefilled answer, a user message has to be last"


def pair_complaints(messages: Messages) -> Iterator[str]:
    """Calls without results right after them, results without calls, results behind other content."""
    waiting: dict[str, str] = {}
    for _, role, blocks in messages:
        results = [(p, as_text(b.get("tool_use_id"))) for p, b in blocks if b.get("type") == "tool_result"]
        if results and role != "user":
            yield f"{results[0][0]}: a tool result stands in a user message only"
        answered = {i for _, i in results}
        for call, place in waiting.items():
            if call not in answered:
                yield f"{place}: call {call!r} has no tool_result in the message right after it"
        for pointer, call in results:
            if call not in waiting:
                yield f"{pointer}: the tool_result answers no tool_use of the message before it ({call!r})"
        text_seen = False
        for pointer, block in blocks:
            if block.get("type") == "tool_result" and text_seen:
                yield f"{pointer}: tool results have to stand before all other content"
            text_seen = text_seen or block.get("type") != "tool_result"
        waiting = {}
        for pointer, block in blocks:
            if block.get("type") != "tool_use":
                continue
            call = as_text(block.get("id"))
            if role != "assistant":
                yield f"{pointer}: a tool_use stands in an assistant message only"
            if call in waiting:
                yield f"{pointer}: the id {call!r} stands twice"
            if not isinstance(block.get("input"), Mapping):
                yield f"{pointer}/input: has to be an object"
            waiting[call] = pointer
    for call, place in waiting.items():
        yield f"{place}: call {call!r} has no tool_result in the message right after it"


def _empty(request: Mapping[str, Any], messages: Messages) -> Iterator[str]:
    for pointer, block in system_of(request):
        if block.get("type") == "text" and not as_text(block.get("text")):
            yield f"{pointer}: a text block may not be empty"
    for index, _, blocks in messages:
        if not blocks and index != messages[-1][0]:
            yield f"/messages/{index}/content: a message has to have content"
        for pointer, block in blocks:
            if block.get("type") == "text" and not as_text(block.get("text")):
                yield f"{pointer}: a text block may not be empty"


def _format(request: Mapping[str, Any], profile: ProviderProfile, row: ModelRow) -> Iterator[str]:
    format_ = as_map(as_map(request.get("output_config")).get("format"))
    if not format_:
        return
    at = "/output_config/format"
    if "json_schema" not in row.capabilities:
        yield f"{at}: this interface does not take a schema for {as_text(request.get('model')) or row.pattern}"
    if profile.schema_subset:
        for complaint in complaints(as_map(format_.get("schema")), profile.schema_subset):
            yield f"{at}/schema: {complaint}"


def _marks(
    request: Mapping[str, Any],
    messages: Messages,
    row: ModelRow,
) -> Iterator[str]:
    ordered: list[tuple[str, Mapping[str, Any], str]] = [
        (f"/tools/{i}", as_map(t), "tools") for i, t in enumerate(as_list(request.get("tools")))
    ]
    ordered += [(pointer, block, "system") for pointer, block in system_of(request)]
    ordered += [(pointer, block, "messages") for _, _, blocks in messages for pointer, block in blocks]
    positions = {pointer: number for number, (pointer, _, _) in enumerate(ordered)}
    marks: list[Marked] = [(p, b["cache_control"], b, place) for p, b, place in ordered if b.get("cache_control")]
    for pointer, block, _ in ordered:
        for inner, child in content_of(block, pointer) if block.get("type") == "tool_result" else ():
            if child.get("cache_control"):
                yield f"{inner}: R4: a cache mark stands on the tool_result block, not inside it"
    if request.get("cache_control"):
        if "top_level_cache_control" not in row.capabilities:
            yield "/cache_control: R9: this platform takes no automatic cache mark"
        last = ordered[-1] if ordered else ("", {}, "messages")
        if not last[1].get("cache_control"):
            marks.append((last[0], request["cache_control"], last[1], last[2]))
    yield from mark_complaints(marks, row, positions=positions)
