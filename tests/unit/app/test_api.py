"""The public Python API, as a service uses it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

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
