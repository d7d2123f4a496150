"""OpenAI Responses (``POST /v1/responses``).

The system part is ``instructions``, or, where a cache mark has to stand in it, a first developer message: the service
takes no mark on instructions. A turn is an input item of its own; a call and its output are items too. An assistant
item is one string, because its content parts would need ids that only the service gives.
Sources: openai SDK 3.57.0 typed parameters; function calling and prompt caching guides, October 2026.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ctxc.model.counting import Count, Tokenizer
from ctxc.model.provider import ModelRow, ProviderProfile
from ctxc.model.request import Leaf, Part, Rendered, RenderPlan, Segment, Turn
from ctxc.providers import _responses_check, _responses_read
from ctxc.providers._build import Builder, mark_of, whole
from ctxc.providers._chat_render import JOINER, TOOL_NAME, Form, blocks, contract_name, joined_blocks, role_frame
from ctxc.providers._names import changed, legal_names, rule_from
from ctxc.providers._read import compact
from ctxc.providers._subset import fits_openai_strict

_MARKER = "prompt_cache_breakpoint"


class OpenAIResponses:
    """The shape."""

    id = "openai_responses"
    capabilities = frozenset(
        {"system", "history", "tools", "json_schema", "cache_marks", "images", "developer_role", "tool_results"}
    )

    def render(self, plan: RenderPlan) -> Rendered:
        """The request; keys in this order: model, instructions, input, tools, text, max_output_tokens."""
        build = Builder()
        names = legal_names(
            [t.name for t in plan.tools] + [c.name for turn in plan.turns for c in turn.tool_calls],
            rule_from(plan.profile.limits, "tool_name", TOOL_NAME),
        )
        build.put(":model", "/model", plan.model, "settings", stable=True)
        text = _contract(plan, build)
        tools = _tools(plan, names, build)
        request: dict[str, Any] = {"model": plan.model}
        items: list[dict[str, Any]] = []
        _system(plan, request, items, build)
        for turn in plan.turns:
            _turn(turn, plan, names, items, build)
        request["input"] = items
        if tools:
            request["tools"] = tools
        if text:
            request["text"] = text
        if plan.output_reserve > 0:
            request["max_output_tokens"] = plan.output_reserve
        return build.done(request, renamed=changed(names))

    def count(self, request: Mapping[str, Any], tokenizer: Tokenizer, row: ModelRow) -> Count:
        """Tokens of a whole request."""
        return _responses_read.count(request, tokenizer, row)

    def texts(self, request: Mapping[str, Any]) -> Sequence[str]:
        """Every text that ``count`` will count."""
        return _responses_read.texts(request)

    def segments(self, request: Mapping[str, Any]) -> tuple[Segment, ...]:
        """The request in physical order."""
        return _responses_read.segments(request)

    def read_back(self, request: Mapping[str, Any]) -> tuple[Leaf, ...]:
        """Everything that a model reads."""
        return _responses_read.read_back(request)

    def check(self, request: Mapping[str, Any], profile: ProviderProfile, row: ModelRow) -> tuple[str, ...]:
        """What the provider would refuse."""
        return _responses_check.check(request, profile, row)


def _contract(plan: RenderPlan, build: Builder) -> dict[str, Any] | None:
    if plan.contract is None:
        return None
    schema = dict(plan.contract.schema)
    body: dict[str, Any] = {"type": "json_schema", "name": contract_name(plan.contract)}
    if plan.contract.description:
        body["description"] = plan.contract.description
    body["schema"] = schema
    body["strict"] = fits_openai_strict(schema)
    build.put(plan.contract_section or ":contract", "/text/format", compact(body), "settings", stable=True)
    return {"format": body}


def _tools(plan: RenderPlan, names: Mapping[str, str], build: Builder) -> list[dict[str, Any]]:
    tools: list[dict[str, Any]] = []
    for index, tool in enumerate(plan.tools):
        body: dict[str, Any] = {"type": "function", "name": names[tool.name]}
        if tool.description:
            body["description"] = tool.description
        body["parameters"] = dict(tool.input_schema)
        # Left out, the service would turn it on and change the schema.
        body["strict"] = bool(tool.strict)
        tools.append(body)
        owner = plan.tools_section or ":tools"
        build.put(owner, f"/tools/{index}", compact(body), "tools", stable=plan.tools_stable)
    return tools


def _system(plan: RenderPlan, request: dict[str, Any], items: list[dict[str, Any]], build: Builder) -> None:
    parts = whole(plan.system)
    if not parts:
        return
    marks = [mark_of(p.mark, plan.row, "system") for p in parts]
    if not any(marks):
        request["instructions"] = JOINER.join(p.text for p in parts)
        for index, part in enumerate(parts):
            text = (JOINER if index else "") + part.text
            build.put(part.section_id, "/instructions", text, "system", stable=part.stable)
        return
    form = Form("input_text", _MARKER, role_frame("developer"))
    content = joined_blocks(parts, marks, "/input/0/content", form, build)
    items.append({"role": "developer", "content": content})


def _turn(turn: Turn, plan: RenderPlan, names: Mapping[str, str], items: list[dict[str, Any]], build: Builder) -> None:
    parts = whole(turn.parts)
    stable = bool(parts) and all(p.stable for p in parts)
    owner = turn.section_id or (parts[0].section_id if parts else "")
    if turn.role == "tool":
        _output(turn, parts, items, build)
        return
    if parts or not turn.tool_calls:
        _message(turn, parts, plan, items, build)
    for call in turn.tool_calls:
        item = {
            "type": "function_call",
            "call_id": call.id,
            "name": names[call.name],
            "arguments": call.arguments,
        }
        build.put(owner or ":calls", f"/input/{len(items)}", compact(item), "messages", stable=stable)
        items.append(item)


def _output(turn: Turn, parts: tuple[Part, ...], items: list[dict[str, Any]], build: Builder) -> None:
    at = f"/input/{len(items)}/output"
    item: dict[str, Any] = {"type": "function_call_output", "call_id": turn.tool_call_id or ""}
    frame = _responses_read.output_frame(item)
    if len(parts) > 1:
        item["output"] = [{"type": "input_text", "text": p.text} for p in parts]
        for index, part in enumerate(parts):
            head = "" if index else frame
            build.put(part.section_id, f"{at}/{index}", part.text, "messages", stable=part.stable, frame=head)
    else:
        item["output"] = parts[0].text if parts else ""
        owner = parts[0].section_id if parts else turn.section_id or ":results"
        stable = bool(parts) and parts[0].stable
        build.put(owner, at, item["output"], "messages", stable=stable, frame=frame)
    items.append(item)


def _message(
    turn: Turn, parts: tuple[Part, ...], plan: RenderPlan, items: list[dict[str, Any]], build: Builder
) -> None:
    role = "developer" if turn.role == "system" else turn.role
    at = f"/input/{len(items)}/content"
    marks = [mark_of(p.mark, plan.row, "messages") if role != "assistant" else "" for p in parts]
    frame = role_frame(role)
    if role == "assistant" or (len(parts) < 2 and not any(marks)):
        items.append({"role": role, "content": "".join(p.text for p in parts)})
        for index, part in enumerate(parts):
            head = "" if index else frame
            build.put(part.section_id, at, part.text, "messages", stable=part.stable, frame=head)
        if not parts:
            build.put(turn.section_id or ":empty", at, "", "messages", frame=frame)
        return
    content = blocks(parts, marks, at, Form("input_text", _MARKER, frame), build)
    items.append({"role": role, "content": content})


SHAPE = OpenAIResponses()
