"""What Gemini would refuse: roles, calls and responses, names, schemas, capabilities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ctxc.model.provider import ModelRow, ProviderProfile
from ctxc.providers._checks import tool_complaints
from ctxc.providers._gemini_read import contents_of, either, functions_of, response_schema, schema_of
from ctxc.providers._names import NameRule
from ctxc.providers._read import as_int, as_map, as_text
from ctxc.providers._subset import complaints

TOOL_NAME = NameRule(extra="_.:-", max=128, first="letter")
"""A letter or underscore, then letters, digits, ``_``, ``.``, ``:`` and ``-``, at most 128 (google-genai SDK 3.6.1)."""

_LIST_FIELDS = ("parameters", "response")


def check(request: Mapping[str, Any], profile: ProviderProfile, row: ModelRow) -> tuple[str, ...]:
    """Everything that would be refused, with pointers."""
    return tuple(_check(request, profile, row))


def _check(request: Mapping[str, Any], profile: ProviderProfile, row: ModelRow) -> Iterator[str]:
    contents = list(contents_of(request))
    if not contents:
        yield "/contents: there has to be at least one content"
    functions = list(functions_of(request))
    if functions and "tools" not in row.capabilities:
        yield f"/tools: this interface does not take tools for {as_text(request.get('model')) or row.pattern}"
    named = [(p, {**f, "schema": schema_of(f)}) for p, f in functions]
    yield from tool_complaints(named, profile, TOOL_NAME, "schema")
    for pointer, function in functions:
        if "parameters" in function and any(k in function for k in ("parametersJsonSchema", "parameters_json_schema")):
            yield f"{pointer}: parameters and parametersJsonSchema exclude each other"
        for key in _LIST_FIELDS:
            if isinstance(function.get(key), Mapping):
                for complaint in complaints(function[key], profile.schema_subset):
                    yield f"{pointer}/{key}: {complaint}"
    yield from _contents(contents, {as_text(f.get("name")) for _, f in functions})
    yield from _settings(request, profile, row)


def _contents(contents: list[tuple[int, str, list[tuple[str, Mapping[str, Any]]]]], known: set[str]) -> Iterator[str]:
    open_calls: list[str] = []
    for index, role, parts in contents:
        if role not in ("user", "model", "function"):
            yield f"/contents/{index}/role: {role!r} is not a role"
        if not parts:
            yield f"/contents/{index}/parts: a content has to have parts"
        answers: list[str] = []
        calls: list[str] = []
        for pointer, part in parts:
            call = as_map(either(part, "functionCall", "function_call"))
            if call:
                calls.append(as_text(call.get("name")))
                if role != "model":
                    yield f"{pointer}: a functionCall stands in a model content only"
                if known and as_text(call.get("name")) not in known:
                    yield f"{pointer}/functionCall/name: {as_text(call.get('name'))!r} is not declared"
            response = as_map(either(part, "functionResponse", "function_response"))
            if response:
                answers.append(as_text(response.get("name")))
                if role == "model":
                    yield f"{pointer}: a functionResponse stands in a user content only"
        if sorted(answers) != sorted(open_calls):
            yield f"/contents/{index}: {len(open_calls)} calls before it, {len(answers)} responses that name them"
        open_calls = calls
    if open_calls:
        yield f"/contents/{contents[-1][0]}: {len(open_calls)} calls without a response"


def _settings(request: Mapping[str, Any], profile: ProviderProfile, row: ModelRow) -> Iterator[str]:
    settings = as_map(either(request, "generationConfig", "generation_config"))
    limit = as_int(either(settings, "maxOutputTokens", "max_output_tokens"), -1)
    if row.max_output is not None and limit > row.max_output:
        yield f"/generationConfig/maxOutputTokens: {limit:,} is over the model's {row.max_output:,}"
    found = response_schema(request)
    if found is None:
        return
    at, schema = found
    if "json_schema" not in row.capabilities:
        yield f"{at}: this interface does not take a schema for {as_text(request.get('model')) or row.pattern}"
    if at.lower().replace("_", "").endswith("responseschema"):
        for complaint in complaints(schema, profile.schema_subset):
            yield f"{at}: {complaint}"
    if as_text(either(settings, "responseMimeType", "response_mime_type")) != "application/json":
        yield f"{at}: responseMimeType has to be application/json"
