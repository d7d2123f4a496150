"""Requests against what we did not write: the SDKs' typed parameters, botocore's validator, google-genai's models.

Needs the extra ``conformance``; each test skips where its package is not installed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from ctxc.model.contract import Contract
from ctxc.model.request import Part, RenderPlan, Turn
from ctxc.model.section import Tool, ToolCall
from ctxc.providers import shape

SCHEMA = {
    "type": "object",
    "required": ["answer", "citations"],
    "properties": {"answer": {"type": "string"}, "citations": {"type": "array", "items": {"type": "string"}}},
    "additionalProperties": False,
}
CONTRACT = Contract(id="answer v5", version="5", schema=SCHEMA, description="What to say.")


def _part(text: str, **more: Any) -> tuple[Part, ...]:
    return (Part(section_id="s", text=text, **more),)


def variants(make_plan: Any, profile_id: str, model: str) -> list[RenderPlan]:
    """Plain, with everything at once, with marks, with odd names and arguments."""
    hostile = (
        Turn(role="user", parts=_part("go"), section_id="h", name="ann"),
        Turn(
            role="assistant",
            tool_calls=(
                ToolCall(id="c 1", name="claims.find/x", arguments="not json"),
                ToolCall(id="c2", name="get_weather", arguments=""),
            ),
            section_id="h",
        ),
        Turn(role="tool", tool_call_id="c2", parts=_part("err"), is_error=True, section_id="h"),
        Turn(role="tool", tool_call_id="c 1", parts=(*_part("one"), *_part("two")), section_id="h"),
        Turn(role="system", parts=_part("Mind the policy."), section_id="focus"),
        Turn(role="user", parts=(*_part("a", mark="default"), *_part("b")), section_id="u"),
    )
    tools = (
        Tool(name="claims.find/x", description="", input_schema={}),
        Tool(name="get_weather", description="Weather.", input_schema=SCHEMA, strict=True),
    )
    return [
        make_plan(profile_id, model),
        make_plan(profile_id, model, tools=(), system=(), output_reserve=1),
        make_plan(profile_id, model, contract=CONTRACT, contract_section="c", tools_mark="1h"),
        make_plan(
            profile_id,
            model,
            system=(Part(section_id="a", text="A", mark="1h"), Part(section_id="b", text="B", mark="default")),
            turns=hostile,
            tools=tools,
            tools_mark="1h",
            contract=CONTRACT,
        ),
    ]


def _jsonable(value: Any) -> Any:
    return json.loads(json.dumps(value, allow_nan=False))


def strict_adapter(typed: Any, package: str) -> Any:
    """A validator of an SDK's typed parameters that also refuses keys which they do not know, at any depth."""
    from pydantic import ConfigDict, TypeAdapter
    from typing_extensions import is_typeddict

    for name, module in list(sys.modules.items()):
        if name.startswith(package + ".types"):
            for value in vars(module).values():
                if is_typeddict(value):
                    value.__pydantic_config__ = ConfigDict(extra="forbid", arbitrary_types_allowed=True)
    return TypeAdapter(typed)


def _validate(adapter: Any, request: Any) -> None:
    """Validate all of it: pydantic checks what is typed as an iterable only while that is read."""
    _read(adapter.validate_python(_jsonable(request)))


def _read(value: Any) -> None:
    if isinstance(value, dict):
        for child in value.values():
            _read(child)
    elif not isinstance(value, (str, bytes)) and hasattr(value, "__iter__"):
        for child in value:
            _read(child)


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-5.6-sol", "o3"])
def test_openai_chat(make_plan: Any, model: str) -> None:
    pytest.importorskip("openai", reason="needs the extra conformance")
    from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming

    adapter = strict_adapter(CompletionCreateParamsNonStreaming, "openai")
    for plan in variants(make_plan, "openai", model):
        request = shape("openai_chat").render(plan).request
        assert set(request) <= _keys(CompletionCreateParamsNonStreaming)
        _validate(adapter, request)
        assert shape("openai_chat").check(request, plan.profile, plan.row) == ()


@pytest.mark.parametrize(
    ("profile_id", "model"), [("deepseek", "deepseek-chat"), ("qwen", "qwen3.8-max"), ("mistral", "mistral-large-4")]
)
def test_openai_compatible(make_plan: Any, profile_id: str, model: str) -> None:
    pytest.importorskip("openai", reason="needs the extra conformance")
    from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming

    adapter = strict_adapter(CompletionCreateParamsNonStreaming, "openai")
    for plan in variants(make_plan, profile_id, model):
        _validate(adapter, _without(shape("openai_compatible").render(plan).request, "cache_control"))


def _without(value: Any, key: str) -> Any:
    """A copy without a field that one provider adds to OpenAI's form."""
    if isinstance(value, dict):
        return {k: _without(v, key) for k, v in value.items() if k != key}
    if isinstance(value, list):
        return [_without(v, key) for v in value]
    return value


def _keys(typed: Any) -> set[str]:
    return set(getattr(typed, "__required_keys__", ())) | set(getattr(typed, "__optional_keys__", ()))


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-5.6-sol", "gpt-6-astra"])
def test_openai_responses(make_plan: Any, model: str) -> None:
    pytest.importorskip("openai", reason="needs the extra conformance")
    from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming

    adapter = strict_adapter(ResponseCreateParamsNonStreaming, "openai")
    for plan in variants(make_plan, "openai_responses", model):
        request = shape("openai_responses").render(plan).request
        assert set(request) <= _keys(ResponseCreateParamsNonStreaming)
        _validate(adapter, request)
        assert shape("openai_responses").check(request, plan.profile, plan.row) == ()


@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "claude-opus-5"])
def test_anthropic_messages(make_plan: Any, model: str) -> None:
    pytest.importorskip("anthropic", reason="needs the extra conformance")
    from anthropic.types.message_create_params import MessageCreateParamsNonStreaming

    adapter = strict_adapter(MessageCreateParamsNonStreaming, "anthropic")
    for plan in variants(make_plan, "anthropic", model):
        request = shape("anthropic_messages").render(plan).request
        assert set(request) <= _keys(MessageCreateParamsNonStreaming)
        _validate(adapter, request)
        assert shape("anthropic_messages").check(request, plan.profile, plan.row) == ()


@pytest.mark.parametrize(
    "model", ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", "anthropic.claude-opus-5", "us.amazon.nova-lite-v1:0"]
)
def test_bedrock_converse(make_plan: Any, model: str) -> None:
    pytest.importorskip("botocore", reason="needs the extra conformance")
    import botocore.session
    from botocore.validate import ParamValidator

    service = botocore.session.get_session().get_service_model("bedrock-runtime")
    form = service.operation_model("Converse").input_shape
    for plan in variants(make_plan, "bedrock", model):
        if "json_schema" not in plan.row.capabilities:
            plan = _no_contract(plan)
        request = shape("bedrock_converse").render(plan).request
        report = ParamValidator().validate(dict(request), form)
        assert not report.has_errors(), report.generate_report()
        assert shape("bedrock_converse").check(request, plan.profile, plan.row) == ()


def _no_contract(plan: RenderPlan) -> RenderPlan:
    from dataclasses import replace

    return replace(plan, contract=None)


@pytest.mark.parametrize(("profile_id", "model"), [("gemini", "gemini-3.5-flash"), ("gemini_vertex", "gemini-2.5-pro")])
def test_gemini(make_plan: Any, profile_id: str, model: str) -> None:
    pytest.importorskip("google.genai", reason="needs the extra conformance")
    from google.genai import types

    for plan in variants(make_plan, profile_id, model):
        request = _jsonable(shape("gemini_generate_content").render(plan).request)
        assert set(request) <= {"model", "systemInstruction", "tools", "contents", "generationConfig"}
        for content in request["contents"]:
            types.Content.model_validate(content)
        config = {k: request[k] for k in ("systemInstruction", "tools") if k in request}
        types.GenerateContentConfig.model_validate({**config, **request.get("generationConfig", {})})
        for tool in request.get("tools", []):
            for function in tool["functionDeclarations"]:
                assert types.FunctionDeclaration.model_validate(function).parameters_json_schema is not None
        assert shape("gemini_generate_content").check(request, plan.profile, plan.row) == ()


def test_the_validators_can_fail() -> None:
    """A wrong role, a missing key and an unknown key inside an iterable are all seen."""
    pytest.importorskip("openai", reason="needs the extra conformance")
    from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
    from pydantic import ValidationError

    adapter = strict_adapter(CompletionCreateParamsNonStreaming, "openai")
    for message in ({"role": "robot", "content": "x"}, {"role": "user"}, {"role": "user", "content": "x", "odd": 1}):
        with pytest.raises(ValidationError):
            _validate(adapter, {"model": "gpt-4o", "messages": [message]})


def test_recorded_requests_validate_and_pass_our_checks(shared: Path, get_profile: Any, get_row: Any) -> None:
    """A request that a service answered is one that our checks may not refuse."""
    rows = json.loads((shared / "goldens" / "curated_recorded.json").read_text(encoding="utf-8"))["rows"]
    known = {
        "openai_chat": ("openai", "openai_chat"),
        "openai_responses": ("openai_responses", "openai_responses"),
        "anthropic": ("anthropic", "anthropic_messages"),
        "gemini-studio": ("gemini", "gemini_generate_content"),
        "gemini-vertex": ("gemini_vertex", "gemini_generate_content"),
    }
    refused = []
    for row in rows:
        profile_id, shape_id = known[row["provider"]]
        profile = get_profile(profile_id)
        try:
            model = get_row(profile, row["model"])
        except StopIteration:
            continue
        request = {"model": row["model"], **row["request"]}
        if row["provider"] == "anthropic":
            request.setdefault("max_tokens", 1)  # two rows are requests to count, which have no limit
        found = shape(shape_id).check(request, profile, model)
        if found:
            refused.append((row["provider"], row["model"], found))
    assert refused == []
