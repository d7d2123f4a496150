"""Whole runs of the command, recorded: arguments and files in ``NAME.toml``, output and status in ``NAME.txt``.

What depends on the machine is replaced by placeholders. ``pytest --update-goldens tests/goldens`` records again.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from shell import Done, Run

import ctxc
from ctxc.app.init import write_starter

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
CASES = sorted(p.stem for p in HERE.glob("*.toml"))


def run_case(case: dict[str, Any], folder: Path, run: Run) -> str:
    """The recorded form of a run: status, standard output, standard error."""
    project = folder / "project"
    if case.get("project", "starter") == "starter":
        write_starter(project)
    else:
        project.mkdir()
    for path, text in case.get("files", {}).items():
        place = project / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode("utf-8", "surrogatepass"))
    for path, (old, new) in case.get("edits", {}).items():
        text = (project / path).read_text(encoding="utf-8")
        assert old in text, f"{path} does not hold {old!r}"
        (project / path).write_text(text.replace(old, new), encoding="utf-8", newline="\n")
    environment = {"CTXC_CACHE_DIR": str(folder / "cache"), **case.get("env", {})}
    done: Done
    for _ in range(case.get("runs", 1)):
        done = run(project / case.get("cwd", "."), *case["args"], **environment)
    parts = [
        f"status: {done.returncode}",
        "--- stdout",
        done.stdout.decode("utf-8"),
        "--- stderr",
        done.stderr.decode(),
    ]
    parts += [f"--- {p}\n{(project / p).read_text(encoding='utf-8')}" for p in case.get("shows", [])]
    return scrub("\n".join(parts), folder)


def scrub(text: str, folder: Path) -> str:
    """The text without what depends on the machine."""
    for place in (str(folder), str(folder.resolve())):
        text = text.replace(place, "@@ROOT@@")
    text = text.replace(ctxc.__version__, "@@VERSION@@") if f'"{ctxc.__version__}"' in text else text
    text = re.sub(r"(?<=sha256:)[0-9a-f]{64}", "@@SHA@@", text)
    text = re.sub(r"\bctx_[0-9a-f]{16}\b", "ctx_@@SHA@@", text)
    return re.sub(r'(?<="fingerprint":")[0-9a-f]{16,64}', "@@SHA@@", text)


@pytest.mark.parametrize("name", CASES)
def test_run(name: str, tmp_path: Path, update_goldens: bool, run_here: Run) -> None:
    case = tomllib.loads((HERE / f"{name}.toml").read_text(encoding="utf-8"))
    found = run_case(case, tmp_path, run_here)
    recorded = HERE / f"{name}.txt"
    if update_goldens:
        recorded.write_text(found, encoding="utf-8", newline="\n")
    assert recorded.is_file(), "not recorded: run pytest --update-goldens tests/goldens, and read what it wrote"
    assert found == recorded.read_text(encoding="utf-8")


def test_nothing_recorded_is_an_orphan() -> None:
    assert CASES
    assert sorted(p.stem for p in HERE.glob("*.txt")) == CASES


def test_recording_is_refused_in_ci() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--update-goldens", "--collect-only", str(HERE)],
        cwd=ROOT, capture_output=True, text=True, check=False, env={**os.environ, "CI": "true"},
    )  # fmt: skip
    assert done.returncode == 4
    assert "refused where CI is set" in done.stderr
