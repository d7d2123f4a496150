"""Amazon Bedrock Converse: the keyword arguments of ``converse``.

Physical order is tools, system, messages. A cache mark is a block of its own (``cachePoint``) after what it closes, in
``system``, in a message's content, and, for models that take it there, at the end of ``toolConfig.tools``. The output
schema is a JSON text inside the request. Neighbouring turns of one role share a message; blank texts are refused by
the service and are not sent; a call's arguments have to be an object (see ``anthropic_messages``).
Sources: botocore 1.44.8 service model bedrock-runtime/2023-09-30; Bedrock user guide, prompt caching, September 2026.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ctxc.base.values import dataclass
from ctxc.model.counting import Count, Tokenizer
from ctxc.model.provider import ModelRow, ProviderProfile
from ctxc.model.request import Leaf, Rendered, RenderPlan, Segment
from ctxc.providers import _claude_count, _converse_check, _converse_read
from ctxc.providers._build import Builder, mark_of, spoken
from ctxc.providers._chat_render import contract_name
from ctxc.providers._merge import Block, call_ids, call_input, merged, result_mark
from ctxc.providers._names import NameRule, changed, legal_names, rule_from
from ctxc.providers._read import compact

CALL_ID = NameRule(extra="_.:-", max=64)


class BedrockConverse:
    """The shape."""

    id = "bedrock_converse"
    capabilities = frozenset(
        {"system", "history", "tools", "json_schema", "cache_marks", "images", "tool_results", "tool_errors"}
    )

    def render(self, plan: RenderPlan) -> Rendered:
        """Keys in this order: modelId, toolConfig, system, messages, inferenceConfig, outputConfig."""
        build = Builder()
        names = legal_names(
            [t.name for t in plan.tools] + [c.name for turn in plan.turns for c in turn.tool_calls],
            rule_from(plan.profile.limits, "tool_name", _converse_check.TOOL_NAME),
        )
        ids = legal_names(call_ids(plan.turns), CALL_ID)
        build.put(":model", "/modelId", plan.model, "settings", stable=True)
        request: dict[str, Any] = {"modelId": plan.model}
        tools = _tools(plan, names, build)
        if tools:
            request["toolConfig"] = {"tools": tools}
        output = _contract(plan, build)
        system = _system(plan, build)
        if system:
            request["system"] = system
        request["messages"] = _messages(_Context(plan=plan, names=names, ids=ids, build=build))
        if plan.output_reserve > 0:
            request["inferenceConfig"] = {"maxTokens": plan.output_reserve}
        if output:
            request["outputConfig"] = output
        return build.done(request, renamed=changed(names), call_ids=changed(ids))

    def count(self, request: Mapping[str, Any], tokenizer: Tokenizer, row: ModelRow) -> Count:
        """Tokens of a whole request, as those of the Messages request that it means."""
        return _claude_count.count(_converse_read.view_of(request), tokenizer, row)

    def texts(self, request: Mapping[str, Any]) -> Sequence[str]:
        """Every text that ``count`` will count."""
        return _claude_count.texts(_converse_read.view_of(request))

    def segments(self, request: Mapping[str, Any]) -> tuple[Segment, ...]:
        """The request in physical order."""
        return _converse_read.segments(request)

    def read_back(self, request: Mapping[str, Any]) -> tuple[Leaf, ...]:
        """Everything that a model reads."""
        return _converse_read.read_back(request)

    def check(self, request: Mapping[str, Any], profile: ProviderProfile, row: ModelRow) -> tuple[str, ...]:
        """What the provider would refuse."""
        return _converse_check.check(request, profile, row)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Context:
    """What the blocks of all messages share."""

    plan: RenderPlan
    names: Mapping[str, str]
    ids: Mapping[str, str]
    build: Builder


def cache_point(ttl: str) -> dict[str, Any]:
    """A cache mark; the default time to live (5 minutes) is left unsaid."""
    return {"cachePoint": {"type": "default"} if ttl in ("default", "5m") else {"type": "default", "ttl": ttl}}


def _tools(plan: RenderPlan, names: Mapping[str, str], build: Builder) -> list[dict[str, Any]]:
    tools: list[dict[str, Any]] = []
    mark = mark_of(plan.tools_mark, plan.row, "tools")
    for index, tool in enumerate(plan.tools):
        spec: dict[str, Any] = {"name": names[tool.name]}
        if tool.description:
            spec["description"] = tool.description
        spec["inputSchema"] = {"json": dict(tool.input_schema) or {"type": "object"}}
        if tool.strict is not None and "strict_tools" in plan.row.capabilities:
            spec["strict"] = tool.strict
        tools.append({"toolSpec": spec})
        build.put(
            plan.tools_section or ":tools",
            f"/toolConfig/tools/{index}",
            compact(spec),
            "tools",
            stable=plan.tools_stable,
            mark=mark if index == len(plan.tools) - 1 else "",
        )
    if tools and mark:
        tools.append(cache_point(mark))
    return tools


def _contract(plan: RenderPlan, build: Builder) -> dict[str, Any] | None:
    if plan.contract is None:
        return None
    body: dict[str, Any] = {"schema": compact(dict(plan.contract.schema)), "name": contract_name(plan.contract)}
    if plan.contract.description:
        body["description"] = plan.contract.description
    format_ = {"type": "json_schema", "structure": {"jsonSchema": body}}
    owner = plan.contract_section or ":contract"
    build.put(owner, "/outputConfig/textFormat", compact(format_), "settings", stable=True)
    return {"textFormat": format_}


def _system(plan: RenderPlan, build: Builder) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    for part in spoken(plan.system):
        mark = mark_of(part.mark, plan.row, "system")
        build.put(part.section_id, f"/system/{len(blocks)}", part.text, "system", stable=part.stable, mark=mark)
        blocks.append({"text": part.text})
        if mark:
            blocks.append(cache_point(mark))
    return blocks


def _messages(context: _Context) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    for number, (role, blocks) in enumerate(merged(context.plan.turns)):
        content: list[dict[str, Any]] = []
        for index, block in enumerate(blocks):
            pointer = f"/messages/{number}/content/{len(content)}"
            frame = "" if index else _converse_read.role_frame(role)
            body, mark = _block(block, pointer, frame, context)
            content.append(body)
            if mark:
                content.append(cache_point(mark))
        messages.append({"role": role, "content": content})
    return messages


def _block(block: Block, pointer: str, frame: str, context: _Context) -> tuple[dict[str, Any], str]:
    row, put = context.plan.row, context.build.put
    if block.part is not None:
        part = block.part
        mark = mark_of(part.mark, row, "messages")
        put(part.section_id, pointer, part.text, "messages", stable=part.stable, mark=mark, frame=frame)
        return {"text": part.text}, mark
    if block.call is not None:
        body = {
            "toolUse": {
                "toolUseId": context.ids[block.call.id],
                "name": context.names[block.call.name],
                "input": call_input(block.call.arguments),
            }
        }
        put(block.section_id or ":calls", pointer, compact(body), "messages", stable=block.stable, frame=frame)
        return body, ""
    mark = mark_of(result_mark(block), row, "messages")
    result: dict[str, Any] = {
        "toolUseId": context.ids[block.result_of or ""],
        "content": [{"text": p.text} for p in block.parts],
    }
    if block.is_error:
        result["status"] = "error"
    frame += _converse_read.result_frame(result)
    last = len(block.parts) - 1
    for number, part in enumerate(block.parts):
        put(
            part.section_id,
            f"{pointer}/toolResult/content/{number}",
            part.text,
            "messages",
            stable=block.stable,
            mark=mark if number == last else "",
            frame="" if number else frame,
        )
    if not block.parts:
        put(block.section_id or ":results", pointer, "", "messages", mark=mark, frame=frame)
    return {"toolResult": result}, mark


SHAPE = BedrockConverse()
