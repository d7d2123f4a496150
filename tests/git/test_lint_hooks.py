"""The hooks that this package offers, run by pre-commit itself in real repositories."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from shell import clean_environment

GOOD = "template_id: t\nversion: 1\nsections:\n  - {id: policy, source: literal, text: Answer briefly.}\n"
BAD = GOOD.replace("text:", "tetx:")
FOUND = "templates/t.yaml:4:35"

Git = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def runner() -> str:
    beside = Path(sys.executable).with_name("pre-commit")
    found = str(beside) if beside.exists() else shutil.which("pre-commit")
    if found is None:
        pytest.skip("needs pre-commit, which is not installed")
    return found


@pytest.fixture
def git(tmp_path: Path, root: Path, runner: str) -> Git:
    """Git in a repository whose commits are judged by the hooks, run from this checkout instead of an installation."""
    hooks = yaml.safe_load((root / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    for hook in hooks:
        assert hook["entry"].startswith("ctxc ")
        assert hook["language"] == "python"
        hook |= {"entry": f'"{sys.executable}" -m {hook["entry"]}', "language": "system"}
    project = tmp_path / "project"
    (project / "templates").mkdir(parents=True)
    config = {"repos": [{"repo": "local", "hooks": [h for h in hooks if h["id"] == "ctxc-lint"]}]}
    (project / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    environment = clean_environment() | {
        "PRE_COMMIT_HOME": str(tmp_path / "home"),
        "CTXC_CACHE_DIR": str(tmp_path / "cache"),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        **{f"GIT_{who}_{what}": "a@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [runner, *arguments[1:]] if arguments[0] == "pre-commit" else ["git", *arguments]
        return subprocess.run(command, cwd=project, env=environment, capture_output=True, check=False, encoding="utf-8")

    assert run("init", "-q", "-b", "main").returncode == 0
    assert run("pre-commit", "install").returncode == 0
    return run


@pytest.fixture
def template(tmp_path: Path) -> Path:
    return tmp_path / "project" / "templates" / "t.yaml"


def commits(git: Git) -> int:
    return int(git("rev-list", "--count", "--all").stdout or 0)


def test_the_manifest_is_one_that_pre_commit_takes(runner: str, root: Path) -> None:
    done = subprocess.run(
        [runner, "validate-manifest", str(root / ".pre-commit-hooks.yaml")], capture_output=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, b"")


def test_a_bad_file_is_not_committed_and_a_good_one_is(git: Git, template: Path) -> None:
    template.write_text(BAD)
    git("add", "-A")
    refused = git("commit", "-m", "one")
    assert refused.returncode == 1
    assert FOUND in refused.stderr + refused.stdout
    assert commits(git) == 0
    template.write_text(GOOD)
    git("add", "-A")
    assert git("commit", "-m", "one").returncode == 0
    assert commits(git) == 1


def test_what_is_staged_is_judged_and_not_what_lies_on_disk(git: Git, template: Path) -> None:
    template.write_text(BAD)
    git("add", "-A")
    template.write_text(GOOD)
    refused = git("commit", "-m", "one")
    assert refused.returncode == 1
    assert FOUND in refused.stderr + refused.stdout
    git("add", "-A")
    template.write_text(BAD)
    assert git("commit", "-m", "one").returncode == 0
    assert template.read_text() == BAD


def test_a_partial_commit_is_judged_by_the_index_that_git_makes_for_it(git: Git, template: Path) -> None:
    template.write_text(GOOD)
    git("add", "-A")
    assert git("commit", "-m", "one").returncode == 0
    template.write_text(BAD)
    git("add", "-A")
    template.write_text(GOOD.replace("briefly", "shortly"))
    assert git("commit", "-m", "two", "--", "templates").returncode == 0
    template.write_text(BAD)
    refused = git("commit", "-m", "three", "--all")
    assert refused.returncode == 1
    assert FOUND in refused.stderr + refused.stdout
    assert commits(git) == 2


def test_a_commit_without_any_text_runs_nothing(git: Git, template: Path) -> None:
    template.write_text(GOOD)
    git("add", "-A")
    git("commit", "-m", "one")
    template.with_name("picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    git("add", "-A")
    done = git("commit", "-m", "two")
    assert done.returncode == 0
    assert "no files to check" in done.stderr + done.stdout
