"""Gemini ``generateContent``: ``{model, contents, systemInstruction, tools, generationConfig}``.

Roles are ``user`` and ``model``; a tool's result is a ``functionResponse`` in a user turn, under the key ``output`` (or
``error``) as a JSON string value. A schema goes into ``parametersJsonSchema`` and ``responseJsonSchema``, which take
JSON Schema; ``parameters`` and ``responseSchema`` would take a part of it only. There is no mark for a cache inside a
request: a cached prefix is a resource of its own. The model's name stands in the path of the call and is kept beside.
Sources: google-genai SDK 3.6.1 types and local tokenizer; ai.google.dev caching and token guides, July 2026.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ctxc.model.counting import Count, Tokenizer
from ctxc.model.provider import ModelRow, ProviderProfile
from ctxc.model.request import Leaf, Rendered, RenderPlan, Segment
from ctxc.providers import _gemini_check, _gemini_read
from ctxc.providers._build import Builder, spoken
from ctxc.providers._merge import Block, call_input, merged
from ctxc.providers._names import changed, legal_names, rule_from
from ctxc.providers._read import compact


class GeminiGenerateContent:
    """The shape."""

    id = "gemini_generate_content"
    capabilities = frozenset({"system", "history", "tools", "json_schema", "images", "tool_results", "tool_errors"})

    def render(self, plan: RenderPlan) -> Rendered:
        """Keys in this order: model, systemInstruction, tools, contents, generationConfig."""
        build = Builder()
        names = legal_names(
            [t.name for t in plan.tools] + [c.name for turn in plan.turns for c in turn.tool_calls],
            rule_from(plan.profile.limits, "tool_name", _gemini_check.TOOL_NAME),
        )
        build.put(":model", "/model", plan.model, "settings", stable=True)
        request: dict[str, Any] = {"model": plan.model}
        system = [{"text": p.text} for p in spoken(plan.system)]
        tools = _tools(plan, names, build)
        for index, part in enumerate(spoken(plan.system)):
            pointer = f"/systemInstruction/parts/{index}"
            build.put(part.section_id, pointer, part.text, "system", stable=part.stable)
        if system:
            request["systemInstruction"] = {"parts": system}
        if tools:
            request["tools"] = [{"functionDeclarations": tools}]
        request["contents"] = _contents(plan, names, build)
        settings = _settings(plan, build)
        if settings:
            request["generationConfig"] = settings
        return build.done(request, renamed=changed(names))

    def count(self, request: Mapping[str, Any], tokenizer: Tokenizer, row: ModelRow) -> Count:
        """Tokens of a whole request: the sum over the strings that the SDK's local tokenizer counts."""
        return _gemini_read.count(request, tokenizer, row)

    def texts(self, request: Mapping[str, Any]) -> Sequence[str]:
        """Every text that ``count`` will count."""
        return _gemini_read.texts(request)

    def segments(self, request: Mapping[str, Any]) -> tuple[Segment, ...]:
        """The request in physical order."""
        return _gemini_read.segments(request)

    def read_back(self, request: Mapping[str, Any]) -> tuple[Leaf, ...]:
        """Everything that a model reads."""
        return _gemini_read.read_back(request)

    def check(self, request: Mapping[str, Any], profile: ProviderProfile, row: ModelRow) -> tuple[str, ...]:
        """What the provider would refuse."""
        return _gemini_check.check(request, profile, row)


def _tools(plan: RenderPlan, names: Mapping[str, str], build: Builder) -> list[dict[str, Any]]:
    tools: list[dict[str, Any]] = []
    for index, tool in enumerate(plan.tools):
        body: dict[str, Any] = {"name": names[tool.name]}
        if tool.description:
            body["description"] = tool.description
        body["parametersJsonSchema"] = dict(tool.input_schema)
        tools.append(body)
        owner = plan.tools_section or ":tools"
        pointer = f"/tools/0/functionDeclarations/{index}"
        build.put(owner, pointer, compact(body), "tools", stable=plan.tools_stable)
    return tools


def _settings(plan: RenderPlan, build: Builder) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    if plan.output_reserve > 0:
        settings["maxOutputTokens"] = plan.output_reserve
    if plan.contract is not None:
        schema = dict(plan.contract.schema)
        settings["responseMimeType"] = "application/json"
        settings["responseJsonSchema"] = schema
        owner = plan.contract_section or ":contract"
        build.put(owner, "/generationConfig/responseJsonSchema", compact(schema), "settings", stable=True)
    return settings


def _contents(plan: RenderPlan, names: Mapping[str, str], build: Builder) -> list[dict[str, Any]]:
    called = {c.id: names[c.name] for turn in plan.turns for c in turn.tool_calls}
    contents: list[dict[str, Any]] = []
    for number, (role, blocks) in enumerate(merged(plan.turns)):
        own = "model" if role == "assistant" else "user"
        parts: list[dict[str, Any]] = []
        for index, block in enumerate(blocks):
            pointer = f"/contents/{number}/parts/{index}"
            frame = "" if index else _gemini_read.role_frame(own)
            parts.append(_part(block, pointer, frame, called, names, build))
        contents.append({"role": own, "parts": parts})
    return contents


def _part(
    block: Block,
    pointer: str,
    frame: str,
    called: Mapping[str, str],
    names: Mapping[str, str],
    build: Builder,
) -> dict[str, Any]:
    body: dict[str, Any]
    if block.part is not None:
        part = block.part
        build.put(part.section_id, pointer, part.text, "messages", stable=part.stable, frame=frame)
        return {"text": part.text}
    if block.call is not None:
        call: dict[str, Any] = {"name": names[block.call.name], "args": call_input(block.call.arguments)}
        if block.call.id:
            call["id"] = block.call.id
        body = {"functionCall": call}
        build.put(block.section_id or ":calls", pointer, compact(body), "messages", stable=block.stable, frame=frame)
        return body
    key = "error" if block.is_error else "output"
    text = "".join(p.text for p in block.parts)
    response: dict[str, Any] = {"name": called.get(block.result_of or "", "")}
    if block.result_of:
        response["id"] = block.result_of
    response["response"] = {key: text}
    frame += _gemini_read.result_frame(response)
    for number, part in enumerate(block.parts):
        build.put(
            part.section_id,
            f"{pointer}/functionResponse/response/{key}",
            part.text,
            "messages",
            stable=block.stable,
            frame="" if number else frame,
        )
    if not block.parts:
        build.put(block.section_id or ":results", pointer, "", "messages", frame=frame)
    return {"functionResponse": response}


SHAPE = GeminiGenerateContent()
