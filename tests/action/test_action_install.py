"""Which ctxc is installed, where, and what happens where it cannot be."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from actions import ACTION, ROOT

sys.path.insert(0, str(ACTION))

from ctxc_action import install
from ctxc_action.runner import Runner


class Asked:
    """Commands that were asked for; the one that begins with ``fails`` fails."""

    def __init__(self, fails: str = "") -> None:
        self.commands: list[list[str]] = []
        self.fails = fails

    def __call__(self, command: list[str], *, cwd: Path, check: bool) -> subprocess.CompletedProcess[bytes]:
        assert "ctxc-python-" in str(cwd)
        self.commands.append(command)
        return subprocess.CompletedProcess(command, int(bool(self.fails) and self.fails in command))


def installed(monkeypatch: pytest.MonkeyPatch, folder: Path, asked: Asked, version: str = "") -> tuple[int, str]:
    monkeypatch.setattr(subprocess, "run", asked)
    (folder / "out").touch()
    environment: dict[str, Any] = {
        "RUNNER_TEMP": str(folder), "GITHUB_OUTPUT": str(folder / "out"), "GATE_VERSION": version,
    }  # fmt: skip
    return install.run(Runner(environment)), (folder / "out").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("version", "wanted"), [("", str(ROOT)), ("1.2.3", "ctxc-toolkit==1.2.3"), (" 1.0rc1 ", "ctxc-toolkit==1.0rc1")]
)
def test_what_is_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, version: str, wanted: str) -> None:
    asked = Asked()
    status, output = installed(monkeypatch, tmp_path, asked, version)
    assert status == 0
    python = output.removeprefix("python=").rstrip("\n")
    assert Path(python).parts[-2:] == (("Scripts", "python.exe") if os.name == "nt" else ("bin", "python"))
    assert tmp_path in Path(python).parents
    venv, pip, _ = asked.commands
    assert venv[:4] == [sys.executable, "-I", "-m", "venv"]
    assert (pip[:5], pip[-1]) == ([python, "-I", "-m", "pip", "install"], wanted)


@pytest.mark.parametrize(
    "version", ["--index-url=https://evil.example", "1.0 other", "main", "git+https://x", "1\n2", "@"]
)
def test_what_is_no_version(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str], version: str
) -> None:
    asked = Asked()
    assert installed(monkeypatch, tmp_path, asked, version) == (1, "")
    assert asked.commands == []
    assert "::error title=ctxc gate::the input `version` is not a version" in capsys.readouterr().out


@pytest.mark.parametrize("fails", ["venv", "pip"])
def test_what_cannot_be_installed_ends_the_step(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str], fails: str
) -> None:
    assert installed(monkeypatch, tmp_path, Asked(fails)) == (1, "")
    assert "could not be installed" in capsys.readouterr().out


def test_an_action_without_its_repository_wants_a_version(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(install, "__file__", str(tmp_path / "a/b/c/d/e/install.py"))
    assert installed(monkeypatch, tmp_path, Asked()) == (1, "")
    assert "name a `version`" in capsys.readouterr().out
