"""What Bedrock Converse would refuse: blank texts, pairing, names, cache points where a model takes none."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ctxc.model.provider import ModelRow, ProviderProfile
from ctxc.providers._checks import Marked, mark_complaints, size_complaints, tool_complaints
from ctxc.providers._claude_check import Messages, pair_complaints
from ctxc.providers._converse_read import messages_of, schema_of, system_of, tools_of
from ctxc.providers._names import NameRule
from ctxc.providers._read import as_int, as_map, as_text, parse_object
from ctxc.providers._subset import complaints

TOOL_NAME = NameRule(extra="_-", max=64)
"""``[a-zA-Z0-9_-]+``, 1 to 64 (botocore 1.44.8, ``ToolName``)."""

_DOCUMENT_NAME = re.compile(r"(?!.*\s\s)[A-Za-z0-9 ()\[\]-]{1,200}")
_CALL_ID = NameRule(extra="_.:-", max=64)


def check(request: Mapping[str, Any], profile: ProviderProfile, row: ModelRow) -> tuple[str, ...]:
    """Everything that would be refused, with pointers."""
    return tuple(_check(request, profile, row))


def _check(request: Mapping[str, Any], profile: ProviderProfile, row: ModelRow) -> Iterator[str]:
    messages = list(messages_of(request))
    if not messages:
        yield "/messages: there has to be at least one message"
    yield from _roles(messages, row)
    yield from pair_complaints(_as_messages(messages))
    yield from _blank(request, messages)
    yield from _ids(messages)
    specs = list(_specs(request))
    if specs and "tools" not in row.capabilities:
        yield f"/toolConfig: this interface does not take tools for {as_text(request.get('modelId')) or row.pattern}"
    if "toolConfig" in request and not any(True for _ in tools_of(request)):
        yield "/toolConfig/tools: there has to be at least one tool"
    yield from tool_complaints(specs, profile, TOOL_NAME, "input_schema")
    yield from _format(request, profile, row)
    yield from _marks(request, messages, row)
    yield from size_complaints(request, profile, (next(iter(b), "") for _, _, bs in messages for _, b in bs))
    yield from _documents(messages)
    limit = as_int(as_map(request.get("inferenceConfig")).get("maxTokens"), -1)
    if row.max_output is not None and limit > row.max_output:
        yield f"/inferenceConfig/maxTokens: {limit:,} is over the model's {row.max_output:,}"


def _specs(request: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for pointer, entry in tools_of(request):
        spec = as_map(entry.get("toolSpec"))
        if spec:
            schema = as_map(spec.get("inputSchema")).get("json")
            yield f"{pointer}/toolSpec", {**spec, "input_schema": schema}


def _roles(messages: Messages, row: ModelRow) -> Iterator[str]:
    for index, role, blocks in messages:
        if role not in ("user", "assistant", "system"):
            yield f"/messages/{index}/role: {role!r} is not a role"
        if not blocks:
            yield f"/messages/{index}/content: a message has to have content"
    if messages and messages[-1][1] == "assistant" and "prefill" not in row.capabilities:
        yield f"/messages/{messages[-1][0]}: this model takes no prefilled answer, a user message has to be last"


def _as_messages(messages: Messages) -> Messages:
    """Calls and results in Messages form, so that pairing is checked by the same rules."""
    found: Messages = []
    for index, role, blocks in messages:
        plain: list[tuple[str, Mapping[str, Any]]] = []
        for pointer, block in blocks:
            if isinstance(block.get("toolUse"), Mapping):
                use = block["toolUse"]
                plain.append((pointer, {"type": "tool_use", "id": use.get("toolUseId"), "input": use.get("input", {})}))
            elif isinstance(block.get("toolResult"), Mapping):
                plain.append((pointer, {"type": "tool_result", "tool_use_id": block["toolResult"].get("toolUseId")}))
            elif "cachePoint" not in block:
                plain.append((pointer, {"type": "text"}))
        found.append((index, role, plain))
    return found


def _blank(request: Mapping[str, Any], messages: Messages) -> Iterator[str]:
    blocks = [*system_of(request), *(b for _, _, blocks in messages for b in blocks)]
    for pointer, block in blocks:
        if isinstance(block.get("text"), str) and not block["text"].strip():
            yield f"{pointer}/text: R4: a blank text block is refused"


def _ids(messages: Messages) -> Iterator[str]:
    for _, _, blocks in messages:
        for pointer, block in blocks:
            for key in ("toolUse", "toolResult"):
                if isinstance(block.get(key), Mapping) and not _CALL_ID.holds(as_text(block[key].get("toolUseId"))):
                    yield f"{pointer}/{key}/toolUseId: 1 to 64 letters, digits, _, ., : and -"


def _documents(messages: Messages) -> Iterator[str]:
    """Documents and images stand in user messages, a document beside a text, under a plain name."""
    for index, role, blocks in messages:
        kinds = {next(iter(block), "") for _, block in blocks}
        if role != "user" and kinds & {"image", "document"}:
            yield f"/messages/{index}: images and documents stand in user messages only"
        if "document" in kinds and "text" not in kinds:
            yield f"/messages/{index}: a document needs a text beside it"
        for pointer, block in blocks:
            name = as_map(block.get("document")).get("name")
            if isinstance(name, str) and not _DOCUMENT_NAME.fullmatch(name):
                yield f"{pointer}/document/name: letters, digits, single blanks, hyphens and brackets only"


def _format(request: Mapping[str, Any], profile: ProviderProfile, row: ModelRow) -> Iterator[str]:
    body = schema_of(request)
    if not body:
        return
    at = "/outputConfig/textFormat"
    if "json_schema" not in row.capabilities:
        yield f"{at}: this interface does not take a schema for {as_text(request.get('modelId')) or row.pattern}"
    schema = parse_object(as_text(body.get("schema")))
    if schema is None:
        yield f"{at}/structure/jsonSchema/schema: has to be the JSON text of a schema"
    elif profile.schema_subset:
        for complaint in complaints(schema, profile.schema_subset):
            yield f"{at}/structure/jsonSchema/schema: {complaint}"


def _marks(request: Mapping[str, Any], messages: Messages, row: ModelRow) -> Iterator[str]:
    ordered: list[tuple[str, Mapping[str, Any], str]] = [(p, e, "tools") for p, e in tools_of(request)]
    ordered += [(p, b, "system") for p, b in system_of(request)]
    ordered += [(p, b, "messages") for _, _, blocks in messages for p, b in blocks]
    positions: dict[str, int] = {}
    marks: list[Marked] = []
    before: Mapping[str, Any] | None = None
    number = 0
    for pointer, block, place in ordered:
        if "cachePoint" not in block:
            before = block
            number += 1
            continue
        positions[pointer] = number
        marks.append((pointer, block["cachePoint"], before or {}, place))
        if before is None or pointer.endswith("/content/0"):
            yield f"{pointer}: R4: a cache point has to stand after the block that it closes"
        elif as_text(as_map(before.get("document")).get("format")) not in ("", "pdf"):
            yield f"{pointer}: R9: no cache point may stand right after a document that is not a PDF"
    yield from mark_complaints(marks, row, positions=positions)
