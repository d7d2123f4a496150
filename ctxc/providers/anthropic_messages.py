"""Anthropic Messages (``POST /v1/messages``).

Physical order is tools, system, messages. Every system part and every part of a turn is a text block of its own.
Neighbouring turns of one role share a message. A ``system`` turn inside the conversation is a text block of the user
message in which it stands. The arguments of a call have to be an object here: a text that is not one is kept as
``{"_raw": text}``, and an empty text is the empty object.
Sources: anthropic SDK 2.14.0 typed parameters; prompt caching, tool use and structured outputs documentation as
mirrored on 2026-08-22.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ctxc.base.values import dataclass
from ctxc.model.counting import Count, Tokenizer
from ctxc.model.provider import ModelRow, ProviderProfile
from ctxc.model.request import Leaf, Rendered, RenderPlan, Segment
from ctxc.providers import _claude_check, _claude_count, _claude_read
from ctxc.providers._build import Builder, mark_of, spoken
from ctxc.providers._merge import Block, call_ids, call_input, merged, result_mark
from ctxc.providers._names import NameRule, changed, legal_names, rule_from
from ctxc.providers._read import compact

CALL_ID = NameRule(extra="_-", max=256)
"""Letters, digits, ``_`` and ``-``, as the service's refusals name it; the length is not documented."""


class AnthropicMessages:
    """The shape."""

    id = "anthropic_messages"
    capabilities = frozenset(
        {"system", "history", "tools", "json_schema", "cache_marks", "images", "tool_results", "tool_errors"}
    )

    def render(self, plan: RenderPlan) -> Rendered:
        """The request; keys in this order: model, max_tokens, tools, system, messages, output_config."""
        build = Builder()
        names = legal_names(
            [t.name for t in plan.tools] + [c.name for turn in plan.turns for c in turn.tool_calls],
            rule_from(plan.profile.limits, "tool_name", _claude_check.TOOL_NAME),
        )
        ids = legal_names(call_ids(plan.turns), CALL_ID)
        build.put(":model", "/model", plan.model, "settings", stable=True)
        request: dict[str, Any] = {"model": plan.model, "max_tokens": _max_tokens(plan)}
        tools = _tools(plan, names, build)
        if tools:
            request["tools"] = tools
        output = _contract(plan, build)
        system = _system(plan, build)
        if system:
            request["system"] = system
        request["messages"] = _messages(_Context(plan=plan, names=names, ids=ids, build=build))
        if output:
            request["output_config"] = output
        return build.done(request, renamed=changed(names), call_ids=changed(ids))

    def count(self, request: Mapping[str, Any], tokenizer: Tokenizer, row: ModelRow) -> Count:
        """Tokens of a whole request."""
        return _claude_count.count(_claude_read.view_of(request), tokenizer, row)

    def texts(self, request: Mapping[str, Any]) -> Sequence[str]:
        """Every text that ``count`` will count."""
        return _claude_count.texts(_claude_read.view_of(request))

    def segments(self, request: Mapping[str, Any]) -> tuple[Segment, ...]:
        """The request in physical order."""
        return _claude_read.segments(request)

    def read_back(self, request: Mapping[str, Any]) -> tuple[Leaf, ...]:
        """Everything that a model reads."""
        return _claude_read.read_back(request)

    def check(self, request: Mapping[str, Any], profile: ProviderProfile, row: ModelRow) -> tuple[str, ...]:
        """What the provider would refuse."""
        return _claude_check.check(request, profile, row)


def _max_tokens(plan: RenderPlan) -> int:
    """The interface demands a limit: the reserve, else the model's own limit, else all of its window."""
    if plan.output_reserve > 0:
        return plan.output_reserve
    return plan.row.max_output or plan.row.window


def cache_control(ttl: str) -> dict[str, Any]:
    """A cache mark; the default time to live (5 minutes) is left unsaid, because older platforms refuse ``ttl``."""
    return {"type": "ephemeral"} if ttl in ("default", "5m") else {"type": "ephemeral", "ttl": ttl}


def _tools(plan: RenderPlan, names: Mapping[str, str], build: Builder) -> list[dict[str, Any]]:
    tools: list[dict[str, Any]] = []
    for index, tool in enumerate(plan.tools):
        body: dict[str, Any] = {"name": names[tool.name]}
        if tool.description:
            body["description"] = tool.description
        body["input_schema"] = dict(tool.input_schema) or {"type": "object"}
        if tool.strict is not None:
            body["strict"] = tool.strict
        last = index == len(plan.tools) - 1
        mark = mark_of(plan.tools_mark, plan.row, "tools") if last else ""
        build.put(
            plan.tools_section or ":tools",
            f"/tools/{index}",
            compact(body),
            "tools",
            stable=plan.tools_stable,
            mark=mark,
        )
        if mark:
            body["cache_control"] = cache_control(mark)
        tools.append(body)
    return tools


def _contract(plan: RenderPlan, build: Builder) -> dict[str, Any] | None:
    if plan.contract is None:
        return None
    body = {"type": "json_schema", "schema": dict(plan.contract.schema)}
    # The format adds text to the system prompt, and changing it loses the cache; tools stand before it.
    build.put(plan.contract_section or ":contract", "/output_config/format", compact(body), "settings", stable=True)
    return {"format": body}


def _system(plan: RenderPlan, build: Builder) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    for index, part in enumerate(spoken(plan.system)):
        block: dict[str, Any] = {"type": "text", "text": part.text}
        mark = mark_of(part.mark, plan.row, "system")
        if mark:
            block["cache_control"] = cache_control(mark)
        blocks.append(block)
        build.put(part.section_id, f"/system/{index}", part.text, "system", stable=part.stable, mark=mark)
    return blocks


@dataclass(frozen=True, slots=True, kw_only=True)
class _Context:
    """What the blocks of all messages share."""

    plan: RenderPlan
    names: Mapping[str, str]
    ids: Mapping[str, str]
    build: Builder


def _messages(context: _Context) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    for number, (role, blocks) in enumerate(merged(context.plan.turns)):
        content: list[dict[str, Any]] = []
        for index, block in enumerate(blocks):
            frame = "" if index else _claude_read.role_frame(role)
            content.append(_block(block, f"/messages/{number}/content/{index}", frame, context))
        messages.append({"role": role, "content": content})
    return messages


def _block(block: Block, pointer: str, frame: str, context: _Context) -> dict[str, Any]:
    body: dict[str, Any]
    row, put = context.plan.row, context.build.put
    if block.part is not None:
        part = block.part
        mark = mark_of(part.mark, row, "messages")
        put(part.section_id, pointer, part.text, "messages", stable=part.stable, mark=mark, frame=frame)
        body = {"type": "text", "text": part.text}
    elif block.call is not None:
        mark = ""
        body = {
            "type": "tool_use",
            "id": context.ids[block.call.id],
            "name": context.names[block.call.name],
            "input": call_input(block.call.arguments),
        }
        put(block.section_id or ":calls", pointer, compact(body), "messages", stable=block.stable, frame=frame)
    else:
        mark = mark_of(result_mark(block), row, "messages")
        body, own = _result(block, context.ids)
        for number, (text, inner) in enumerate(own):
            put(
                block.parts[number].section_id if block.parts else block.section_id or ":results",
                pointer + inner,
                text,
                "messages",
                stable=block.stable,
                mark=mark if number == len(own) - 1 else "",
                frame="" if number else frame + _claude_read.result_frame(body),
            )
    if mark:
        body["cache_control"] = cache_control(mark)
    return body


def _result(block: Block, ids: Mapping[str, str]) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    body: dict[str, Any] = {"type": "tool_result", "tool_use_id": ids[block.result_of or ""]}
    own: list[tuple[str, str]]
    if len(block.parts) == 1:
        body["content"] = block.parts[0].text
        own = [(block.parts[0].text, "/content")]
    elif block.parts:
        body["content"] = [{"type": "text", "text": p.text} for p in block.parts]
        own = [(p.text, f"/content/{i}") for i, p in enumerate(block.parts)]
    else:
        own = [("", "")]
    if block.is_error:
        body["is_error"] = True
    return body, own


SHAPE = AnthropicMessages()
