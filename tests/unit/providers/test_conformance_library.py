"""Every fixture of the example library as a request of every provider, against validators that we did not write.

Needs the extra ``conformance``; each test skips where its package is not installed. Every fixture but those whose route
needs no model has to end in a request: a test over nothing would pass.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from test_conformance import _jsonable, _read, _without, strict_adapter

from ctxc import providers
from ctxc.app.api import load
from ctxc.app.workspace import compiler_for
from ctxc.compiler.stage import Options
from ctxc.model.package import Outcome, Package
from ctxc.model.project import Project
from ctxc.model.template import Template

ROOT = Path(__file__).parents[3]
Validate = Callable[[Mapping[str, Any]], None]

TARGETS = [
    ("openai", "gpt-4o"),
    ("openai", "gpt-5.6-sol"),
    ("openai_responses", "gpt-5.6-sol"),
    ("openai_responses", "gpt-6-astra"),
    ("anthropic", "claude-sonnet-4-5"),
    ("anthropic", "claude-opus-5"),
    ("bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
    ("bedrock", "anthropic.claude-opus-5"),
    ("bedrock", "us.amazon.nova-pro-v1:0"),
    ("gemini", "gemini-3.5-flash"),
    ("gemini", "gemini-2.0-flash"),
    ("gemini_vertex", "gemini-2.5-pro"),
    ("deepseek", "deepseek-chat"),
    ("qwen", "qwen3.8-max"),
    ("mistral", "mistral-large-4"),
    ("openrouter", "anthropic/claude-sonnet-4.6"),
    ("vllm", "my-gpt-oss-120b"),
    ("chat_template", "qwen3-32b"),
    ("chat_template", "llama-3.3-70b"),
    ("chat_template", "gpt-oss-120b"),
    ("text", "o200k"),
]


@cache
def library() -> Project:
    """The example library, loaded once, with four times the room: fixtures that a budget refuses are sent as well."""
    project = load(ROOT)
    assert len(project.fixtures) >= 30
    return replace(
        project,
        templates={k: tuple(map(_roomy, v)) for k, v in project.templates.items()},
        fragments={
            k: tuple(replace(f, max_tokens=_more(f.max_tokens)) for f in v) for k, v in project.fragments.items()
        },
    )


def _roomy(template: Template) -> Template:
    budget = template.budget
    return replace(
        template,
        budget=replace(budget, window=_more(budget.window), ceiling=_more(budget.ceiling)),
        sections=tuple(replace(s, max_tokens=_more(s.max_tokens)) for s in template.sections),
    )


def _more(limit: int | None) -> int | None:
    return None if limit is None else 4 * limit


def packages(provider: str, model: str) -> Iterator[Package]:
    """Every fixture of the library, compiled for a model."""
    compiler = compiler_for(library(), Options(provider=provider, model=model))
    for fixture in library().fixtures.values():
        yield compiler.compile(fixture)


# --- validators -----------------------------------------------------------------------------------------------------


def _typed(package: str, module: str, name: str, *, more: tuple[str, ...] = ()) -> Validate:
    """A validator of an SDK's typed parameters; ``more`` are keys that this provider adds to the SDK's form."""
    found = pytest.importorskip(module, reason="needs the extra conformance")
    adapter = strict_adapter(getattr(found, name), package)

    def validate(request: Mapping[str, Any]) -> None:
        plain = _jsonable(request)
        for key in more:
            plain = _without(plain, key)
        _read(adapter.validate_python(plain))

    return validate


def _chat(*more: str) -> Validate:
    module = "openai.types.chat.completion_create_params"
    return _typed("openai", module, "CompletionCreateParamsNonStreaming", more=more)


def _converse() -> Validate:
    pytest.importorskip("botocore", reason="needs the extra conformance")
    import botocore.session
    from botocore.validate import ParamValidator

    form = botocore.session.get_session().get_service_model("bedrock-runtime").operation_model("Converse").input_shape

    def validate(request: Mapping[str, Any]) -> None:
        report = ParamValidator().validate(dict(request), form)
        assert not report.has_errors(), report.generate_report()

    return validate


def _gemini() -> Validate:
    pytest.importorskip("google.genai", reason="needs the extra conformance")
    from google.genai import types

    def validate(request: Mapping[str, Any]) -> None:
        plain = _jsonable(request)
        assert set(plain) <= {"model", "systemInstruction", "tools", "contents", "generationConfig"}
        for content in plain["contents"]:
            types.Content.model_validate(content)
        config = {k: plain[k] for k in ("systemInstruction", "tools") if k in plain}
        types.GenerateContentConfig.model_validate({**config, **plain.get("generationConfig", {})})

    return validate


def _document() -> Validate:
    """The shape ``text`` has no provider: one text under one key, and a limit of the answer, is all of it."""

    def validate(request: Mapping[str, Any]) -> None:
        plain = _jsonable(request)
        assert isinstance(plain.pop("text"), str)
        assert set(plain) <= {"model", "max_tokens"}

    return validate


VALIDATORS: Mapping[str, Callable[[], Validate]] = {
    "openai_chat": _chat,
    "openai_compatible": lambda: _chat("cache_control"),
    "openai_responses": lambda: _typed(
        "openai", "openai.types.responses.response_create_params", "ResponseCreateParamsNonStreaming"
    ),
    "anthropic_messages": lambda: _typed(
        "anthropic", "anthropic.types.message_create_params", "MessageCreateParamsNonStreaming"
    ),
    "bedrock_converse": _converse,
    "gemini_generate_content": _gemini,
    # What vLLM adds to OpenAI's completions: the template has written the control tokens already.
    "chat_template": lambda: _typed(
        "openai",
        "openai.types.completion_create_params",
        "CompletionCreateParamsNonStreaming",
        more=("add_special_tokens",),
    ),
    "text": _document,
}


@cache
def validator(shape_id: str) -> Validate:
    return VALIDATORS[shape_id]()


# --- the library ----------------------------------------------------------------------------------------------------


def test_every_shape_and_every_profile_is_tried() -> None:
    assert set(VALIDATORS) == set(providers.shape_ids())
    assert {name for name, _ in TARGETS} == set(providers.profile_ids())


@pytest.mark.parametrize(("provider", "model"), TARGETS)
def test_every_request_of_the_library_validates(provider: str, model: str) -> None:
    profile = library().providers[provider]
    row = providers.find_row(profile, model)
    assert row is not None
    validate, shape = validator(profile.shape), providers.shape(profile.shape)
    ends: Counter[Outcome] = Counter()
    for package in packages(provider, model):
        ends[package.outcome] += 1
        if package.request is None:
            # A route that answers without a model sends nothing to anybody.
            assert package.outcome is Outcome.MODEL_NOT_REQUIRED, [f.message for f in package.findings]
            continue
        validate(package.request)
        assert shape.check(package.request, profile, row) == ()
        assert package.request.get("modelId" if "modelId" in package.request else "model") == model
    assert ends[Outcome.COMPILED] == len(library().fixtures) - ends[Outcome.MODEL_NOT_REQUIRED] >= 30


@pytest.mark.parametrize("shape_id", sorted(VALIDATORS))
def test_the_validators_refuse_what_is_wrong(shape_id: str) -> None:
    """A key that nobody knows, at the top of a real request, is seen by each of them."""
    provider, model = next(t for t in TARGETS if library().providers[t[0]].shape == shape_id)
    validate = validator(shape_id)
    request = next(p.request for p in packages(provider, model) if p.request is not None)
    validate(request)
    with pytest.raises(Exception, match=r"(?i)odd_key|unknown|extra"):
        validate({**request, "odd_key": 1})
