"""Runs of the command in an environment of the test's own: as a process, or inside this one where that is enough."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

# What ctxc or git takes from the environment, by how its name begins: settings, a terminal's wishes, the CI service.
OF_THE_MACHINE = (
    "CTXC_", "_CTXC_", "GIT_", "PRE_COMMIT", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "COLUMNS", "LINES", "COMP_",
    "CI", "GATE_", "GITHUB_", "RUNNER_", "GITLAB_", "BITBUCKET_", "BUILD", "SYSTEM_", "TF_BUILD", "CHANGE_", "CIRRUS_", "DRONE_",
    "TRAVIS", "APPVEYOR", "TEAMCITY_",
)  # fmt: skip

Done = subprocess.CompletedProcess[bytes]
Run = Callable[..., Done]


def clean_environment() -> dict[str, str]:
    """This process's environment without what ctxc takes from the machine that it runs on."""
    return {k: v for k, v in os.environ.items() if not k.startswith(OF_THE_MACHINE)}


def run_process(folder: Path, *arguments: str, stdout: int | None = subprocess.PIPE, **environment: str) -> Done:
    """The command as a process of its own, standing in ``folder``."""
    return subprocess.run(
        [sys.executable, "-m", "ctxc", *arguments],
        cwd=folder, stdout=stdout, stderr=subprocess.PIPE, check=False, env={**clean_environment(), **environment},
    )  # fmt: skip


def runner_here(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Runs the command inside this process: a tenth of the time, for what needs no process of its own."""
    from ctxc.__main__ import main

    def call(folder: Path, *arguments: str, **environment: str) -> Done:
        with monkeypatch.context() as patch:
            for name in os.environ.keys() - clean_environment().keys():
                patch.delenv(name)
            for name, value in environment.items():
                patch.setenv(name, value)
            patch.chdir(folder)
            status = main(list(arguments))
        sys.stdout.flush()
        sys.stderr.flush()
        captured = capfdbinary.readouterr()
        return subprocess.CompletedProcess(arguments, status, captured.out, captured.err)

    return call
