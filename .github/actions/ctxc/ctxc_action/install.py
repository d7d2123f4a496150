"""Install ctxc into a virtual environment of its own, outside of the checkout.

Without a version that is the ctxc of the commit from which the action itself comes: a workflow that pins the action
pins both.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from ctxc_action.runner import Runner

_VERSION = re.compile(r"[0-9][0-9A-Za-z.!+-]*\Z")
NAME = "ctxc-toolkit"


def run(runner: Runner) -> int:
    """Status 0 with the output ``python``, the interpreter that has ctxc; 1 where it cannot be installed."""
    wanted = _wanted(runner)
    if not wanted:
        return 1
    folder = Path(tempfile.mkdtemp(prefix="ctxc-python-", dir=runner.temporary))
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    install = [str(python), "-I", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wanted]
    # -I: `python -m` would import from the current folder, and that is the checkout of the change.
    for command in ([sys.executable, "-I", "-m", "venv", str(folder)], install):
        if subprocess.run(command, cwd=folder, check=False).returncode != 0:
            runner.tell(f"{NAME} could not be installed: the log of this step says why", "error")
            return 1
    subprocess.run([str(python), "-I", "-m", "ctxc", "--version"], cwd=folder, check=True)
    runner.output("python", python)
    return 0


def _wanted(runner: Runner) -> str:
    version = runner.value("GATE_VERSION")
    if version:
        if _VERSION.match(version):
            return f"{NAME}=={version}"
        runner.tell("the input `version` is not a version, as 1.2.3", "error")
        return ""
    root = Path(__file__).resolve().parents[4]
    if (root / "pyproject.toml").is_file():
        return str(root)
    runner.tell("the action was taken without the repository around it: name a `version`", "error")
    return ""
