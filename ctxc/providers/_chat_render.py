"""Plan to Chat Completions request, for OpenAI and for the many servers that speak its form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from ctxc.base.values import dataclass
from ctxc.model.contract import Contract
from ctxc.model.request import Part, Rendered, RenderPlan, Turn
from ctxc.providers._build import Builder, mark_of, whole
from ctxc.providers._names import NameRule, changed, legal_names, rule_from
from ctxc.providers._read import as_text, compact
from ctxc.providers._subset import fits_openai_strict

JOINER = "\n\n"
TOOL_NAME = NameRule(extra="_-", max=64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How one family of servers departs from the common form; a profile's limits may say otherwise."""

    id: str
    max_tokens_key: str
    marker: str  # field of a content part that carries a cache mark


def breakpoint_of(marker: str, ttl: str) -> dict[str, Any]:
    """The value of a cache mark on a content part."""
    if marker == "cache_control":
        return {"type": "ephemeral"} if ttl in ("default", "5m") else {"type": "ephemeral", "ttl": ttl}
    return {"mode": "explicit"} if ttl == "default" else {"mode": "explicit", "ttl": ttl}


def contract_name(contract: Contract) -> str:
    """A legal schema name: ASCII letters, digits, ``_`` and ``-``, at most 64 (source: OpenAI SDK 3.57.0)."""
    return NameRule(extra="_-", max=64).legal(contract.id or "answer")


def render(plan: RenderPlan, dialect: Dialect) -> Rendered:
    """The request; keys in this order: model, messages, tools, response_format, the output limit."""
    build = Builder()
    names = legal_names(
        [t.name for t in plan.tools] + [c.name for turn in plan.turns for c in turn.tool_calls],
        rule_from(plan.profile.limits, "tool_name", TOOL_NAME),
    )
    build.put(":model", "/model", plan.model, "settings", stable=True)
    response_format = _contract(plan, build)
    tools = _tools(plan, names, build)
    messages: list[dict[str, Any]] = []
    _system(plan, dialect, messages, build)
    context = _Context(plan=plan, dialect=dialect, names=names, build=build)
    for turn in plan.turns:
        messages.append(_turn(turn, f"/messages/{len(messages)}", context))
    request: dict[str, Any] = {"model": plan.model, "messages": messages}
    if tools:
        request["tools"] = tools
    if response_format:
        request["response_format"] = response_format
    if plan.output_reserve > 0:
        request[as_text(plan.profile.limits.get("max_tokens_key")) or dialect.max_tokens_key] = plan.output_reserve
    return build.done(request, renamed=changed(names))


def _contract(plan: RenderPlan, build: Builder) -> dict[str, Any] | None:
    if plan.contract is None:
        return None
    schema = dict(plan.contract.schema)
    body: dict[str, Any] = {"name": contract_name(plan.contract)}
    if plan.contract.description:
        body["description"] = plan.contract.description
    body["schema"] = schema
    body["strict"] = fits_openai_strict(schema)
    # First in physical order although the key stands later in the body: the format is part of what keys the cached
    # prefix (text_format_changed loses all of it), so a change here is a change at byte 0.
    section = plan.contract_section or ":contract"
    build.put(section, "/response_format", compact(body), "settings", stable=True)
    return {"type": "json_schema", "json_schema": body}


def _tools(plan: RenderPlan, names: Mapping[str, str], build: Builder) -> list[dict[str, Any]]:
    tools: list[dict[str, Any]] = []
    for index, tool in enumerate(plan.tools):
        function: dict[str, Any] = {"name": names[tool.name]}
        if tool.description:
            function["description"] = tool.description
        function["parameters"] = dict(tool.input_schema)
        if tool.strict is not None:
            function["strict"] = tool.strict
        tools.append({"type": "function", "function": function})
        build.put(
            plan.tools_section or ":tools", f"/tools/{index}", compact(function), "tools", stable=plan.tools_stable
        )
    return tools


def _system(plan: RenderPlan, dialect: Dialect, messages: list[dict[str, Any]], build: Builder) -> None:
    parts = whole(plan.system)
    if not parts:
        return
    role = "developer" if "developer_role" in plan.row.capabilities else "system"
    pointer = f"/messages/{len(messages)}/content"
    marks = [mark_of(p.mark, plan.row, "system") for p in parts]
    if not any(marks):
        messages.append({"role": role, "content": JOINER.join(p.text for p in parts)})
        for index, part in enumerate(parts):
            joiner = JOINER if index else ""
            frame = "" if index else role_frame(role)
            build.put(part.section_id, pointer, joiner + part.text, "system", stable=part.stable, frame=frame)
        return
    form = Form("text", dialect.marker, role_frame(role))
    content = joined_blocks(parts, marks, pointer, form, build)
    messages.append({"role": role, "content": content})


class Form(NamedTuple):
    """How an interface writes a content block: its type, the key of a cache mark, and the frame before the first."""

    type: str
    marker: str
    frame: str

    def block(self, text: str, mark: str) -> dict[str, Any]:
        """A block with its cache mark, if it has one."""
        block: dict[str, Any] = {"type": self.type, "text": text}
        if mark:
            block[self.marker] = breakpoint_of(self.marker, mark)
        return block


def joined_blocks(
    parts: Sequence[Part], marks: Sequence[str], pointer: str, form: Form, build: Builder
) -> list[dict[str, Any]]:
    """System text as few blocks as its cache marks allow: one ends behind each mark."""
    content: list[dict[str, Any]] = []
    texts: list[str] = []
    for index, (part, mark) in enumerate(zip(parts, marks, strict=True)):
        text = (JOINER if index else "") + part.text
        texts.append(text)
        at, frame = f"{pointer}/{len(content)}", "" if index else form.frame
        build.put(part.section_id, at, text, "system", stable=part.stable, mark=mark, frame=frame)
        if mark or index == len(parts) - 1:
            content.append(form.block("".join(texts), mark))
            texts = []
    return content


def blocks(
    parts: Sequence[Part], marks: Sequence[str], pointer: str, form: Form, build: Builder
) -> list[dict[str, Any]]:
    """A message's parts, a block each."""
    for index, (part, mark) in enumerate(zip(parts, marks, strict=True)):
        frame = "" if index else form.frame
        at = f"{pointer}/{index}"
        build.put(part.section_id, at, part.text, "messages", stable=part.stable, mark=mark, frame=frame)
    return [form.block(part.text, mark) for part, mark in zip(parts, marks, strict=True)]


@lru_cache(maxsize=256)
def role_frame(role: str, **ids: str) -> str:
    """Protocol in front of a message's text: what distinguishes two messages with the same words."""
    return compact({"role": role, **{k: v for k, v in ids.items() if v}})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Context:
    """What all messages share."""

    plan: RenderPlan
    dialect: Dialect
    names: Mapping[str, str]
    build: Builder


def _turn(turn: Turn, at: str, context: _Context) -> dict[str, Any]:
    role = turn.role
    if role == "system" and "developer_role" in context.plan.row.capabilities:
        role = "developer"
    message: dict[str, Any] = {"role": role}
    if turn.name and role != "tool":
        message["name"] = turn.name
    if role == "tool":
        message["tool_call_id"] = turn.tool_call_id or ""
    parts = whole(turn.parts)
    frame = role_frame(role, name=as_text(message.get("name")), tool_call_id=as_text(message.get("tool_call_id")))
    message["content"] = _content(parts, f"{at}/content", frame, context)
    if turn.tool_calls:
        message["tool_calls"] = [
            {"id": c.id, "type": "function", "function": {"name": context.names[c.name], "arguments": c.arguments}}
            for c in turn.tool_calls
        ]
        if not parts:
            message["content"] = None
        stable = bool(parts) and all(p.stable for p in parts)
        owner = turn.section_id or (parts[0].section_id if parts else ":calls")
        for index, call in enumerate(message["tool_calls"]):
            pointer = f"{at}/tool_calls/{index}"
            head = "" if parts or index else frame
            context.build.put(owner, pointer, compact(call), "messages", stable=stable, frame=head)
    elif not parts:
        context.build.put(turn.section_id or ":empty", at, "", "messages", frame=frame)
    return message


def _content(parts: tuple[Part, ...], pointer: str, frame: str, context: _Context) -> str | list[dict[str, Any]]:
    marks = [mark_of(p.mark, context.plan.row, "messages") for p in parts]
    if len(parts) < 2 and not any(marks):
        for part in parts:
            context.build.put(part.section_id, pointer, part.text, "messages", stable=part.stable, frame=frame)
        return parts[0].text if parts else ""
    return blocks(parts, marks, pointer, Form("text", context.dialect.marker, frame), context.build)
