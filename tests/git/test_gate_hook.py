"""The hook that judges before a push, run by pre-commit itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from repos import Repo

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "gates"))  # gate_world.py: a project for every gate

from gate_world import files


@pytest.fixture
def project(tmp_path: Path, root: Path) -> Repo:
    """A clone with the hook installed; its remote takes what is pushed."""
    beside = Path(sys.executable).with_name("pre-commit")
    runner = str(beside) if beside.exists() else shutil.which("pre-commit")
    if runner is None:
        pytest.skip("needs pre-commit, which is not installed")
    hooks = yaml.safe_load((root / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    hook = next(h for h in hooks if h["id"] == "ctxc-gate")
    assert hook["entry"] == "ctxc gate --rev HEAD"
    hook |= {"entry": f'"{sys.executable}" -m {hook["entry"]}', "language": "system"}
    origin = Repo(tmp_path / "origin")
    origin.git("config", "receive.denyCurrentBranch", "ignore")
    config = yaml.safe_dump({"repos": [{"repo": "local", "hooks": [hook]}]})
    origin.commit("base", {**files(), ".pre-commit-config.yaml": config})
    clone = origin.clone(tmp_path / "clone")
    done = subprocess.run(
        [runner, "install", "--hook-type", "pre-push"], cwd=clone.path, env=environment(clone, tmp_path),
        capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return clone


def environment(repo: Repo, folder: Path) -> dict[str, str]:
    return {
        **repo.environ,
        "PRE_COMMIT_HOME": str(folder / "home"),
        "CTXC_CACHE_DIR": str(folder / "cache"),
        "PATH": os.environ["PATH"],
    }


def push(repo: Repo, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", "push", "-q", "origin", "HEAD:refs/heads/topic"], cwd=repo.path, env=environment(repo, folder),
        capture_output=True, check=False, encoding="utf-8",
    )  # fmt: skip


def test_what_may_not_ship_is_not_pushed(project: Repo, tmp_path: Path) -> None:
    text = files()["policies/desk.md"]
    project.commit("an address", {"policies/desk.md": text + "Write to desk@acme-support.com.\n"})
    refused = push(project, tmp_path)
    assert refused.returncode != 0
    assert "error[CTX340] forbidden-content: FF-2" in refused.stdout + refused.stderr
    assert "versions       failed" in refused.stdout + refused.stderr
    project.commit("without it", {"policies/desk.md": text, "README.md": "A desk.\n"})
    # What lies in the work tree and is not committed is not pushed, and is not judged.
    project.write("policies/desk.md", text + "Write to desk@acme-support.com.\n")
    assert push(project, tmp_path).returncode == 0
