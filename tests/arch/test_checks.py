"""The project's own checks, run as tests, so that one command does everything: layers, types, style."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


def run(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], cwd=root, capture_output=True, text=True, encoding="utf-8", check=False
    )


def test_imports_point_down_only(root: Path) -> None:
    pytest.importorskip("importlinter", reason="needs the dev extra")
    code = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports())"
    done = run(root, "-c", code)
    assert done.returncode == 0, done.stdout + done.stderr


def test_types(root: Path) -> None:
    pytest.importorskip("mypy", reason="needs the dev extra")
    done = run(root, "-m", "mypy")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("arguments", [("check", "--no-cache"), ("format", "--no-cache", "--check")])
def test_style(root: Path, arguments: tuple[str, ...]) -> None:
    pytest.importorskip("ruff", reason="needs the dev extra")
    done = run(root, "-m", "ruff", *arguments, ".")
    assert done.returncode == 0, done.stdout
