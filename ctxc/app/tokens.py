"""Tokens of what somebody has at hand: a provider request of any shape, JSON that could be sent, or plain text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ctxc.app.raw import Target, as_text, find_target, parse, read_bytes
from ctxc.base.errors import CtxcError, UsageError
from ctxc.model.counting import Count, CountPart
from ctxc.model.usage import Counted, CountedKind, Recorded, ToolSize

if TYPE_CHECKING:
    from ctxc.app.workspace import Workspace


def count_input(
    workspace: Workspace,
    path: str,
    *,
    provider: str = "",
    model: str = "",
    tokenizer: str = "",
    kind: str = "auto",
    stdin: bytes | None = None,
) -> Counted:
    """Count a file (``-``: the standard input). ``kind`` text takes it as plain text whatever it holds.

    Raises UnreadableSource for what cannot be read, UsageError for a provider or model that nobody knows, and for a
    request that is not of the provider's shape.
    """
    text = as_text(read_bytes(path, stdin), path)
    found = _count(workspace, text, path, provider=provider, model=model, tokenizer=tokenizer, kind=kind)
    workspace.close()
    return found


def _count(
    workspace: Workspace, text: str, path: str, *, provider: str, model: str, tokenizer: str, kind: str
) -> Counted:
    value, fault = _json_of(text, path) if kind != "text" else (_NOTHING, None)
    if value is _NOTHING:
        try:
            target = find_target(workspace, provider=provider, model=model, tokenizer=tokenizer)
        except UsageError:
            if fault is not None and not (provider or model):
                raise fault from None  # a request that is whole would say for whom to count
            raise
        counted = _counted_text("text", text, [("", text)], target)
        return replace(counted, notes=(*counted.notes, *([_no_json(fault)] if fault is not None else [])))
    return _count_value(workspace, value, text, provider=provider, model=model, tokenizer=tokenizer)


_NOTHING = object()
_LINES_HELP = "one request is counted: give one line (`head -n 1 FILE | ctxc tokens`), or count it with --kind text"


def _json_of(text: str, path: str) -> tuple[Any, CtxcError | None]:
    """The JSON value that a text is, or nothing where it is no JSON; a file that calls itself JSON has to be it.

    A text may begin with a bracket; why it was not taken as JSON is given beside.
    """
    named = path.endswith((".json", ".jsonl"))
    if not named and text.lstrip()[:1] not in ("{", "["):
        return _NOTHING, None
    try:
        return parse(text, path, help=_LINES_HELP if path.endswith(".jsonl") else "correct the file"), None
    except CtxcError as error:
        if named:
            raise
        return _NOTHING, error


def _no_json(fault: CtxcError) -> str:
    span = fault.location.span if fault.location is not None else None
    place = f" (line {span.line})" if span is not None else ""
    return f"it begins like JSON and is none: {fault.message}{place}; counted as plain text"


def _count_value(workspace: Workspace, value: Any, text: str, *, provider: str, model: str, tokenizer: str) -> Counted:
    from ctxc.usage.recognise import mcp_tools, shape_of
    from ctxc.usage.recorded import read_usage

    find = partial(find_target, workspace, provider=provider, model=model, tokenizer=tokenizer)
    url, recorded = "", None
    if isinstance(value, dict) and isinstance(value.get("request"), dict):
        # A line of a log, or what `ctxc compile --format json` prints of one fixture.
        usage = value.get("usage")
        recorded = read_usage(usage) if isinstance(usage, dict) else None
        url = value["url"] if isinstance(value.get("url"), str) else ""
        value = value["request"]
    tools = mcp_tools(value)
    if tools:
        return _count_tools(tools, find())
    if isinstance(value, dict) and shape_of(value) is not None:
        target = find(request=value, url=url)
        return _count_request("request", _fitting(value, target), target, recorded)
    if _are_messages(value):
        messages = value if isinstance(value, list) else [value]
        holder = {"messages": messages}
        target = find(request=None if provider else holder)
        return _count_request("messages", _wrapped(messages, target), target, None)
    target = find()
    parts = _members(value)
    return _counted_text("json", text, parts, target)


def _are_messages(value: Any) -> bool:
    items = value if isinstance(value, list) else [value]
    return bool(items) and all(isinstance(i, Mapping) and isinstance(i.get("role"), str) for i in items)


def _fitting(request: Mapping[str, Any], target: Target) -> Mapping[str, Any]:
    """The request, if the provider's shape can read it; raises UsageError where it is of another."""
    from ctxc.usage.recognise import PROFILES, shape_of

    wanted, found = target.profile.shape, shape_of(request) or ""
    keys = _HOLDERS.get(wanted)
    if keys is None or any(k in request for k in keys):
        return request
    near = PROFILES.get(found, ("",))[0]
    raise UsageError(
        f"this is a request of the shape {found}, and provider {target.profile.id} takes {wanted}",
        help=f"pass --provider {near}" if near else "name another provider",
    )


_HOLDERS: Mapping[str, tuple[str, ...]] = {
    "openai_chat": ("messages",),
    "openai_compatible": ("messages",),
    "anthropic_messages": ("messages",),
    "bedrock_converse": ("messages",),
    "openai_responses": ("input",),
    "gemini_generate_content": ("contents",),
}


def _wrapped(messages: Sequence[Any], target: Target) -> Mapping[str, Any]:
    """Messages alone as a request of the provider's shape."""
    shape = target.profile.shape
    key = _HOLDERS.get(shape, ("messages",))[0]
    return {"model": target.model, key: [_adapted(m, shape) for m in messages]}


def _adapted(message: Mapping[str, Any], shape: str) -> Mapping[str, Any]:
    """A message with plain text in the form of a shape whose content is a list of parts."""
    part_key = {"gemini_generate_content": "parts", "bedrock_converse": "content"}.get(shape)
    content = message.get("content")
    if part_key is None or (part_key in message and not isinstance(content, str)):
        return message
    texts = [content] if isinstance(content, str) else []
    if isinstance(content, list):
        texts = [b["text"] for b in content if isinstance(b, Mapping) and isinstance(b.get("text"), str)]
        if len(texts) < len(content):
            raise UsageError(
                f"these messages hold more than text, in a form that {shape} does not know",
                help="pass the provider that they were written for",
            )
    role = message["role"]
    if shape == "gemini_generate_content" and role == "assistant":
        role = "model"
    return {"role": role, part_key: [{"text": t} for t in texts]}


def _count_request(kind: CountedKind, request: Mapping[str, Any], target: Target, recorded: Recorded | None) -> Counted:
    count = target.shape.count(request, target.tokenizer, target.row)
    return _counted(kind, count, target, recorded=recorded)


def _counted(
    kind: CountedKind,
    count: Count,
    target: Target,
    *,
    recorded: Recorded | None = None,
    tools: tuple[ToolSize, ...] = (),
    notes: tuple[str, ...] = (),
) -> Counted:
    row = target.row
    return Counted(
        kind=kind,
        provider=target.profile.id,
        model=target.model,
        count=count,
        window=row.window,
        available=row.max_input if row.max_input is not None else row.window,
        recorded=recorded,
        tools=tools,
        notes=(*count.notes, *notes),
    )


def _counted_text(kind: CountedKind, text: str, parts: Sequence[tuple[str, str]], target: Target) -> Counted:
    """A text alone. Its members are counted alone too: they need not add up to the whole."""
    from ctxc import providers

    whole = providers.count_text([("", text)], target.tokenizer, target.row)
    notes: tuple[str, ...] = ()
    if len(parts) > 1:
        alone = providers.count_text(parts, target.tokenizer, target.row)
        whole = replace(whole, parts=alone.parts)
        notes = ("this is no request: it is counted as the text that it is, its members each alone",)
    return _counted(kind, whole, target, notes=notes)


def _members(value: Any) -> list[tuple[str, str]]:
    """The members of a JSON value at its first level, as compact JSON text, with their pointers."""
    pairs: list[tuple[str, Any]] = []
    if isinstance(value, dict):
        pairs = [(str(k).replace("~", "~0").replace("/", "~1"), v) for k, v in value.items()]
    elif isinstance(value, list):
        pairs = [(str(i), v) for i, v in enumerate(value)]
    return [(f"/{k}", v if isinstance(v, str) else _compact(v)) for k, v in pairs]


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# --- tool lists -----------------------------------------------------------------------------------------------------

_RECEIVED = frozenset({"name", "description", "inputSchema", "input_schema", "parameters", "strict"})
"""What of a tool's definition becomes part of a request; every other field is the list's own."""


def _count_tools(items: Sequence[Any], target: Target) -> Counted:
    """An answer to MCP's ``tools/list``: each tool as this provider would receive it, in order of name."""
    from ctxc.model.request import Part, RenderPlan, Turn
    from ctxc.model.section import Tool

    tools = []
    for item in items:
        if not isinstance(item, Mapping) or not isinstance(item.get("name"), str):
            raise UsageError("a tool of the list has no name", help="give it one, or count the file with --kind text")
        schema: Any = next((item[k] for k in ("inputSchema", "input_schema", "parameters") if k in item), {})
        tools.append(
            Tool(
                name=item["name"],
                description=item["description"] if isinstance(item.get("description"), str) else "",
                input_schema=schema if isinstance(schema, Mapping) else {},
                strict=item["strict"] if isinstance(item.get("strict"), bool) else None,
            )
        )
    tools.sort(key=lambda t: t.name)
    empty = RenderPlan(
        profile=target.profile,
        row=target.row,
        model=target.model,
        turns=(Turn(role="user", parts=(Part(section_id="user", text=_PROBE, safe=True),), section_id="user"),),
    )
    rendered = target.shape.render(replace(empty, tools=tuple(tools), tools_section="tools"))
    count = target.shape.count(rendered.request, target.tokenizer, target.row)
    without = target.shape.count(target.shape.render(empty).request, target.tokenizer, target.row)
    places = [s.pointer for s in rendered.segments if s.zone == "tools"]
    sizes = _sizes(tools, items, places, count, rendered.renamed, target)
    total = count.tokens - without.tokens
    framing = total - sum(s.tokens for s in sizes)
    parts = [CountPart(pointer=s.pointer, tokens=s.tokens) for s in sizes]
    if framing:
        parts.append(CountPart(pointer="", tokens=framing))
    band = max(1, total)
    own = replace(
        count,
        tokens=total,
        parts=tuple(parts),
        error_low_bp=min(10_000, -(-count.tokens * count.error_low_bp // band)),
        error_high_bp=-(-count.tokens * count.error_high_bp // band),
    )
    notes = (f"{framing:,} tokens are the provider's own text around the tools",) if framing > 0 else ()
    return _counted("tools", own, target, tools=sizes, notes=notes)


_PROBE = "x"


def _sizes(
    tools: Sequence[Any],
    items: Sequence[Any],
    places: Sequence[str],
    count: Count,
    renamed: Mapping[str, str],
    target: Target,
) -> tuple[ToolSize, ...]:
    by_name = {i["name"]: i for i in items}
    owns = [{k: v for k, v in by_name[t.name].items() if k not in _RECEIVED} for t in tools]
    texts = [_compact(v) for own in owns for v in own.values()]
    counts = iter(target.tokenizer.count_many(texts))
    found = []
    for tool, place, own in zip(tools, places, owns, strict=False):
        inside = [p.tokens for p in count.parts if p.pointer == place or p.pointer.startswith(place + "/")]
        found.append(
            ToolSize(
                name=tool.name,
                sent_as=renamed.get(tool.name, tool.name),
                tokens=sum(inside),
                pointer=place,
                own={key: next(counts) for key in own},
            )
        )
    return tuple(found)
