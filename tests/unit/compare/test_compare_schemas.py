"""Whether a change of a JSON Schema breaks somebody, and why."""

from __future__ import annotations

from typing import Any

import pytest

from ctxc.compare.schemas import is_text_only, schema_changes


def props(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


STRING = {"type": "string"}

CASES: list[tuple[Any, Any, str, list[tuple[str, bool, str]]]] = [
    (props(x=STRING), {**props(x=STRING, r={"type": "number"}), "required": ["r"]}, "input",
     [("/required", True, 'required field "r" added')]),
    (props(x=STRING), {**props(x=STRING), "required": ["x"]}, "input", [("/required", True, 'field "x" is now required')]),
    ({**props(x=STRING), "required": ["x"]}, props(x=STRING), "input",
     [("/required", False, 'field "x" is no longer required')]),
    ({**props(x=STRING), "required": ["x"]}, props(x=STRING), "output",
     [("/required", True, 'field "x" is no longer required; readers may miss it')]),
    (props(x=STRING), props(x=STRING, y=STRING), "input", [("/properties/y", False, 'optional field "y" added')]),
    (props(x=STRING, y=STRING), props(x=STRING), "input",
     [("/properties/y", True, 'field "y" removed: calls that pass it break')]),
    (props(x=STRING), props(x={"type": "integer"}), "input",
     [("/properties/x/type", True, "type changed: string → integer")]),
    (props(x={"type": "number"}), props(x={"type": "integer"}), "input",
     [("/properties/x/type", True, "type narrowed: number → integer")]),
    (props(x=STRING), props(x={"type": ["string", "null"]}), "input",
     [("/properties/x/type", False, 'type widened: string → ["string", "null"]')]),
    (props(x=STRING), props(x={"type": ["string", "null"]}), "output",
     [("/properties/x/type", True,
       'type widened: string → ["string", "null"]; readers meet a type that they do not know')]),
    ({"enum": ["a", "b"]}, {"enum": ["b"]}, "input", [("/enum", True, 'enum narrowed: "a" is gone')]),
    ({"enum": ["a"]}, {"enum": ["a", "b"]}, "input", [("/enum", False, 'enum widened: "b" is new')]),
    ({"enum": ["a"]}, {"enum": ["a", "b"]}, "output",
     [("/enum", True, 'enum widened: "b" is new; readers meet a value that they do not know')]),
    ({"enum": ["a", "b"]}, {"enum": ["b", "a"]}, "input", []),
    ({"const": 1}, {"const": 2}, "output", [("/const", True, "enum narrowed: 1 is gone; 2 is new")]),
    (props(x={**STRING, "description": "a"}), props(x={**STRING, "description": "b"}), "input",
     [("/properties/x/description", False, "description only")]),
    ({"minimum": 1}, {"minimum": 2}, "input", [("/minimum", True, "minimum tightened: 1 → 2")]),
    ({"maxLength": 9}, {"maxLength": 99}, "input", [("/maxLength", False, "maxLength loosened: 9 → 99")]),
    ({}, {"maxItems": 3}, "input", [("/maxItems", True, "maxItems tightened: – → 3")]),
    ({"type": "object"}, {"type": "object", "additionalProperties": False}, "input",
     [("/additionalProperties", True, "unknown fields are refused")]),
    ({"additionalProperties": False}, {}, "output",
     [("/additionalProperties", False, "unknown fields are no longer refused")]),
    ({"pattern": "a"}, {"pattern": "b"}, "input", [("/pattern", True, "pattern changed")]),
    ({"pattern": "a"}, {}, "input", [("/pattern", False, "pattern removed")]),
    ({"items": {"type": "string"}}, {"items": {"type": "integer"}}, "input",
     [("/items/type", True, "type changed: string → integer")]),
    ({"anyOf": [{"type": "string"}, {"type": "null"}]}, {"anyOf": [{"type": "string"}]}, "input",
     [("/anyOf", True, "anyOf: a branch was removed")]),
    ({"anyOf": [{"type": "string"}]}, {"anyOf": [{"type": "string"}, {"type": "null"}]}, "output",
     [("/anyOf", True, "anyOf: a branch was added")]),
    ({"$defs": {"p": {"type": "string"}}}, {"$defs": {"p": {"type": "integer"}}}, "input",
     [("/$defs/p/type", True, "type changed: string → integer")]),
    (True, {"type": "string"}, "input", [("", True, "constrained where anything was allowed")]),
    ({"x-note": {"a": 1}}, {"x-note": {"a": 2}}, "input",
     [("/x-note/a", False, "x-note: changed; not a keyword of JSON Schema")]),
    ({"format": "date"}, {"format": "uri"}, "input", [("/format", False, "format changed; it constrains nothing")]),
    ({"properties": {"a/b~c": STRING}}, {"properties": {"a/b~c": {"type": "null"}}}, "input",
     [("/properties/a~1b~0c/type", True, "type changed: string → null")]),
    ({"uniqueItems": False}, {"uniqueItems": True}, "input", [("/uniqueItems", True, "uniqueItems demanded")]),
]  # fmt: skip


@pytest.mark.parametrize(("base", "head", "role", "expected"), CASES)
def test_changes_with_their_reasons(base: Any, head: Any, role: Any, expected: list[tuple[str, bool, str]]) -> None:
    assert [(c.pointer, c.breaking, c.reason) for c in schema_changes(base, head, role)] == expected


@pytest.mark.parametrize(("base", "head", "role", "expected"), CASES)
def test_nothing_differs_from_itself(base: Any, head: Any, role: Any, expected: Any) -> None:
    assert schema_changes(base, base, role) == () == schema_changes(head, head, role)


def test_key_order_is_no_change() -> None:
    assert schema_changes({"type": "object", "required": ["a"]}, {"required": ["a"], "type": "object"}, "input") == ()


def test_text_only() -> None:
    old = props(x={**STRING, "description": "a", "title": "t"})
    new = props(x={**STRING, "description": "b", "title": "u"})
    assert is_text_only(schema_changes(old, new, "input"))
    assert not is_text_only(())
