"""Write ctxc/report/schemas/diff.schema.json from the dataclasses of ctxc.model.change; a test finds drift.

python tools/build_diff_schema.py [--check]
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

from ctxc.model import change, facets

TARGET = Path(__file__).parents[1] / "ctxc" / "report" / "schemas" / "diff.schema.json"

SCALARS = {"str": "string", "int": "integer", "bool": "boolean", "float": "number"}
ENUMS: dict[tuple[str, str], list[str]] = {
    ("FixtureChange", "status"): list(facets.STATUSES),
    ("SectionChange", "status"): list(facets.STATUSES),
    ("Block", "status"): list(facets.STATUSES),
    ("FixtureChange", "proof"): ["record", "compiled"],
    ("Revision", "kind"): ["commit", "index", "worktree", "snapshot", "project"],
    ("SourceChange", "status"): ["added", "removed", "modified", "renamed"],
    ("VersionChange", "status"): ["added", "removed", "changed", "moved", "unchanged"],
    ("VersionChange", "needed"): list(facets.BUMPS),
    ("VersionChange", "bump"): [*facets.BUMPS, "down", "other"],
    ("ToolChange", "status"): ["added", "removed", "changed", "moved", "reserialized", "unseen"],
    ("Drop", "status"): ["dropped", "restored", "gone", "other_reason"],
    ("Hunk", "kind"): ["edit", "added", "removed", "moved", "value"],
    ("Run", "op"): ["=", "-", "+", "~"],
    ("FieldChange", "facet"): list(facets.FACETS),
}
FACETS = {"type": "array", "items": {"enum": list(facets.FACETS)}, "uniqueItems": True}


def of(annotation: str) -> dict[str, Any]:
    """The schema of an annotation, as the dataclasses write them."""
    if annotation.endswith(" | None"):
        return {"anyOf": [of(annotation.removesuffix(" | None")), {"type": "null"}]}
    many = re.fullmatch(r"tuple\[(.+), \.\.\.\]", annotation)
    if many is not None:
        return {"type": "array", "items": of(many[1])}
    if annotation in SCALARS:
        return {"type": SCALARS[annotation]}
    return {"$ref": f"#/$defs/{annotation}"}


def definition(kind: type) -> dict[str, Any]:
    """A dataclass as an object with all its keys."""
    properties: dict[str, Any] = {}
    for field in fields(kind):
        if field.name == "facets":
            properties[field.name] = FACETS
        elif (kind.__name__, field.name) in ENUMS:
            properties[field.name] = {"enum": ENUMS[kind.__name__, field.name]}
        else:
            properties[field.name] = of(str(field.type))
    description = " ".join((kind.__doc__ or "").split())
    return {"type": "object", "description": description, "required": sorted(properties), "properties": properties}


def sides(schema: dict[str, Any], *more: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    """An object with a value for base and one for head."""
    properties = {"base": schema, "head": schema, **dict(more)}
    return {"type": "object", "required": sorted(properties), "properties": properties}


def schema() -> dict[str, Any]:
    """The whole schema."""
    names = ("Revision", "Run", "Hunk", "FieldChange", "SectionChange", "Drop", "FirstDifference", "Prefix",
             "SchemaChange", "ToolChange", "ToolsChange", "ContractChange", "BudgetChange", "Block", "FixtureChange",
             "SourceChange", "VersionChange", "Percentiles", "Totals")  # fmt: skip
    defs = {name: definition(getattr(change, name)) for name in names}
    maybe, number = {"type": ["integer", "null"]}, {"type": "integer"}
    comparable = ("comparable", {"type": "boolean"})
    counted = sides(number, ("delta", maybe), comparable)
    _move(defs["SectionChange"], ("base_tokens", "head_tokens", "comparable"), "tokens", counted)
    _move(defs["SectionChange"], ("base_position", "head_position"), "position", sides(maybe))
    _move(defs["FixtureChange"], ("base_layout", "head_layout"), "layout", sides(of("tuple[Block, ...]")))
    _move(defs["FixtureChange"], ("base_outcome", "head_outcome"), "outcome", sides({"type": "string"}))
    tokens = sides(maybe, ("delta", maybe), ("exact", {"type": "boolean"}), comparable)
    _move(defs["FixtureChange"], ("tokens",), "tokens", tokens)
    text, texts = {"type": "string"}, {"type": "array", "items": {"type": "string"}}
    edit = {
        "section_id": text, "identity": text, "path": text, "status": {"enum": list(facets.STATUSES)}, "facets": FACETS,
        "delta": {"type": "object", "required": ["least", "most"], "properties": {"least": number, "most": number}},
        "fixtures": texts, "effect": number, "lost_tokens": number,
    }  # fmt: skip
    about = " ".join((change.Edit.__doc__ or "").split())
    defs["Edit"] = {"type": "object", "description": about, "required": sorted(edit), "properties": edit}
    properties = {
        "schema": {"const": change.SCHEMA},
        "tool": {
            "type": "object",
            "required": ["command", "name", "version"],
            "properties": {"name": {"const": "ctxc"}, "version": text, "command": {"const": "diff"}},
        },
        "base": of("Revision"),
        "head": of("Revision"),
        "whole": {"type": "boolean", "description": "Everything was compiled, not only what the changed files reach."},
        "sources": of("tuple[SourceChange, ...]"),
        "settings": of("tuple[FieldChange, ...]"),
        "fixtures": of("tuple[FixtureChange, ...]"),
        "edits": of("tuple[Edit, ...]"),
        "versions": of("tuple[VersionChange, ...]"),
        "totals": of("Totals"),
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": change.SCHEMA,
        "title": "Output of ctxc diff",
        "type": "object",
        "required": sorted(properties),
        "properties": properties,
        "$defs": dict(sorted(defs.items())),
    }


def _move(schema: dict[str, Any], old: tuple[str, ...], new: str, value: dict[str, Any]) -> None:
    """Replace keys by one that holds both sides."""
    for name in old:
        del schema["properties"][name]
    schema["properties"][new] = value
    schema["required"] = sorted(schema["properties"])


def text() -> str:
    """The file as it is committed."""
    return json.dumps(schema(), ensure_ascii=False, indent=2) + "\n"


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        sys.exit(0 if TARGET.read_text(encoding="utf-8") == text() else f"{TARGET} is not what the dataclasses say")
    TARGET.write_text(text(), encoding="utf-8")
    print(TARGET)
