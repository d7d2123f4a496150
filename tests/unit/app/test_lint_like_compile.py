"""Lint says of a provider and a model what compile says, at the same place."""

from __future__ import annotations

from pathlib import Path

import pytest
from lint_world import judge, write

from ctxc.app.compiling import CompileOptions, compile_fixtures
from ctxc.app.selection import Selection
from ctxc.app.workspace import open_workspace
from ctxc.model.finding import Severity

_SECTIONS = "sections:\n  - {id: policy, source: literal, text: Answer briefly.}\n  - {id: user, source: runtime}\n"
_FIXTURE = "fixture_id: f\ntemplate: t\ninputs: {user: Hello.}\n"
_MINE = "provider_id: mine\nextends: openai\n"


def template(keys: str = "", name: str = "t") -> str:
    return f"template_id: {name}\nversion: 1\n{keys}{_SECTIONS}"


def of_lint(root: Path) -> list[str]:
    return sorted({f"{f.location} {f.code}" for f in judge(root).report.findings if f.severity is Severity.ERROR})


def of_compile(root: Path) -> list[str]:
    workspace = open_workspace(root, flags={}, environment={}, no_cache=True)
    run = compile_fixtures(workspace, Selection(), CompileOptions()).run
    return sorted({f"{f.location} {f.code}" for f in run.report.findings})


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"ctxc.yaml": "provider: openai\nmodel: gpt-9\n"}, ["ctxc.yaml:2:8 CTX115"]),
        ({"ctxc.yaml": "provider: opnai\nmodel: gpt-4.1\n"}, ["ctxc.yaml:1:11 CTX102"]),
        ({"pyproject.toml": '[tool.ctxc]\nprovider = "openai"\nmodel = "gpt-9" # x\n'}, ["pyproject.toml:3:9 CTX115"]),
        ({"ctxc.yaml": "provider: mine\n"}, ["ctxc.yaml:1:11 CTX102"]),
        ({"templates/t.yaml": template("model: gpt-9\n")}, ["templates/t.yaml:3:8 CTX115"]),
        ({"templates/t.yaml": template("provider: opnai\n")}, ["templates/t.yaml:3:11 CTX102"]),
        # The configuration's model is one of the configuration's provider: here one of the other has to be named.
        ({"templates/t.yaml": template("provider: anthropic\n")}, ["templates/t.yaml:3:11 CTX115"]),
        ({"tests/fixtures/f.yaml": f"{_FIXTURE}model: gpt-9\n"}, ["tests/fixtures/f.yaml:4:8 CTX115"]),
        ({"tests/fixtures/f.yaml": f"{_FIXTURE}provider: opnai\n"}, ["tests/fixtures/f.yaml:4:11 CTX102"]),
        ({"ctxc.yaml": "tier: default\n"}, ["tests/fixtures/f.yaml:1:1 CTX114"]),
        (
            {"templates/base.yaml": template("model: gpt-9\n", "base"),
             "templates/t.yaml": "template_id: t\nversion: 1\nextends: base\n"},
            ["templates/base.yaml:3:8 CTX115"],
        ),
        (
            {"ctxc.yaml": "provider: mine\n", "templates/mine.yaml": f"{_MINE}default_model: zork\n"},
            ["templates/mine.yaml:3:16 CTX115"],
        ),
        (
            {"ctxc.yaml": "provider: mine\n", "templates/mine.yaml": f"{_MINE}shape: openai_chats\n"},
            ["ctxc.yaml:1:11 CTX102", "templates/mine.yaml:3:8 CTX006"],
        ),
    ],
)  # fmt: skip
def test_lint_and_compile_say_the_same_of_a_model(tmp_path: Path, files: dict[str, str], told: list[str]) -> None:
    every = {
        "ctxc.yaml": "provider: openai\nmodel: gpt-4.1\n",
        "templates/t.yaml": template(),
        "tests/fixtures/f.yaml": _FIXTURE,
    }
    if "pyproject.toml" in files:
        del every["ctxc.yaml"]
    root = write(tmp_path / "p", {**every, **files})
    assert of_compile(root) == told
    # What a broken file defines is told at that file alone; a compile also says what it keeps from being compiled.
    assert of_lint(root) == [t for t in told if len(told) == 1 or not t.startswith("ctxc.yaml")]


def test_a_model_that_no_fixture_asks_for_is_told_too_and_once(tmp_path: Path) -> None:
    every = {
        "ctxc.yaml": "provider: openai\n",
        "templates/t.yaml": template("model: gpt-9\n"),
        "tests/fixtures/f.yaml": f"{_FIXTURE}model: gpt-4o\n",
        "templates/idle.yaml": template("model: gpt4o\n", "idle"),
    }
    found = [f for f in judge(write(tmp_path / "p", every)).report.findings if f.code == "CTX115"]
    assert [(str(f.location), f.fixture) for f in found] == [("templates/idle.yaml:3:8", "")]
    assert "Did you mean 'gpt-4o" in found[0].message


def test_the_command_line_s_provider_goes_with_the_model_that_is_named_for_it(tmp_path: Path) -> None:
    every = {
        "ctxc.yaml": "provider: openai\nmodel: gpt-4.1\n",
        "templates/t.yaml": template("provider: anthropic\nmodel: claude-sonnet-4-5\n"),
        "tests/fixtures/f.yaml": _FIXTURE,
    }
    workspace = open_workspace(write(tmp_path / "p", every), flags={}, environment={}, no_cache=True)
    options = CompileOptions(provider="openai", with_packages=True)
    (compiled,) = compile_fixtures(workspace, Selection(), options).run.compiled
    assert '"model":"gpt-4.1"' in compiled.package()


def test_an_unknown_key_hides_nothing_else_that_is_wrong(tmp_path: Path) -> None:
    """Each error by itself is told in one run; nothing is said that only the unknown keys would be the cause of."""
    every = {
        "ctxc.yaml": "provider: openai\nmodel: gpt-4.1\n",
        "templates/t.yaml": "template_id: t\nversion: 1\noutput_contract: nope\nrequst_profile: p\nsections:\n"
        "  - {id: policy, source: gone.md}\n  - {id: kb, kind: evidence, sorce: retrieval}\n  - {id: user, source: runtime}\n",
        "tests/fixtures/f.yaml": "fixture_id: f\ntemplate: t\nsensitive: [inputs.claim]\ninptus: {claim: 12}\n"
        "inputs: {evidence: [{id: a, text: A., valid_until: soon}], history: {file: gone.jsonl}}\n",
        "tests/fixtures/g.yaml": "fixture_id: g\ntempalte: t\ninputs: {user: Hello.}\n",
    }
    root = write(tmp_path / "p", every)
    told = [
        "templates/t.yaml:3:18 CTX102",
        "templates/t.yaml:4:1 CTX003",
        "templates/t.yaml:6:26 CTX106",
        "templates/t.yaml:7:30 CTX003",
        "tests/fixtures/f.yaml:4:1 CTX003",
        "tests/fixtures/f.yaml:5:52 CTX029",
        "tests/fixtures/f.yaml:5:76 CTX106",
        "tests/fixtures/g.yaml:1:1 CTX005",
        "tests/fixtures/g.yaml:2:1 CTX003",
    ]
    assert of_lint(root) == told
    assert of_compile(root) == told


def test_a_compile_tells_every_name_of_a_fixture_that_means_nothing(tmp_path: Path) -> None:
    every = {
        "ctxc.yaml": "provider: openai\n",
        "templates/t.yaml": template("model: gpt-9\noutput_contract: nope\nrequest_profile: nobody\n"),
        "tests/fixtures/f.yaml": _FIXTURE,
    }
    root = write(tmp_path / "p", every)
    told = ["templates/t.yaml:3:8 CTX115", "templates/t.yaml:4:18 CTX102", "templates/t.yaml:5:18 CTX102"]
    assert of_compile(root) == told
    assert of_lint(root) == told
