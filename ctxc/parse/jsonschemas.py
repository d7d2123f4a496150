"""JSON Schemas that users write: output contracts and tool inputs. A reference outside the schema is never fetched.

``quick_problems`` needs no import and runs whenever a file is loaded; ``check_schema`` asks the ``jsonschema`` package,
which costs about 110 ms to import (measured November 2026). No value is ever judged by a user's schema: its patterns
may take longer than anybody waits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from ctxc.parse.nodes import escape, tokens
from ctxc.parse.problems import Problem, nearest, shown
from ctxc.parse.validate import Validator

_SCHEMA = {"$ref": "#/$defs/schema"}
_SCHEMAS = {"type": "array", "items": _SCHEMA, "minItems": 1}
_NAMED = {"type": "object", "additionalProperties": _SCHEMA}
_COUNT = {"type": "integer", "minimum": 0}
_TEXT = {"type": "string"}
_NUMBER = {"type": "number"}
_TYPES = ["array", "boolean", "integer", "null", "number", "object", "string"]
_NAMES = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}


def _all(form: Any, keywords: str) -> dict[str, Any]:
    """The same form for several keywords."""
    return dict.fromkeys(keywords.split(), form)


# The keywords of 2020-12 and draft-07, whose forms `jsonschema` would check against the meta-schema.
_META: dict[str, Any] = {
    "$ref": "#/$defs/schema",
    "$defs": {
        "schema": {
            "anyOf": [
                {"type": "boolean"},
                {
                    "type": "object",
                    "properties": {
                        **_all(_TEXT, "$schema $id $ref $anchor $comment title description"),
                        **_all(_TEXT, "pattern format contentMediaType contentEncoding"),
                        **_all({"type": "boolean"}, "deprecated readOnly writeOnly uniqueItems"),
                        **_all(_NAMED, "$defs definitions properties patternProperties dependentSchemas"),
                        **_all(_SCHEMA, "additionalProperties propertyNames contains not if then else"),
                        **_all(_SCHEMA, "unevaluatedItems unevaluatedProperties additionalItems contentSchema"),
                        "items": {"anyOf": [_SCHEMA, _SCHEMAS]},
                        **_all(_SCHEMAS, "prefixItems allOf anyOf oneOf"),
                        **_all(_NUMBER, "minimum maximum exclusiveMinimum exclusiveMaximum"),
                        "multipleOf": {"type": "number", "exclusiveMinimum": 0},
                        **_all(_COUNT, "minLength maxLength minItems maxItems minProperties maxProperties"),
                        **_all(_COUNT, "minContains maxContains"),
                        "required": _NAMES,
                        "dependentRequired": {"type": "object", "additionalProperties": _NAMES},
                        "type": {
                            "anyOf": [
                                {"enum": _TYPES},
                                {"type": "array", "items": {"enum": _TYPES}, "minItems": 1, "uniqueItems": True},
                            ]
                        },
                        "enum": {"type": "array"},
                        "examples": {"type": "array"},
                    },
                },
            ]
        }
    },
}


@lru_cache(maxsize=1)
def _meta() -> Validator:
    return Validator(_META)


def quick_problems(schema: Any, pointer: str = "") -> list[Problem]:
    """What is wrong with a schema's form, at pointers below ``pointer``; references are followed inside it only."""
    found: list[Problem] = []
    _meta().check(schema, found)
    problems = [
        Problem("invalid-json-schema", f"not a valid JSON Schema: {p.message}", p.help, pointer=pointer + p.pointer)
        for p in found
    ]
    problems.extend(p._replace(pointer=pointer + p.pointer) for p in _references(schema, schema, ""))
    return problems


def _references(value: Any, root: Any, at: str) -> Iterator[Problem]:
    if isinstance(value, Mapping):
        target = value.get("$ref")
        if isinstance(target, str):
            fault = _fault_of_reference(target, root)
            if fault:
                yield Problem(
                    "invalid-json-schema", f"the $ref {shown(target)} {fault}",
                    "define it under `$defs` and write `#/$defs/NAME`", pointer=f"{at}/$ref",
                )  # fmt: skip
        for key, inner in value.items():
            if key not in ("const", "default", "enum", "examples"):
                yield from _references(inner, root, f"{at}/{escape(key)}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _references(inner, root, f"{at}/{number}")


def _fault_of_reference(target: str, root: Any) -> str:
    if not target.startswith("#"):
        return "points outside this schema; nothing is ever fetched"
    if not target.startswith("#/"):
        return "" if target == "#" or _anchored(root, target[1:]) else "names an anchor that is not there"
    from urllib.parse import unquote

    here = root
    for token in tokens(unquote(target[1:])):
        if isinstance(here, Mapping) and token in here:
            here = here[token]
        elif isinstance(here, list) and token.isdigit() and int(token) < len(here):
            here = here[int(token)]
        else:
            near = nearest(token, here) if isinstance(here, Mapping) else ""
            return f"points at nothing{f'; did you mean {near}?' if near else ''}"
    return ""


def _anchored(value: Any, name: str) -> bool:
    if isinstance(value, Mapping):
        if name in (value.get("$anchor"), value.get("$dynamicAnchor")):
            return True
        return any(_anchored(v, name) for v in value.values())
    return isinstance(value, list) and any(_anchored(v, name) for v in value)


def check_schema(schema: Any, pointer: str = "") -> list[Problem]:
    """What ``jsonschema`` finds wrong with a schema, and references that lead outside it; worst place first."""
    from jsonschema.exceptions import best_match
    from jsonschema.validators import validator_for

    found = [p for p in quick_problems(schema, pointer) if p.pointer.endswith("/$ref")]
    cls = _class_for(schema, validator_for)
    meta = cls(cls.META_SCHEMA, registry=_metaschemas())
    errors = sorted(meta.iter_errors(schema), key=lambda e: [str(p) for p in e.absolute_path])
    for error in errors:
        best = best_match([error]) or error
        at = "".join("/" + escape(str(p)) for p in best.absolute_path)
        found.append(
            Problem(
                "invalid-json-schema", f"not a valid JSON Schema: {best.message[:300]}",
                "see json-schema.org for the forms of this keyword", pointer=pointer + at,
            )
        )  # fmt: skip
    return found


def _class_for(schema: Any, validator_for: Any) -> Any:
    from jsonschema import Draft202012Validator

    if isinstance(schema, Mapping) and isinstance(schema.get("$schema"), str):
        return validator_for(schema, default=Draft202012Validator)
    return Draft202012Validator


def _metaschemas() -> Any:
    """The published meta-schemas, which ship with ``jsonschema``; nothing else can be reached."""
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]

    return REGISTRY
