"""The schemas of a tool: T110 (references that lead outside), T111 (over-broad), T112 (not valid).

A structural check, not a validator: what is looked at here is what providers refuse or what opens a door. Nothing is
ever dereferenced.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from ctxc.base.canonical import canonical
from ctxc.base.escaping import visible
from ctxc.base.regex_cost import is_explosive
from ctxc.detect.addresses import is_internal_host
from ctxc.detect.match import Match
from ctxc.detect.tool_definition import MAX_DEPTH, escape, input_schema, name_of, output_schema, problem, unwrap
from ctxc.model.finding import Severity

MAX_NODES = 5_000
MAX_SCHEMA_DEPTH = 32
MAX_SCHEMA_CHARS = 256 * 1024
"""Limits of one schema: nodes, levels, characters of its canonical JSON."""

TYPES = frozenset(("object", "array", "string", "number", "integer", "boolean", "null"))
_ERROR, _WARNING, _INFO = Severity.ERROR, Severity.WARNING, Severity.INFO
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef", "$id", "id")
_META = re.compile(r"https?://json-schema\.org/(?:draft-0[4-7]|draft/20(?:19-09|20-12))/schema#?")
_CHILD_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_CHILDREN = ("items", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else", "prefixItems")
_CHILD_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems", "items")
_SHELL = re.compile(
    r"(?i)\b(?:any|arbitrary|raw) (?:shell |system |bash |terminal |os )?(?:commands?|scripts?)\b"
    r"|\b(?:shell|bash|system|terminal|os|powershell) (?:commands?|scripts?)\b|\bcommand line\b"
)
_COMMAND_NAME = re.compile(r"(?i)(?:cmd|command|shell|script|bash|commandline|command_line)")
_CODE_NAME = re.compile(r"(?i)(?:sql|query|code|expression|statement|javascript|python|eval|function|script)")
_WILD_PATH = re.compile(r"(?:/|[A-Za-z]:\\|~|\*\*?|/\*\*?|\.\.(?:/.*)?)")


def find_in_schemas(tool: Mapping[str, object]) -> Iterator[Match]:
    """The matches in the schemas of one definition."""
    found = input_schema(tool)
    _, prefix = unwrap(tool)
    if found is None:
        yield problem("T112", _WARNING, "the tool has no schema of its arguments", prefix)
    else:
        schema, pointer = found
        yield from _arguments(tool, schema, pointer)
        yield from _checked(schema, pointer)
    result = output_schema(tool)
    if result is not None:
        yield from _checked(*result)


def _checked(schema: object, pointer: str) -> Iterator[Match]:
    """T110 and T112 of one schema."""
    size = len(canonical(schema)) if _depth_is_bounded(schema) else MAX_SCHEMA_CHARS + 1
    if size > MAX_SCHEMA_CHARS:
        yield problem("T112", _ERROR, f"the schema has more than {MAX_SCHEMA_CHARS:,} characters or levels", pointer)
        return
    budget = [MAX_NODES]
    yield from _node(schema, pointer, 0, budget)
    if budget[0] <= 0:
        yield problem("T112", _ERROR, f"the schema has more than {MAX_NODES:,} nodes", pointer)


def _depth_is_bounded(value: object) -> bool:
    level: list[object] = [value]
    for _ in range(MAX_DEPTH * 2):
        level = [
            child
            for node in level
            for child in (
                node.values() if isinstance(node, Mapping) else node if isinstance(node, list | tuple) else ()
            )
        ]
        if not level:
            return True
    return False


def _arguments(tool: Mapping[str, object], schema: object, pointer: str) -> Iterator[Match]:
    """T112: arguments are an object. T111: arguments that say nothing about themselves."""
    if not isinstance(schema, Mapping):
        yield problem("T112", _ERROR, "the schema of the arguments is not an object", pointer)
        return
    kind = schema.get("type")
    composed = any(key in schema for key in ("anyOf", "oneOf", "allOf", "$ref"))
    if isinstance(kind, str) and kind in TYPES and kind != "object":
        yield problem("T112", _ERROR, f"the arguments must be an object, not {kind!r}", f"{pointer}/type")
    elif kind is None and not composed:
        yield problem("T112", _WARNING, 'the schema of the arguments lacks "type": "object"', pointer)
    properties = schema.get("properties")
    extra = schema.get("additionalProperties")
    if not properties and not composed and (extra is True or isinstance(extra, Mapping)):
        yield problem("T111", _ERROR, "the tool takes any arguments: no properties, additionalProperties open", pointer)
    elif extra is True:
        place = f"{pointer}/additionalProperties"
        yield problem("T111", _INFO, "additionalProperties is true: arguments that are not described pass", place)
    if isinstance(properties, Mapping):
        yield from _free_text(tool, properties, f"{pointer}/properties")


def _free_text(tool: Mapping[str, object], properties: Mapping[str, object], pointer: str) -> Iterator[Match]:
    """T111: an argument that is a command, a program or any path."""
    inner, _ = unwrap(tool)
    about = f"{name_of(tool)} {inner.get('title') or ''} {inner.get('description') or ''}"
    for name, schema in properties.items():
        if not isinstance(schema, Mapping) or schema.get("type") != "string":
            continue
        place = f"{pointer}/{escape(name)}"
        bounded = any(key in schema for key in ("enum", "const", "pattern", "format"))
        if not bounded and _COMMAND_NAME.fullmatch(name) and _SHELL.search(about):
            yield problem("T111", _ERROR, f"{name!r} is a free shell command", place)
        elif not bounded and _CODE_NAME.fullmatch(name):
            yield problem("T111", _INFO, f"{name!r} is free code or a free query", place)
        default = schema.get("default")
        if isinstance(default, str) and _WILD_PATH.fullmatch(default) and "path" in name.lower():
            yield problem("T111", _WARNING, f"the default of {name!r} is every path", f"{place}/default")


def _node(schema: object, pointer: str, depth: int, budget: list[int]) -> Iterator[Match]:
    """The matches of one schema and of what is inside it."""
    budget[0] -= 1
    if isinstance(schema, bool) or budget[0] <= 0:
        return
    if not isinstance(schema, Mapping):
        yield problem("T112", _ERROR, "a schema is an object or a boolean", pointer)
        return
    if depth > MAX_SCHEMA_DEPTH:
        yield problem("T112", _ERROR, f"the schema is nested more than {MAX_SCHEMA_DEPTH} levels deep", pointer)
        return
    yield from _references(schema, pointer)
    yield from _keywords(schema, pointer)
    for key in _CHILD_MAPS:
        children = schema.get(key)
        if isinstance(children, Mapping):
            for name, child in children.items():
                yield from _node(child, f"{pointer}/{key}/{escape(str(name))}", depth + 1, budget)
        elif children is not None:
            yield problem("T112", _ERROR, f"{key} is not an object", f"{pointer}/{key}")
    for key in _CHILDREN:
        child = schema.get(key)
        if isinstance(child, Mapping | bool):
            yield from _node(child, f"{pointer}/{key}", depth + 1, budget)
        elif child is not None and not (key in _CHILD_LISTS and isinstance(child, list | tuple)):
            yield problem("T112", _ERROR, f"{key} is not a schema", f"{pointer}/{key}")
    for key in _CHILD_LISTS:
        children = schema.get(key)
        if isinstance(children, list | tuple):
            for index, child in enumerate(children):
                yield from _node(child, f"{pointer}/{key}/{index}", depth + 1, budget)
        elif children is not None and key not in _CHILDREN:
            yield problem("T112", _ERROR, f"{key} is not a list", f"{pointer}/{key}")


def _references(schema: Mapping[str, object], pointer: str) -> Iterator[Match]:
    """T110: an address that another reader might fetch."""
    for key in _REFERENCES:
        address = schema.get(key)
        if not isinstance(address, str) or address.startswith("#") or _META.fullmatch(address):
            continue
        parts = urlsplit(address)
        if not parts.scheme and not address.startswith("//"):
            if key != "id" and ("/" in address or address.endswith(".json")) and key != "$id":
                yield problem(
                    "T110", _WARNING, f"{key} leads to another file: {visible(address, 60)}", f"{pointer}/{key}"
                )
            continue
        if (
            key in ("id", "$id")
            and parts.scheme in ("http", "https", "urn")
            and not is_internal_host(parts.hostname or "")
        ):
            yield problem(
                "T110", _WARNING, f"{key} names an address outside: {visible(address, 60)}", f"{pointer}/{key}"
            )
        else:
            yield problem("T110", _ERROR, f"{key} leads outside: {visible(address, 60)}", f"{pointer}/{key}")


def _keywords(schema: Mapping[str, object], pointer: str) -> Iterator[Match]:
    """T112: keywords that no validator takes, or that can never be met."""
    kinds = schema.get("type")
    for kind in kinds if isinstance(kinds, list | tuple) else [kinds] if kinds is not None else []:
        if not isinstance(kind, str) or kind not in TYPES:
            yield problem("T112", _ERROR, f"unknown type {visible(str(kind), 40)!r}", f"{pointer}/type")
    required = schema.get("required")
    properties = schema.get("properties")
    if required is not None:
        if not isinstance(required, list | tuple) or not all(isinstance(name, str) for name in required):
            yield problem("T112", _ERROR, "required is not a list of names", f"{pointer}/required")
        elif isinstance(properties, Mapping):
            for index, name in enumerate(required):
                if name not in properties:
                    place = f"{pointer}/required/{index}"
                    yield problem("T112", _ERROR, f"required names {visible(name, 40)!r}, which is no property", place)
    choices = schema.get("enum")
    if choices is not None and (not isinstance(choices, list | tuple) or not choices):
        yield problem("T112", _ERROR, "enum is not a list of values", f"{pointer}/enum")
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and is_explosive(pattern):
        yield problem("T112", _ERROR, "pattern can take exponential time", f"{pointer}/pattern")
    for low, high in (("minimum", "maximum"), ("minLength", "maxLength"), ("minItems", "maxItems")):
        least, most = schema.get(low), schema.get(high)
        if isinstance(least, int | float) and isinstance(most, int | float) and least > most:
            yield problem("T112", _ERROR, f"{low} is above {high}", f"{pointer}/{low}")
