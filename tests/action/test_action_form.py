"""What has to hold of every workflow and of the action, whatever they do."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from actions import ACTION, ROOT, action

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
SOURCES = sorted(ACTION.rglob("*.py"))
_OURS = re.compile(r"actions/[\w-]+@v\d+\Z")
_PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}\Z")


def load(path: Path) -> dict[str, Any]:
    found = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert isinstance(found, dict), path
    return found


def steps_of(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Steps of a workflow's jobs, or of an action."""
    for job in value.get("jobs", {}).values():
        yield from job.get("steps", [])
    yield from value.get("runs", {}).get("steps", [])


def everything() -> list[Path]:
    return [*WORKFLOWS, ACTION / "action.yml"]


def test_there_is_something_to_look_at() -> None:
    assert [p.name for p in WORKFLOWS] == ["ci.yml", "context.yml"]
    assert len(SOURCES) == 9
    assert all(list(steps_of(load(p))) for p in everything())


@pytest.mark.parametrize("path", everything(), ids=lambda p: p.name)
def test_no_expression_is_pasted_into_a_script(path: Path) -> None:
    for step in steps_of(load(path)):
        assert "${{" not in step.get("run", ""), step
        assert "github-script" not in step.get("uses", "")
    assert "run: ${{" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", everything(), ids=lambda p: p.name)
def test_what_is_used_is_githubs_own_local_or_pinned(path: Path) -> None:
    for step in steps_of(load(path)):
        used = step.get("uses", "")
        assert not used or _OURS.match(used) or _PINNED.match(used) or used == "./.github/actions/ctxc", used


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.name)
def test_a_workflow_may_do_little_and_not_for_long(path: Path) -> None:
    found = load(path)
    triggers = found[True]  # YAML 1.1 reads `on` as true
    assert "pull_request" in triggers
    assert not {"pull_request_target", "workflow_run", "issue_comment"} & set(triggers)
    assert found["permissions"] == {"contents": "read"}
    for job in found["jobs"].values():
        assert 0 < job["timeout-minutes"] <= 20
        writes = {k for k, v in job.get("permissions", {}).items() if v == "write"}
        comments = any(s.get("uses") == "./.github/actions/ctxc" for s in job["steps"])
        assert writes == ({"pull-requests"} if comments else set())
        for step in job["steps"]:
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False


def test_every_input_is_used_and_every_used_one_exists() -> None:
    text = (ACTION / "action.yml").read_text(encoding="utf-8")
    declared = set(action()["inputs"])
    used = set(re.findall(r"inputs\.([\w-]+)", text))
    assert declared == used
    assert all(one["description"] for one in action()["inputs"].values())


def test_every_output_comes_from_a_step_that_has_it() -> None:
    ids = {s["id"] for s in action()["runs"]["steps"] if "id" in s}
    text = "".join(p.read_text(encoding="utf-8") for p in SOURCES)
    for name, one in action()["outputs"].items():
        step, output = re.fullmatch(r"\$\{\{ steps\.(\w+)\.outputs\.([\w-]+) \}\}", one["value"]).groups()
        assert step in ids
        assert output == name
        assert f'"{name}"' in text or name.startswith("report-"), name
        assert one["description"]
    wanted = re.findall(r"steps\.(\w+)\.outputs\.([\w-]+)", (ACTION / "action.yml").read_text(encoding="utf-8"))
    known = {("gate", n) for n in action()["outputs"]} | {("python", "python-path"), ("install", "python")}
    assert set(wanted) <= known


def test_every_variable_that_a_step_sets_is_read_and_the_other_way_round() -> None:
    text = "".join(p.read_text(encoding="utf-8") for p in SOURCES)
    set_by_steps = {n for s in action()["runs"]["steps"] for n in s.get("env", {}) if n.startswith("GATE_")}
    assert set_by_steps == set(re.findall(r"\bGATE_[A-Z_]*[A-Z]\b", text))


def test_the_token_reaches_only_the_steps_that_report() -> None:
    having = [s["name"] for s in action()["runs"]["steps"] if "inputs.token" in str(s)]
    assert having == ["Hand the findings to code scanning", "Comment"]


def test_the_verdict_comes_last_and_whatever_happened() -> None:
    steps = action()["runs"]["steps"]
    assert steps[-1]["name"] == "Verdict"
    assert steps[-1]["run"] == 'exit "${GATE_EXIT_CODE:-3}"'
    reporting = steps[[s["name"] for s in steps].index("Judge") + 1 :]
    assert [s["name"] for s in reporting if "!cancelled()" not in s["if"]] == []


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.name)
def test_the_steps_need_nothing_but_python(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        for name in names:
            top = name.partition(".")[0]
            assert top in sys.stdlib_module_names or top == "ctxc_action", name


def test_python_is_started_so_that_the_checkout_cannot_be_imported() -> None:
    scripts = [s["run"] for s in action()["runs"]["steps"] if "run" in s]
    started = [s for s in scripts if "PYTHON" in s]
    assert len(started) == 4
    assert all(re.fullmatch(r'"\$PYTHON" -IB "\$GITHUB_ACTION_PATH/run\.py" \w+', s) for s in started)


def test_types_of_the_steps(root: Path) -> None:
    pytest.importorskip("mypy", reason="needs the dev extra")
    import subprocess

    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", "ctxc_action", "run.py"],
        cwd=ACTION, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
