"""Schemas that users write: checked without the network, by our own look and by the reference package."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ctxc.parse.jsonschemas import check_schema, quick_problems

BAD: list[tuple[Any, str]] = [
    ({"type": "objekt"}, "/type"),
    ({"type": []}, "/type"),
    ({"properties": {"a": 5}}, "/properties/a"),
    ({"properties": []}, "/properties"),
    ({"required": "a"}, "/required"),
    ({"required": ["a", "a"]}, "/required/1"),
    ({"minLength": -1}, "/minLength"),
    ({"minimum": "1"}, "/minimum"),
    ({"multipleOf": 0}, "/multipleOf"),
    ({"enum": "a"}, "/enum"),
    ({"anyOf": []}, "/anyOf"),
    ({"items": 5}, "/items"),
    ({"allOf": [{"not": [1]}]}, "/allOf/0/not"),
    ({"$defs": {"a": {"pattern": 5}}}, "/$defs/a/pattern"),
    ({"additionalProperties": "no"}, "/additionalProperties"),
]
GOOD: list[Any] = [
    True,
    {},
    {"type": ["string", "null"], "const": None, "default": {"type": "anything"}, "examples": [{"$ref": "x"}]},
    {"$defs": {"n": {"type": "object", "properties": {"next": {"$ref": "#/$defs/n"}}}}, "$ref": "#/$defs/n"},
    {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}], "definitions": {"a": True}},
    {"properties": {"$ref": {"type": "string"}, "type": {"enum": ["a"]}}, "x-own": 5},
    {"$anchor": "top", "items": {"$ref": "#top"}, "prefixItems": [{"$ref": "#/items"}]},
]


@pytest.mark.parametrize(("schema", "at"), BAD)
def test_bad_schemas_are_found_by_both(schema: Any, at: str) -> None:
    quick = quick_problems(schema, "/schema")
    assert [p.name for p in quick] == ["invalid-json-schema"]
    assert quick[0].pointer == "/schema" + at
    assert check_schema(schema)


@pytest.mark.parametrize("schema", GOOD)
def test_good_schemas_are_good_for_both(schema: Any) -> None:
    assert quick_problems(schema) == []
    assert check_schema(schema) == []


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("https://example.com/x.json", "points outside this schema"),
        ("file:///etc/passwd", "points outside this schema"),
        ("other.json#/a", "points outside this schema"),
        ("#/$defs/nme", "points at nothing; did you mean name?"),
        ("#/items/3", "points at nothing"),
        ("#nowhere", "names an anchor that is not there"),
    ],
)
def test_references_stay_inside(target: str, said: str) -> None:
    schema = {"$defs": {"name": {}}, "properties": {"a": {"$ref": target}}}
    (problem,) = quick_problems(schema)
    assert problem.pointer == "/properties/a/$ref"
    assert said in problem.message
    assert [p.message for p in check_schema(schema)] == [problem.message]


def test_schemas_of_real_tools_are_good(shared: Path) -> None:
    count = 0
    for path in sorted((shared / "security" / "mcp_samples").glob("*.json")):
        answer = json.loads(path.read_text(encoding="utf-8"))
        tools = answer.get("tools") or answer.get("result", {}).get("tools", []) if isinstance(answer, dict) else answer
        for tool in tools:
            schema = tool.get("inputSchema", {})
            assert quick_problems(schema) == [], (path.name, tool["name"])
            count += 1
    assert count == 289
