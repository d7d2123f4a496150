"""Naming revisions: what resolves, what is refused, and what is said where objects are not in the clone."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from repos import Repo

from ctxc.base.errors import RevisionError, UnreadableSource
from ctxc.source.commits import CommitTree
from ctxc.source.git import Repository


@pytest.fixture
def history(repo: Repo) -> Repo:
    repo.commit("one", {"a.md": "1"})
    repo.commit("two", {"a.md": "2"})
    repo.git("tag", "-a", "v1", "-m", "release")
    repo.git("branch", "feature/x", "HEAD~1")
    return repo


def test_whatever_rev_parse_takes(history: Repo, opened) -> None:
    repository = opened(history)
    head, first = history.id(), history.id("HEAD~1")
    for name in ("HEAD", "main", "refs/heads/main", "v1", "v1^{}", "@", head, head[:8], ":/two", "main@{0}"):
        assert repository.resolve(name) == head, name
    for name in ("HEAD~1", "HEAD^", "feature/x", "v1~1", "HEAD^{/one}"):
        assert repository.resolve(name) == first, name
    assert repository.head() == head
    assert repository.branch() == "refs/heads/main"
    assert repository.merge_base(head, first) == first
    assert repository.commit(head).parents[0] == first
    assert repository.commit(first).parents == ()


@pytest.mark.parametrize(
    "name", ["", "--output=pwned", "-1", "--all", "a\nb", "HEAD\0", "\x1b[31mHEAD", "x" * 2000, "\udcff", "-"]
)
def test_what_cannot_be_a_revision(history: Repo, opened, name: str) -> None:
    with pytest.raises(RevisionError, match=r"cannot be a revision|not valid UTF-8") as caught:
        opened(history).resolve(name)
    assert "\x1b" not in caught.value.message
    assert "\n" not in caught.value.message
    assert not list(history.path.glob("pwned*"))


@pytest.mark.parametrize("name", ["HEAD:a.md", "HEAD^{tree}", "HEAD~9", "nope", "v1^3"])
def test_what_is_no_commit(history: Repo, opened, name: str) -> None:
    with pytest.raises(RevisionError, match="is not a revision of this repository"):
        opened(history).resolve(name)


def test_a_misspelt_name_gets_a_suggestion(history: Repo, opened) -> None:
    with pytest.raises(RevisionError) as caught:
        opened(history).resolve("mian")
    assert caught.value.help == "did you mean 'main'?"
    with pytest.raises(RevisionError) as caught:
        opened(history).resolve("feature/y~2")
    assert caught.value.help == "did you mean 'feature/x'?"


def test_a_range_is_two_arguments(history: Repo, opened) -> None:
    with pytest.raises(RevisionError, match="is a range, not a revision") as caught:
        opened(history).resolve("main..HEAD")
    assert "ctxc diff BASE HEAD" in caught.value.help


def test_an_ambiguous_name_is_an_error(history: Repo, opened) -> None:
    history.git("tag", "main", "HEAD~1")
    with pytest.raises(RevisionError, match="'main' is ambiguous") as caught:
        opened(history).resolve("main")
    assert caught.value.help == "write 'refs/heads/main' or 'refs/tags/main'"
    assert opened(history).resolve("refs/heads/main") == history.id("refs/heads/main")
    assert opened(history).resolve("refs/tags/main") == history.id("refs/tags/main")
    # A tag that is called HEAD is not HEAD.
    shutil.copy(history.path / ".git/refs/tags/main", history.path / ".git/refs/tags/HEAD")
    assert opened(history).resolve("HEAD") == history.id("refs/heads/main")
    assert opened(history).head() == history.id("refs/heads/main")


def test_a_branch_whose_name_is_an_option(history: Repo, opened) -> None:
    first = history.id("HEAD~1")
    place = history.path / ".git/refs/heads/--output=x"
    place.write_text(first + "\n")
    with pytest.raises(RevisionError, match="cannot be a revision"):
        opened(history).resolve("--output=x")
    assert opened(history).resolve("refs/heads/--output=x") == first
    assert not (history.path / "x").exists()


def test_detached_head(history: Repo, opened) -> None:
    history.git("checkout", "-q", "--detach", "HEAD~1")
    repository = opened(history)
    assert repository.branch() is None
    assert repository.head() == history.id("main~1")
    assert repository.resolve("HEAD") == history.id("main~1")


def test_a_shallow_clone_says_what_is_missing(history: Repo, opened, tmp_path: Path) -> None:
    clone = history.clone(tmp_path / "clone", "--depth=1")
    repository = opened(clone)
    assert repository.is_shallow()
    head, first = history.id(), history.id("HEAD~1")
    assert CommitTree(repository, repository.resolve("HEAD")).read("a.md") == b"2"
    with pytest.raises(RevisionError) as caught:
        repository.resolve("HEAD~1")
    assert "'HEAD~1' is not a revision of this clone, which is shallow" in caught.value.message
    for remedy in ("fetch-depth: 0", "git fetch --deepen", "git fetch --unshallow"):
        assert remedy in caught.value.help
    # The commit object itself names the parent.
    assert repository.commit(head).parents[0] == first
    assert not repository.has_commit(first)
    with pytest.raises(RevisionError) as caught:
        CommitTree(repository, first)
    assert f"commit {first[:12]} is not in this clone, which is shallow" in caught.value.message
    assert first in caught.value.message
    assert "fetch-depth: 0" in caught.value.help


def test_unrelated_missing_objects_do_not_matter(history: Repo, opened) -> None:
    commit = history.commit("three", {"b.md": "unrelated", "a.md": "3"})
    blob = history.id("HEAD:b.md")
    place = history.path / ".git/objects" / blob[:2] / blob[2:]
    place.chmod(0o644)
    place.unlink()
    repository = opened(history)
    tree = CommitTree(repository, commit, revision="HEAD")
    assert tree.list_paths() == ("a.md", "b.md")
    assert tree.read("a.md") == b"3"
    with pytest.raises(RevisionError) as caught:
        tree.read("b.md")
    assert f"'b.md' of HEAD ({commit[:12]}) is not in this repository (object {blob})" == caught.value.message
    assert "git fsck" in caught.value.help
    assert tree.read("a.md") == b"3"
    with pytest.raises(RevisionError):
        list(tree.read_each(["a.md", "b.md"]))


def test_a_partial_clone_fetches_nothing(history: Repo, opened, tmp_path: Path) -> None:
    history.git("config", "uploadpack.allowFilter", "true")
    clone = history.clone(tmp_path / "clone", "--filter=blob:none", "--no-checkout")
    marker = tmp_path / "marker"
    clone.git("config", "remote.origin.uploadpack", f"touch {marker}; git-upload-pack")
    clone.git("config", "core.sshCommand", f"touch {marker}")
    repository = opened(clone)
    commit = repository.resolve("HEAD")
    tree = CommitTree(repository, commit, revision="HEAD")
    assert tree.list_paths() == ("a.md",)
    with pytest.raises(RevisionError, match=r"'a\.md' of HEAD") as caught:
        tree.read("a.md")
    assert "--refetch" in caught.value.help
    assert not marker.exists()
    assert repository.head() == commit  # git died of the missing object; another one answers


def test_a_repository_that_git_cannot_read(history: Repo, opened) -> None:
    (history.path / ".git/config").write_text("[core\n")
    with pytest.raises(RevisionError) as caught:
        opened(history).resolve("HEAD")
    assert "bad config" in caught.value.message


def test_a_damaged_tree_object(history: Repo, opened) -> None:
    tree = history.id("HEAD^{tree}")
    place = history.path / ".git/objects" / tree[:2] / tree[2:]
    place.chmod(0o644)
    place.write_bytes(b"garbage")
    with pytest.raises((RevisionError, UnreadableSource)):
        CommitTree(opened(history), history.id("main")).list_paths()


def test_no_git_on_path(history: Repo, tmp_path: Path) -> None:
    with pytest.raises(RevisionError, match="git is not installed"):
        Repository.discover(history.path, environ={"PATH": str(tmp_path)})


def test_a_git_inside_the_project_is_not_run(history: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    marker = tmp_path / "marker"
    evil = history.write("git", f"#!/bin/sh\ntouch {marker}\n")
    evil.chmod(0o755)
    monkeypatch.chdir(history.path)
    path = os.pathsep.join(["", ".", "bin", history.environ["PATH"]])
    repository = Repository.discover(history.path, environ={"PATH": path})
    assert repository is not None
    assert repository.resolve("HEAD") == history.id()
    repository.close()
    assert not marker.exists()


def test_there_is_no_repository(tmp_path: Path) -> None:
    assert Repository.discover(tmp_path, environ={}) is None


def test_a_slow_git_is_stopped(history: Repo, opened, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setattr("ctxc.source.process.TIMEOUT_SECONDS", 0.2)
    monkeypatch.setattr("ctxc.source.objects.TIMEOUT_SECONDS", 0.2)
    environ = {"PATH": f"{slow.parent}{os.pathsep}{history.environ['PATH']}"}
    repository = Repository.discover(history.path, environ=environ)
    assert repository is not None
    with pytest.raises(RevisionError, match=r"`git rev-parse` did not end within"):
        repository.resolve("HEAD")
    with pytest.raises(RevisionError, match="git did not answer within"):
        repository.head()
    repository.close()


def test_output_is_capped(history: Repo, opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxc.source.process.MAX_OUTPUT_BYTES", 10)
    with pytest.raises(RevisionError, match="`git ls-files` wrote more than 10 bytes"):
        opened(history).index_entries()
