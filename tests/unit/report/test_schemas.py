"""The committed schemas describe what is printed: every key of real output is in its schema, and nothing else is asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import rfc8785

from ctxc.app.compiling import CompileOptions, compile_fixtures
from ctxc.app.selection import Selection
from ctxc.app.workspace import open_workspace
from ctxc.base.canonical import canonical
from ctxc.report import View, render_run

ROOT = Path(__file__).parents[3]


def load(name: str) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads((ROOT / f"ctxc/report/schemas/{name}.schema.json").read_text(encoding="utf-8"))
    return schema


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    workspace = open_workspace(ROOT, flags={}, environment={}, no_cache=True)
    outcome = compile_fixtures(workspace, Selection(), CompileOptions(with_packages=True, with_content=True))
    value: dict[str, Any] = json.loads(render_run("json", outcome.run, View()))
    return value


def test_compile_output_is_valid(document: dict[str, Any]) -> None:
    jsonschema.validate(document, load("compile"))
    assert len(document["packages"]) > 20
    assert {p["outcome"] for p in document["packages"]} >= {"compiled", "budget_exceeded", "model_not_required"}


def undescribed(value: Any, schema: dict[str, Any], root: dict[str, Any], place: str = "") -> Iterator[str]:
    """Keys of a value that its schema says nothing about."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    for option in schema.get("anyOf", ()):
        if option.get("type") != "null" and value is not None:
            yield from undescribed(value, option, root, place)
    if isinstance(value, dict) and "properties" in schema:
        for key, item in value.items():
            if key not in schema["properties"]:
                yield f"{place}/{key}"
            else:
                yield from undescribed(item, schema["properties"][key], root, f"{place}/{key}")
    if isinstance(value, list) and "items" in schema:
        for item in value:
            yield from undescribed(item, schema["items"], root, f"{place}/*")


def test_no_key_is_undescribed(document: dict[str, Any]) -> None:
    schema = load("compile")
    assert set(undescribed(document, schema, schema)) == set()


def test_snapshots_are_valid_and_canonical(document: dict[str, Any]) -> None:
    schema = load("snapshot")
    for package in document["packages"]:
        snapshot = package["snapshot"]
        jsonschema.validate(snapshot, schema)
        assert canonical(snapshot).encode() == rfc8785.dumps(snapshot)
        assert "text" not in snapshot


def test_the_parts_of_a_package_agree(document: dict[str, Any]) -> None:
    for package in document["packages"]:
        snapshot = package["snapshot"]
        if package["outcome"] != "compiled":
            assert package["request"] is None
            continue
        ids = [s["section_id"] for s in snapshot["sections"]]
        assert [t["section_id"] for t in package["trust_manifest"]] == ids
        assert [c["section_id"] for c in package["content"]] == ids
        assert package["dropped_sections"] == snapshot["dropped_sections"]
        budget = snapshot["budget"]
        assert sum(s["tokens"] for s in snapshot["sections"]) + budget["overhead"] == budget["used_input"]
        assert budget["used_input"] <= budget["used_input_high"] <= budget["available_input"]
