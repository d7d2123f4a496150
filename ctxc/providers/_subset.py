"""Each provider's subset of JSON Schema, read from data: which keywords it takes, what it demands, how large it may be.

The data stands in a profile's ``schema_subset``; the defaults here are the published OpenAI strict rules (structured
outputs guide, October 2026), because a renderer has to say ``strict`` before a profile is judged.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from ctxc.providers._read import as_int, as_list, as_map, as_text, compact, escape, texts_of

OPENAI_STRICT: Mapping[str, Any] = {
    "root": "object",
    "all_required": True,
    "closed_objects": True,
    "unsupported": [
        "allOf",
        "oneOf",
        "not",
        "dependentRequired",
        "dependentSchemas",
        "if",
        "then",
        "else",
        "patternProperties",
    ],
    "max_properties": 5000,
    "max_depth": 10,
    "max_enum_values": 1000,
    "max_name_characters": 120_000,
}

_CHILD = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")
_CHILDREN = ("anyOf", "oneOf", "allOf", "prefixItems")
_NAMED = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")
_LONGEST_KEPT = 50_000  # characters of a schema and its subset whose complaints are kept
_DEEPEST = 60  # levels that are walked; a deeper schema is reported as too deep


def fits_openai_strict(schema: Mapping[str, Any]) -> bool:
    """Whether OpenAI would take this schema with ``strict: true``."""
    return not complaints(schema, OPENAI_STRICT)


def nodes(schema: Mapping[str, Any], pointer: str = "", depth: int = 0) -> Iterator[tuple[str, Mapping[str, Any], int]]:
    """Every schema inside a schema with its pointer and its depth in objects (properties count, branches do not)."""
    yield pointer, schema, depth
    if depth > _DEEPEST or pointer.count("/") > _DEEPEST * 4:
        return
    for key in _CHILD:
        if isinstance(schema.get(key), Mapping):
            yield from nodes(schema[key], f"{pointer}/{escape(key)}", depth + 1)
    for key in _CHILDREN:
        for index, child in enumerate(as_list(schema.get(key))):
            if isinstance(child, Mapping):
                yield from nodes(child, f"{pointer}/{key}/{index}", depth)
    for key in _NAMED:
        for name, child in as_map(schema.get(key)).items():
            if isinstance(child, Mapping):
                step = 1 if key in ("properties", "patternProperties") else 0
                yield from nodes(child, f"{pointer}/{escape(key)}/{escape(str(name))}", depth + step)


def complaints(schema: Mapping[str, Any], subset: Mapping[str, Any]) -> tuple[str, ...]:
    """What a subset refuses in a schema, each with the pointer inside the schema."""
    text, rules = compact(schema), compact(subset)
    if len(text) + len(rules) > _LONGEST_KEPT:
        return tuple(_complaints(schema, subset))
    return _known(text, rules)


@lru_cache(maxsize=256)
def _known(schema: str, subset: str) -> tuple[str, ...]:
    """The complaints by content: a project has few schemas and sends them with every request."""
    return tuple(_complaints(json.loads(schema), json.loads(subset)))


def _complaints(schema: Mapping[str, Any], subset: Mapping[str, Any]) -> Iterator[str]:
    if as_text(subset.get("root")) == "object" and schema.get("type") != "object":
        yield "the root has to be an object"
    if as_text(subset.get("root")) == "object" and "anyOf" in schema:
        yield "the root may not be anyOf"
    unsupported = frozenset(texts_of(subset.get("unsupported")))
    supported = frozenset(texts_of(subset.get("supported")))
    names = enums = optional = unions = characters = deepest = 0
    for pointer, node, depth in nodes(schema):
        deepest = max(deepest, depth)
        at = pointer or "the root"
        for key in node:
            if key in unsupported or (supported and key not in supported and not key.startswith("x-")):
                yield f"{key} is not supported at {at}"
        properties = as_map(node.get("properties"))
        required = frozenset(texts_of(node.get("required")))
        names += len(properties)
        optional += len(properties) - len(required & properties.keys())
        unions += 1 if "anyOf" in node or isinstance(node.get("type"), (list, tuple)) else 0
        enum = as_list(node.get("enum"))
        enums += len(enum)
        characters += sum(len(str(n)) for n in properties) + sum(len(str(v)) for v in enum)
        is_object = node.get("type") == "object" or "properties" in node
        if is_object and subset.get("closed_objects") is True and node.get("additionalProperties") is not False:
            yield f"additionalProperties has to be false at {at}"
        if is_object and subset.get("all_required") is True and properties.keys() - required:
            yield f"every property has to be required at {at}: {', '.join(sorted(properties.keys() - required))}"
        for key, most in as_map(subset.get("most")).items():
            if isinstance(node.get(key), int) and node[key] > as_int(most):
                yield f"{key} may be at most {as_int(most):,} at {at}"
        formats = texts_of(subset.get("formats"))
        if formats and isinstance(node.get("format"), str) and node["format"] not in formats:
            yield f"format {node['format']!r} is not supported at {at}"
        if subset.get("recursion") is False and _recursive(node, schema):
            yield f"a schema that refers to itself is not supported at {at}"
    for limit, found, what in (
        ("max_properties", names, "properties"),
        ("max_depth", deepest, "levels of nesting"),
        ("max_enum_values", enums, "enum values"),
        ("max_name_characters", characters, "characters of names and enum values"),
        ("max_optional", optional, "optional properties"),
        ("max_unions", unions, "union-typed properties"),
    ):
        most = as_int(subset.get(limit), -1)
        if most >= 0 and found > most:
            yield f"{found:,} {what}, at most {most:,}"


def _recursive(node: Mapping[str, Any], root: Mapping[str, Any]) -> bool:
    ref = node.get("$ref")
    if not isinstance(ref, str):
        return False
    if ref == "#":
        return True
    seen: set[str] = set()
    waiting = [ref]
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        target = _resolve(current, root)
        for _, child, _ in nodes(target) if target is not None else ():
            inner = child.get("$ref")
            if inner in (ref, "#"):
                return True
            if isinstance(inner, str):
                waiting.append(inner)
    return False


def _resolve(ref: str, root: Mapping[str, Any]) -> Mapping[str, Any] | None:
    if not ref.startswith("#/"):
        return None
    value: object = root
    for token in ref[2:].split("/"):
        value = as_map(value).get(token.replace("~1", "/").replace("~0", "~"))
    return value if isinstance(value, Mapping) else None
