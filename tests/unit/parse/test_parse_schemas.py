"""The committed schemas: valid, closed where the keys are ours, and the same verdict as the reference validator."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry

from ctxc.parse.json_text import parse_json
from ctxc.parse.problems import Problem
from ctxc.parse.schemas import digest, kinds, schema, schema_text
from ctxc.parse.validate import Validator

OPEN = {
    ("fixture", "inputs"), ("fixture", "record"), ("fixture", "message"), ("conversation", "inputs"),
    ("conversation", "record"), ("conversation", "message"), ("toolset", "tool"), ("policy", "ceiling"),
}  # fmt: skip
"""Mappings whose further keys belong to others: records, messages, tools, and parameters that the gates judge."""

GOOD: dict[str, Any] = {
    "template": {
        "template_id": "t", "version": 12, "renderer": "chat_messages_v3", "extends": "base@2", "route": ["a"],
        "variables": {"n": 1}, "checkpoints": ["a"], "focus": ["goal"],
        "budget": {"window": 64000, "output_reserve": 1, "safety_margin": "5%", "ceiling": 9,
                   "buckets": {"evidence": {"min": 1, "soft": 2, "max": 3, "borrow": True}}},
        "deterministic": [{"when": {"x": "y"}, "reply": "No."}],
        "sections": [{"id": "a", "kind": "evidence", "source": "retrieval", "authority": "T4", "tier": "P3",
                      "zone": "data", "priority": 100, "min_tokens": 0, "max_tokens": 5, "overflow": "cut:json",
                      "select": {"min_score": 0.5, "top": 3, "dedupe": False}, "order": "edges",
                      "when": {"k": ["v", 1, True]}, "required": False, "cacheable": True}],
        "ctxc_ignore": ["CTX201", {"rule": "CTX202", "until": "2027-01-01", "reason": "x"}],
    },
    "fragment": [{"fragment_id": "a.b", "version": "v1", "path": "a.md", "kind": "core", "load_mode": "route_match",
                  "applies_when": {"p": ["m"], "files": "*.py"}, "requires": ["x"], "conflicts_with": [],
                  "priority": 3, "max_tokens": 4, "summary": "s", "deprecated": True, "source_range": "r",
                  "operations": ["read"]}],
    "contract": {"contract_id": "c", "version": 5, "schema": {"type": "object"},
                 "refusal": {"field": "a", "text": "no"}, "citations": {"field": "c", "must_exist": True}},
    "toolset": {"toolset_id": "t", "namespace": "n", "order": "given", "description": "d",
                "tools": [{"name": "f", "description": "d", "input_schema": {"type": "object"}, "annotations": {}}]},
    "profile": {"profile_id": "p", "version": "v1", "toolset": "t@2", "output_contract": "c", "static": ["policy"]},
    "policy": {"policy_id": "p", "version": 3,
               "gates": {"budget": {"ceilings": [{"where": {"template": "t"}, "max_input_tokens": 3}],
                                    "growth": {"max_percent": 5}},
                         "forbidden": [{"id": "F", "forbid": {"detect": ["pii.email"]}, "severity": "error",
                                        "where": {"zone": ["system"]}}],
                         "prefix": {"stable_over": "request_profile"}},
               "rules": {"CTX201": "off", "CTX202": {"severity": "warning", "limit": 3}},
               "waivers": [{"rule": "F", "path": "a.md", "owner": "o", "reason": "r", "created": "2026-10-01",
                            "expires": "2026-12-31"}]},
    "provider": {"provider_id": "p", "version": "1.0.0", "shape": "text", "platform": "x", "as_of": "2026-11-30",
                 "models": [{"pattern": "*", "window": 10, "max_output": None, "output_in_window": False,
                             "tokenizer": {"id": "o200k_base", "method": "exact", "error_high_bp": 3},
                             "framing": {"per_message": 3, "tools": {"per_tool": -1, "low": 2}, "contract": {"base": 2},
                                         "estimate": {"digit_bp": -5}, "by_tokenizer": {"x": {"slack": 1}}},
                             "images": {"formula": "patches", "budgets": {"low": 256}},
                             "prices": {"input": "2", "output": 8.5, "cache_write": {"5m": 3},
                                        "above": [{"input_tokens": 200000, "input": 4}]},
                             "latency": {"base_ms": 300}, "cache": {"mode": "none"}, "capabilities": ["tools"]}],
                 "limits": {"tool_name": {"max": 64, "first": "letter"}, "max_tools": 128},
                 "schema_subset": {"root": "object", "recursion": False, "unsupported": ["allOf"], "most": {"minItems": 1}}},
    "fixture": {"fixture_id": "f", "template": "t", "now": "2026-10-31T10:00:00Z", "route": {"a": ["b"], "c": "d"},
                "principal": {"tenant": "t", "permissions": ["r"]}, "sensitive": ["inputs.state.x"], "weight": 2,
                "labels": {"x": [1]},
                "inputs": {"user": "u", "state": {"a": [1, None]},
                           "history": [{"role": "user", "content": "x"},
                                       {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}],
                           "evidence": [{"id": 3, "score": 0.5, "permissions": "r", "valid_until": None}, "plain"],
                           "memory": {"file": "m.jsonl", "pointer": "/items"}, "handoff": {"handoff_id": "h"},
                           "fragments": ["a.b"]},
                "expect": {"outcome": "invalid", "max_input_tokens": 3, "loaded": ["a"]}},
    "conversation": {"conversation_id": "c", "template": "t",
                     "turns": [{"inputs": {"user": "u"}, "reply": "r"}, {"fixture_id": "x", "reply": [{"role": "user"}]}]},
    "config": {"templates": "prompts", "fragments": ["a", "b"], "provider": "openai", "model": "m",
               "per-file-ignores": {"*.md": ["CTX201"]}, "fail-on": "error", "rules": {"CTX201": "off"}},
}  # fmt: skip


def verdict(kind: str, document: Any) -> bool:
    """Ours, on the document as JSON text: whether nothing is an error."""
    found: list[Problem] = []
    parsed = parse_json(json.dumps(document))
    assert parsed.problems == ()
    Validator(schema(kind)).check(parsed.value, found)
    return not any(p.is_error for p in found)


def reference(kind: str, document: Any) -> bool:
    """That of the jsonschema package."""
    return bool(Draft202012Validator(schema(kind), registry=Registry()).is_valid(document))


@pytest.mark.parametrize("kind", kinds())
def test_a_schema_is_valid_and_has_title_and_description(kind: str) -> None:
    own = schema(kind)
    Draft202012Validator.check_schema(own)
    assert own["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert own["$id"] == f"ctxc.{kind}/1"
    assert own["title"]
    assert own["description"]
    assert json.loads(schema_text(kind)) == own


def mappings(value: Any, name: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(value, dict):
        if value.get("type") == "object" and "properties" in value:
            yield name, value
        for key, inner in value.items():
            yield from mappings(inner, key if name in ("", "$defs") else name)
    elif isinstance(value, list):
        for inner in value:
            yield from mappings(inner, name)


@pytest.mark.parametrize("kind", kinds())
def test_mappings_are_closed_where_the_keys_are_ours(kind: str) -> None:
    root = schema(kind)
    for name, definition in root["$defs"].items():
        for _, mapping in mappings(definition):
            closed = mapping.get("additionalProperties") is False
            assert closed or (kind, name) in OPEN or kind == "policy", (kind, name)
    if root.get("type") == "object":
        assert root["additionalProperties"] is False


@pytest.mark.parametrize("kind", kinds())
def test_every_property_has_a_description(kind: str) -> None:
    root = schema(kind)
    definitions = root["$defs"]
    for name, mapping in mappings({k: v for k, v in root.items() if k != "$defs"} | {"$defs": definitions}):
        for key, inner in mapping["properties"].items():
            target = definitions[inner["$ref"][8:]] if "$ref" in inner else inner
            assert inner.get("description") or target.get("description") or name in ("record", "message"), (
                kind,
                name,
                key,
            )


def test_definitions_of_the_same_name_are_the_same() -> None:
    seen: dict[str, tuple[str, Any]] = {}
    for kind in kinds():
        for name, definition in schema(kind)["$defs"].items():
            first, known = seen.setdefault(name, (kind, definition))
            assert known == definition, (first, kind, name)


def test_the_digest_covers_every_schema() -> None:
    assert len(digest()) == 64
    assert len(kinds()) == 10


@pytest.mark.parametrize("kind", kinds())
def test_good_documents_are_good(kind: str) -> None:
    assert reference(kind, GOOD[kind])
    assert verdict(kind, GOOD[kind])


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in inner:
        yield from places(child, (*path, key))


def replaced(document: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    result = copy.deepcopy(document)
    here = result
    for key in path[:-1]:
        here = here[key]
    here[path[-1]] = new
    return result


REPLACEMENTS = (
    None,
    True,
    0,
    -1,
    7,
    1.5,
    2.0,
    "",
    "x",
    "a b",
    "P3",
    "cut:json",
    [],
    ["x"],
    [1],
    {},
    {"x": 1},
    {"id": "x"},
)


def test_verdicts_equal_those_of_the_reference_validator() -> None:
    """Each value of each good document replaced by each of many others; each key removed; a key added everywhere."""
    count = refused = 0
    for kind in kinds():
        check = Validator(schema(kind)).check
        judge = Draft202012Validator(schema(kind), registry=Registry()).is_valid
        for path in places(GOOD[kind]):
            mutants = [replaced(GOOD[kind], path, new) for new in REPLACEMENTS]
            here = GOOD[kind]
            for key in path:
                here = here[key]
            if isinstance(here, dict):
                mutants.append(replaced(GOOD[kind], path, {**here, "unheard_of": 1}))
                mutants.extend(
                    replaced(GOOD[kind], path, {k: v for k, v in here.items() if k != gone}) for gone in here
                )
            elif isinstance(here, list) and here:
                mutants.append(replaced(GOOD[kind], path, [*here, here[0]]))
            for mutant in mutants:
                found: list[Problem] = []
                check(parse_json(json.dumps(mutant)).value, found)
                ours = not any(p.is_error for p in found)
                assert ours == judge(mutant), (kind, path, mutant, [p.message for p in found])
                count += 1
                refused += not ours
    assert count > 4_500
    assert refused > 2_000


def test_unknown_keys_are_named_with_what_was_meant() -> None:
    found: list[Problem] = []
    document = {"template_id": "t", "secions": [], "sections": [{"id": "a", "max_token": 3, "Source": "x"}]}
    Validator(schema("template")).check(document, found)
    assert [(p.name, p.pointer, p.on_key, p.message) for p in found] == [
        ("unknown-key", "/secions", True, 'unknown key "secions"'),
        ("unknown-key", "/sections/0/max_token", True, 'unknown key "max_token"; did you mean "max_tokens"?'),
        ("unknown-key", "/sections/0/Source", True, 'unknown key "Source"; did you mean "source"?'),
    ]


def test_enumerations_suggest_and_list() -> None:
    found: list[Problem] = []
    Validator(schema("template")).check({"template_id": "t", "sections": [{"id": "a", "overflow": "cut:tial"}]}, found)
    assert found[0].name == "bad-value"
    assert 'did you mean "cut:tail"?' in found[0].message
    assert "refuse, drop, reference, cut:tail" in found[0].help


def test_a_branch_is_chosen_by_what_the_value_is() -> None:
    found: list[Problem] = []
    Validator(schema("fixture")).check({"fixture_id": "f", "template": "t", "inputs": {"history": "x"}}, found)
    assert [(p.pointer, p.message) for p in found] == [
        ("/inputs/history", 'expected a list or a mapping, found the text "x"')
    ]
