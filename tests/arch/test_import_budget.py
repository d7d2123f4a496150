"""What a start may import. Asserted as imports, because milliseconds depend on the machine."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from shell import clean_environment

HEAVY = (
    "rich",
    "jsonschema",
    "git",
    "tiktoken",
    "deepdiff",
    "pydantic",
    "yaml",
    "regex",
    "re2",
    "requests",
    "attrs",
    "pytest",
)

KEPT = {f"ctxc.model.{name}" for name in ("codes", "finding", "project", "report")}
"""Of the model, what a run needs that finds everything in its cache: nothing that a package is made of."""

PROBE = """
import json, sys
from ctxc.__main__ import main
status = main(json.loads(sys.argv[1]))
sys.stderr.write("\\n" + json.dumps([status, sorted(sys.modules)]))
"""


def start(folder: Path, *arguments: str) -> tuple[int, set[str], str]:
    """Exit status, imported modules and standard output of a command line."""
    environment = clean_environment() | {"CTXC_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", PROBE, json.dumps(arguments)],
        cwd=folder, capture_output=True, text=True, encoding="utf-8", check=False, env=environment,
    )  # fmt: skip
    status, modules = json.loads(done.stderr.splitlines()[-1])
    return status, set(modules), done.stdout


def heavy(modules: set[str]) -> list[str]:
    return [name for name in HEAVY if name in modules]


def test_version_imports_nothing(tmp_path: Path) -> None:
    status, modules, out = start(tmp_path, "--version")
    assert status == 0
    assert out.startswith("ctxc ")
    assert {m for m in modules if m.split(".")[0] == "ctxc"} == {"ctxc", "ctxc.__main__"}
    assert modules.isdisjoint({"typer", "typing", "argparse", "dataclasses", "pathlib"} - {"pathlib"})


@pytest.mark.parametrize(
    "arguments", [("--help",), ("compile", "--help"), ("schema",), ("schema", "template"), ("config",)]
)
def test_a_light_command_imports_nothing_heavy(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    status, modules, _ = start(tmp_path, *arguments)
    assert status == 0
    assert heavy(modules) == []


def test_help_imports_no_command(tmp_path: Path) -> None:
    _, modules, out = start(tmp_path, "--help")
    assert {m for m in modules if m.startswith("ctxc.cli.commands.")} == set()
    assert "compile" in out


def test_one_command_imports_no_other(tmp_path: Path) -> None:
    _, modules, _ = start(tmp_path, "schema")
    assert {m for m in modules if m.startswith("ctxc.cli.commands.")} == {"ctxc.cli.commands.schema"}
    assert not any(m.startswith(("ctxc.compiler", "ctxc.source", "ctxc.providers")) for m in modules)


def test_a_warm_compile_imports_nothing_heavy_and_compiles_nothing(tmp_path: Path) -> None:
    assert start(tmp_path, "init")[0] == 0
    cold_status, _, cold = start(tmp_path, "compile")
    assert cold_status == 0, cold
    status, modules, warm = start(tmp_path, "compile")
    assert (status, warm) == (cold_status, cold)
    assert heavy(modules) == []
    assert not any(m.startswith("ctxc.compiler") for m in modules)
    assert not any(m.startswith("ctxc.parse") for m in modules)
    assert {m for m in modules if m.startswith("ctxc.model.")} <= KEPT


def test_importing_the_package_costs_nothing() -> None:
    code = "import sys; before = set(sys.modules); import ctxc; print(sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() in ("['__future__', 'ctxc']", "['ctxc']")
