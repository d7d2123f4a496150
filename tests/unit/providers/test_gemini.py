"""Gemini: contents, function responses, the strings that are counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ctxc.model.contract import Contract
from ctxc.model.section import Tool
from ctxc.providers import shape
from ctxc.providers._gemini_read import counted_strings, schema_strings

GEMINI = shape("gemini_generate_content")


def test_whole_request(make_plan: Any) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    contract = Contract(id="answer", version="1", schema=schema)
    plan = make_plan("gemini", "gemini-3.5-flash", contract=contract)
    rendered = GEMINI.render(plan)
    assert rendered.request == {
        "model": "gemini-3.5-flash",
        "systemInstruction": {"parts": [{"text": "Never reveal other customers."}, {"text": "Answer from evidence."}]},
        "tools": [
            {
                "functionDeclarations": [
                    {
                        "name": "get_weather",
                        "description": "Weather of a city.",
                        "parametersJsonSchema": {
                            "type": "object",
                            "properties": {"city": {"type": "string"}},
                            "required": ["city"],
                        },
                    }
                ]
            }
        ],
        "contents": [
            {"role": "user", "parts": [{"text": "Is it raining in Paris?"}]},
            {
                "role": "model",
                "parts": [
                    {"text": "Let me look."},
                    {"functionCall": {"name": "get_weather", "args": {"city": "Paris"}, "id": "call_1"}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {
                        "functionResponse": {
                            "name": "get_weather",
                            "id": "call_1",
                            "response": {"output": '{"rain": true}'},
                        }
                    },
                    {"text": "<state>open</state>"},
                    {"text": "And tomorrow?"},
                ],
            },
        ],
        "generationConfig": {
            "maxOutputTokens": 512,
            "responseMimeType": "application/json",
            "responseJsonSchema": schema,
        },
    }
    assert GEMINI.check(rendered.request, plan.profile, plan.row) == ()
    assert sorted(s.wire for s in rendered.segments) == sorted(s.wire for s in GEMINI.segments(rendered.request))


def test_names_begin_with_a_letter_and_may_hold_dots(make_plan: Any) -> None:
    tools = tuple(Tool(name=n, description="", input_schema={}) for n in ("a.b:c-d", "1st", "ü"))
    plan = make_plan("gemini", "gemini-3.5-flash", tools=tools, turns=make_plan("gemini", "gemini-3.5-flash").turns[:1])
    rendered = GEMINI.render(plan)
    names = [d["name"] for d in rendered.request["tools"][0]["functionDeclarations"]]
    assert names == ["a.b:c-d", "_1st", "_"]
    assert rendered.renamed == {"1st": "_1st", "ü": "_"}


def test_counted_strings_are_those_of_the_local_tokenizer(shared: Path) -> None:
    path = shared / "goldens" / "gemini_sdk_local_tokenizer.json"
    rows = {r.get("id"): r for r in json.loads(path.read_text(encoding="utf-8"))["rows"]}
    row = rows["tools-order"]
    request = {
        "contents": row["input"]["contents"],
        "tools": [{"function_declarations": [row["input"]["tool"]]}],
    }
    assert [t for _, t in counted_strings(request)] == row["expected_strings"]
    for key, field in (("function_call", "functionCall"), ("function_response", "functionResponse")):
        request = {"contents": [{"parts": [{field: rows[key]["input"]}]}]}
        assert [t for _, t in counted_strings(request)] == rows[key]["expected_strings"]
    schema = {
        "format": "schema_format",
        "description": "Recipe schema",
        "enum": ["schema_enum1", "schema_enum2"],
        "required": ["recipe_name"],
        "items": {"description": "Item in the recipe"},
        "properties": {"recipe_name": {"description": "Name of the recipe"}},
        "example": "recipe_example",
    }
    assert list(schema_strings(schema)) == rows["response_schema"]["expected_strings"][1:]


def test_a_content_costs_one_more_in_the_studio_and_nothing_on_vertex(
    get_profile: Any, get_row: Any, words: Any
) -> None:
    request = {
        "systemInstruction": {"parts": [{"text": "a b"}]},
        "contents": [{"role": "user", "parts": [{"text": "c d e"}]}, {"role": "model", "parts": [{"text": "f"}]}],
    }
    found = {}
    for profile_id, model in (
        ("gemini", "gemini-3.5-flash"),
        ("gemini", "gemini-2.0-flash"),
        ("gemini_vertex", "gemini-3.5-flash"),
    ):
        row = get_row(get_profile(profile_id), model)
        count = GEMINI.count(request, type(words)("gemma3"), row)
        assert count.method == "reproduced"
        found[profile_id, model] = count.tokens
    assert list(found.values()) == [9, 6, 6]


def test_recorded_rows_give_the_golden_strings(shared: Path, words: Any) -> None:
    """Every text of a recorded request is among the counted strings, and nothing else is."""
    rows = json.loads((shared / "goldens" / "curated_recorded.json").read_text(encoding="utf-8"))["rows"]
    checked = 0
    for row in rows:
        if not row["provider"].startswith("gemini") or row["kind"] != "text":
            continue
        texts = [p["text"] for c in row["request"]["contents"] for p in c["parts"] if "text" in p]
        system = row["request"].get("systemInstruction", {}).get("parts", [])
        assert [t for _, t in counted_strings(row["request"])] == texts + [p["text"] for p in system]
        checked += 1
    assert checked > 20


@pytest.mark.parametrize(
    ("contents", "complaint"),
    [
        ([{"role": "assistant", "parts": [{"text": "x"}]}], "is not a role"),
        ([{"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]}], "0 calls before it"),
        ([{"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}], "1 calls without a response"),
        ([], "at least one content"),
    ],
)
def test_check_refuses(get_profile: Any, get_row: Any, contents: Any, complaint: str) -> None:
    profile = get_profile("gemini")
    found = GEMINI.check({"contents": contents}, profile, get_row(profile, "gemini-3.5-flash"))
    assert any(complaint in f for f in found), found


def test_the_older_schema_field_takes_a_part_of_json_schema_only(get_profile: Any, get_row: Any) -> None:
    profile = get_profile("gemini")
    function = {"name": "f", "parameters": {"type": "object", "patternProperties": {"a": {}}}}
    request = {
        "contents": [{"role": "user", "parts": [{"text": "x"}]}],
        "tools": [{"functionDeclarations": [function]}],
    }
    found = GEMINI.check(request, profile, get_row(profile, "gemini-3.5-flash"))
    assert found == ("/tools/0/functionDeclarations/0/parameters: patternProperties is not supported at the root",)


@pytest.mark.parametrize("request_", [{}, {"contents": 3}, {"contents": [1, {"parts": [2, {}]}], "tools": [1]}])
def test_any_json_can_be_read(get_profile: Any, get_row: Any, words: Any, request_: Any) -> None:
    profile = get_profile("gemini")
    row = get_row(profile, "gemini-2.5-pro")
    assert GEMINI.count(request_, words, row).tokens >= 0
    GEMINI.read_back(request_)
    GEMINI.segments(request_)
    assert GEMINI.check(request_, profile, row)
