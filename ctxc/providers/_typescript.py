"""Function definitions as the TypeScript namespace in which OpenAI's models are documented to read them.

The layout is the one whose token counts agree with recorded usage: with the constants of a profile's framing, the
public cookbook's rows for tools come out exactly.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ctxc.providers._read import as_list, as_map, as_text

_DEEPEST = 24  # levels of a schema that are drawn; what is deeper reads as ``any``
_DESCRIBED = 2  # descriptions are drawn at an indent below this only

HEAD = "namespace functions {"
TAIL = "} // namespace functions"


def namespace(declarations: Sequence[str]) -> str:
    """The whole namespace around declarations of functions."""
    lines = [HEAD, ""]
    for declaration in declarations:
        lines += [declaration, ""]
    return "\n".join([*lines, TAIL])


def declaration(name: str, description: str, parameters: Mapping[str, Any]) -> str:
    """One function as a type declaration with its description as a comment."""
    lines = [f"// {description}"] if description else []
    if as_map(parameters.get("properties")):
        lines += [f"type {name} = (_: {{", _properties(parameters, 0, 0), "}) => any;"]
    else:
        lines.append(f"type {name} = () => any;")
    return "\n".join(lines)


def _properties(schema: Mapping[str, Any], indent: int, depth: int) -> str:
    required = {v for v in as_list(schema.get("required")) if isinstance(v, str)}
    lines: list[str] = []
    for name, value in as_map(schema.get("properties")).items():
        prop = as_map(value)
        described = as_text(prop.get("description"))
        if described and indent < _DESCRIBED:
            lines.append(f"// {described}")
        mark = "" if name in required else "?"
        lines.append(f"{name}{mark}: {_type(prop, indent, depth + 1)},")
    return "\n".join(" " * indent + line for line in lines)


def _type(schema: Mapping[str, Any], indent: int, depth: int) -> str:
    if depth > _DEEPEST:
        return "any"
    if isinstance(schema.get("enum"), (list, tuple)):
        return " | ".join(json.dumps(v, ensure_ascii=False, default=str) for v in schema["enum"])
    for key in ("anyOf", "oneOf"):
        branches = [as_map(b) for b in as_list(schema.get(key))]
        if branches:
            return " | ".join(_type(b, indent, depth + 1) for b in branches)
    kind = schema.get("type")
    if isinstance(kind, (list, tuple)):
        return " | ".join(_type({**schema, "type": k}, indent, depth + 1) for k in kind)
    match kind:
        case "string" | "boolean" | "null":
            return str(kind)
        case "number" | "integer":
            return "number"
        case "array":
            items = as_map(schema.get("items"))
            return (_type(items, indent, depth + 1) if items else "any") + "[]"
        case "object":
            if not as_map(schema.get("properties")):
                return "object"
            return "{\n" + _properties(schema, indent + 2, depth + 1) + "\n}"
        case _:
            return "any"
