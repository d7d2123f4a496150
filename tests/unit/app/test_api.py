"""The public Python API, as a service uses it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ctxc
from ctxc.base.errors import ConfigError, NothingMatched
from ctxc.model.package import Outcome
from ctxc.source.memory import MemoryTree


def test_load_and_compile_from_a_folder(starter: Path) -> None:
    project = ctxc.load(starter)
    package = ctxc.compile(project, "refund_question")
    assert package.outcome is Outcome.COMPILED
    assert package == ctxc.compile(ctxc.load(str(starter)), project.fixtures["refund_question"])


def test_a_service_compiles_a_request_that_is_in_no_file(starter: Path) -> None:
    project = ctxc.load(starter)
    recorded = project.fixtures["refund_question"]
    inputs = replace(recorded.inputs, values={**recorded.inputs.values, "user": "How long does the payment take?"})
    package = ctxc.compile(project, replace(recorded, id="live", inputs=inputs))
    assert package.request is not None
    assert "How long does the payment take?" in str(package.request)


def test_provider_and_model_can_be_asked_for(starter: Path) -> None:
    package = ctxc.compile(ctxc.load(starter), "refund_question", provider="anthropic")
    assert package.snapshot["provider"]["id"] == "anthropic"


def test_load_from_a_tree_in_memory(starter: Path) -> None:
    files = {p.relative_to(starter).as_posix(): p.read_bytes() for p in starter.rglob("*") if p.is_file()}
    project = ctxc.load(MemoryTree(files))
    assert ctxc.compile(project, "opening_hours") == ctxc.compile(ctxc.load(starter), "opening_hours")


def test_a_tree_with_two_configurations_is_an_error(starter: Path) -> None:
    files = {"ctxc.yaml": "model: a\n", "pyproject.toml": '[tool.ctxc]\nmodel = "b"\n'}
    with pytest.raises(ConfigError, match="both"):
        ctxc.load(MemoryTree(files))


def test_an_unknown_fixture_names_the_nearest(starter: Path) -> None:
    with pytest.raises(NothingMatched) as caught:
        ctxc.compile(ctxc.load(starter), "refund_qestion")
    assert "did you mean refund_question?" in caught.value.help


def test_the_environment_means_nothing_to_a_service(starter: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXC_MODEL", "gpt-4o")
    assert ctxc.load(starter).settings.model == "gpt-4.1"


def _wreck(value: Any) -> None:
    if isinstance(value, dict):
        for part in list(value.values()):
            _wreck(part)
        value["changed"] = True
    elif isinstance(value, list):
        for part in value:
            _wreck(part)
        value.append("changed")


def test_what_a_service_does_to_a_request_reaches_no_other(tmp_path: Path) -> None:
    files = {
        "templates/t.yaml": "template_id: t\nversion: 1\nprovider: anthropic\noutput_contract: c\nsections:\n"
        "  - {id: tools, source: tools.json}\n  - {id: history, source: runtime}\n",
        "templates/c.yaml": "contract_id: c\nversion: 1\nschema: {type: object, properties: {a: {enum: [x, y]}}}\n",
        "tools.json": json.dumps(
            [{"name": "find", "description": "Find.", "input_schema": {"type": "object", "properties": {}}}]
        ),
        "tests/fixtures/f.yaml": "fixture_id: f\ntemplate: t\ninputs:\n  user: hi\n  history:\n"
        "    - {role: user, content: a}\n"
        "    - {role: assistant, content: [{type: tool_use, id: k, name: find, input: {a: [1]}}]}\n"
        "    - {role: user, content: [{type: tool_result, tool_use_id: k, content: b}]}\n",
    }
    project = ctxc.load(MemoryTree(files))
    for provider in ("anthropic", "openai"):
        first = ctxc.compile(project, "f", provider=provider)
        request, snapshot = json.dumps(first.request), json.dumps(first.snapshot)
        _wreck(first.request)
        _wreck(first.snapshot)
        again = ctxc.compile(project, "f", provider=provider)
        assert (json.dumps(again.request), json.dumps(again.snapshot)) == (request, snapshot)


def test_the_public_names_are_those_that_a_shell_completes() -> None:
    """They are imported late, and what the module imports for itself is nobody's business."""
    assert dir(ctxc) == ["__version__", "compile", "diff", "gate", "load"]
    assert all(getattr(ctxc, name) for name in dir(ctxc))
