"""Repositories after public bug reports (tests/cases/gt-*), built by their own scripts, read by this layer."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from repos import Repo
from shell import run_process

from ctxc.base.errors import RevisionError
from ctxc.source.changes import changed_paths
from ctxc.source.commits import CommitTree
from ctxc.source.git import Repository
from ctxc.source.opening import open_tree

CASES = Path(__file__).parents[1] / "cases"

pytestmark = pytest.mark.skipif(sys.platform == "win32" or not shutil.which("sh"), reason="the cases are shell scripts")


@pytest.fixture
def build(tmp_path: Path):
    """Run a case's script in an empty folder."""

    def run(case: str) -> Repo:
        folder = tmp_path / case
        folder.mkdir()
        environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1"}
        script = (CASES / case / "setup.sh").read_bytes()
        subprocess.run(["sh", "-s"], input=script, cwd=folder, env=environ, check=True, capture_output=True)
        return Repo(folder) if (folder / ".git").exists() else Repo(folder / "main")

    return run


def test_gt_005_another_users_repository(build, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a repository to another user")
    repo = build("gt-005")
    home = tmp_path / "home"
    home.mkdir()
    with pytest.raises(RevisionError) as caught:
        Repository.discover(repo.path, environ={"PATH": os.environ["PATH"], "HOME": str(home)})
    assert caught.value.exit_status == 2
    assert "safe.directory" in caught.value.help
    assert "not a git repository" not in caught.value.message
    assert list(home.iterdir()) == []


def test_gt_008_the_environment_of_hooks(build, tmp_path: Path) -> None:
    repo = build("gt-008")
    other = Repo(tmp_path / "other")
    other.commit("one", {"fragments/b.md": "b"})
    configs = [place.path / ".git/config" for place in (repo, other)]
    before = [config.read_bytes() for config in configs]
    own = {"GIT_DIR": ".git", "GIT_INDEX_FILE": ".git/index", "GIT_WORK_TREE": "."}
    foreign = {"GIT_DIR": str(other.path / ".git"), "GIT_INDEX_FILE": str(other.path / ".git/index")}
    for hook, notes in ((own, 0), (foreign, 1)):
        repository = Repository.discover(repo.path, environ={**repo.environ, **hook})
        assert repository is not None
        with repository:
            assert len(repository.place.notes) == notes
            for tree in (
                open_tree(repo.path, repository=repository, revision="HEAD"),
                open_tree(repo.path, repository=repository, staged=True),
                open_tree(repo.path, repository=repository),
            ):
                assert tree.list_paths() == ("fragments/a.md",)
    assert [config.read_bytes() for config in configs] == before


def test_gt_010_names_outside_ascii(build, opened) -> None:
    repo = build("gt-010")
    repository = opened(repo)
    trees = [CommitTree(repository, repository.resolve(name)) for name in ("HEAD~1", "HEAD")]
    (change,) = changed_paths(*trees)
    assert change.path == "fragments/docs ü/設計 メモ.md"
    assert [tree.read(change.path) for tree in trees] == [b"one\n", b"two\n"]


def test_gt_014_the_index_is_not_the_work_tree(build, opened) -> None:
    repo = build("gt-014")
    repository = opened(repo)
    staged = open_tree(repo.path, repository=repository, staged=True)
    on_disk = open_tree(repo.path, repository=repository)
    assert staged.read("templates/t.yaml").count(b"version") == 2
    assert on_disk.read("templates/t.yaml").count(b"version") == 1
    assert (staged.label, on_disk.label) == ("the index", "the work tree")


def test_gt_014_lint_of_the_index_says_so(build) -> None:
    repo = build("gt-014")
    run = run_process(repo.path, "lint", "--staged", "--no-cache")
    assert run.returncode == 1
    out = run.stdout.decode()
    assert "error[CTX002] duplicate-key" in out
    assert "--> templates/t.yaml:3:1" in out
    assert " in 1 file of the index, " in out
    assert json.loads(run_process(repo.path, "lint", "--staged", "-f", "json").stdout)["head"]["label"] == "the index"
    on_disk = run_process(repo.path, "lint", "--no-cache")
    assert b"CTX002" not in on_disk.stdout
    assert b"of the index" not in on_disk.stdout


def test_gt_015_a_linked_work_tree(build, opened) -> None:
    repo = build("gt-015")
    repository = opened(Repo(repo.path.parent / "wt"))
    base, head = (CommitTree(repository, repository.resolve(name)) for name in ("HEAD", "main"))
    (change,) = changed_paths(base, head)
    assert (change.path, change.status) == ("fragments/a.md", "modified")
