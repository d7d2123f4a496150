"""Finding the repository: work trees, sub-modules, bare repositories, hooks, other people's repositories."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from repos import Repo

from ctxc.base.errors import RevisionError, UsageError
from ctxc.source import gitdir, ownership
from ctxc.source.commits import CommitTree, IndexTree
from ctxc.source.git import Repository
from ctxc.source.opening import open_work_tree

posix = pytest.mark.skipif(sys.platform == "win32", reason="user ids are POSIX")


def discover(path: Path, repo: Repo, **more: str) -> Repository:
    found = Repository.discover(path, environ={**repo.environ, **more})
    assert found is not None
    return found


def test_from_any_folder_below(repo: Repo, opened) -> None:
    repo.commit("one", {"a/b/c.md": "c"})
    for folder in ("", "a", "a/b", ".git", ".git/hooks"):
        with discover(repo.path / folder, repo) as repository:
            assert repository.place.work_tree == repo.path.resolve()
            assert repository.place.git_dir == (repo.path / ".git").resolve()
            assert repository.place.notes == ()
    with pytest.raises(UsageError, match="is not inside the repository"):
        opened(repo).prefix_of(repo.path.parent)


def test_a_linked_work_tree(repo: Repo, opened) -> None:
    first = repo.commit("one", {"a.md": "1"})
    second = repo.commit("two", {"a.md": "2"})
    linked = repo.path.parent / "linked"
    repo.git("worktree", "add", "-q", "--detach", str(linked), first)
    (linked / "b.md").write_text("staged there")
    Repo(linked).git("add", "b.md")
    with discover(linked, repo) as repository:
        assert (linked / ".git").is_file()
        assert repository.place.common_dir == (repo.path / ".git").resolve()
        assert repository.head() == first
        assert repository.resolve("main") == second
        assert CommitTree(repository, repository.resolve("main")).read("a.md") == b"2"
        assert IndexTree(repository).list_paths() == ("a.md", "b.md")
        assert open_work_tree(linked, repository).read("a.md") == b"1"
        # What git sets for a hook that runs in the linked work tree.
        git_dir = str(repo.path / ".git/worktrees/linked")
    with discover(linked, repo, GIT_DIR=git_dir, GIT_INDEX_FILE=f"{git_dir}/index") as repository:
        assert repository.place.notes == ()
        assert IndexTree(repository).list_paths() == ("a.md", "b.md")


@pytest.mark.parametrize(
    "text", ["", "gitdir:", "gitdir: \n", "nonsense\n", "gitdir: ../nowhere\n", "gitdir: " + "x" * 9000]
)
def test_a_git_file_that_names_nothing(tmp_path: Path, repo: Repo, text: str) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other/.git").write_text(text)
    with pytest.raises(RevisionError, match=r"\.git'"):
        Repository.discover(tmp_path / "other", environ=repo.environ)


def test_an_empty_git_folder_is_passed_over(repo: Repo) -> None:
    repo.commit("one", {"sub/a.md": "a"})
    (repo.path / "sub/.git").mkdir()
    with discover(repo.path / "sub", repo) as repository:
        assert repository.place.work_tree == repo.path.resolve()


def test_a_bare_repository_is_used_only_where_it_is_named(repo: Repo, tmp_path: Path) -> None:
    commit = repo.commit("one", {"a.md": "a"})
    bare = tmp_path / "bare.git"
    repo.git("clone", "-q", "--bare", str(repo.path), str(bare))
    with pytest.raises(RevisionError, match="is a bare repository") as caught:
        Repository.discover(bare, environ=repo.environ)
    assert "GIT_DIR=" in caught.value.help
    # As in its own hooks, which run inside it with GIT_DIR=. and, in pre-receive, a quarantine.
    quarantine = {"GIT_QUARANTINE_PATH": str(bare / "objects/q"), "GIT_OBJECT_DIRECTORY": str(bare / "objects")}
    with discover(bare, repo, GIT_DIR=".", **quarantine) as repository:
        assert repository.place.work_tree is None
        assert repository.place.extra == {
            "GIT_OBJECT_DIRECTORY": str(bare / "objects"),
            "GIT_QUARANTINE_PATH": str(bare / "objects/q"),
        }
        assert CommitTree(repository, repository.resolve("main")).read("a.md") == b"a"
        assert repository.head() == commit
        assert repository.untracked() == ()


def test_git_dir_for_a_folder_outside_any_repository(repo: Repo, tmp_path: Path) -> None:
    repo.commit("one", {"a.md": "a"})
    away = tmp_path / "away"
    away.mkdir()
    (away / "new.md").write_text("n")
    with discover(away, repo, GIT_DIR=str(repo.path / ".git"), GIT_WORK_TREE=str(away)) as repository:
        assert repository.place.work_tree == away.resolve()
        assert repository.untracked() == ("new.md",)
        assert len(repository.place.notes) == 1
    with pytest.raises(RevisionError, match="GIT_DIR names"):
        Repository.discover(away, environ={**repo.environ, "GIT_DIR": "nowhere"})


def test_the_environment_of_a_hook(repo: Repo) -> None:
    repo.commit("one", {"a.md": "committed"})
    repo.write("a.md", "staged")
    # `git commit PATH` prepares another index and names it, relative to the top of the work tree.
    repo.git("add", "a.md", env={"GIT_INDEX_FILE": ".git/next-index-1.lock"})
    before = (repo.path / ".git/config").read_bytes()
    (repo.path / "sub").mkdir()
    for folder in ("", "sub"):
        hook = {"GIT_DIR": ".git", "GIT_INDEX_FILE": ".git/next-index-1.lock", "GIT_WORK_TREE": ".", "GIT_PREFIX": ""}
        with discover(repo.path / folder, repo, **hook) as repository:
            assert repository.place.notes == ()
            assert IndexTree(repository).read("a.md") == b"staged"
            assert open_work_tree(repo.path, repository).list_paths() == ("a.md",)
    with discover(repo.path, repo, GIT_INDEX_FILE=".git/index") as repository:
        assert IndexTree(repository).read("a.md") == b"committed"
    assert (repo.path / ".git/config").read_bytes() == before


def test_a_hook_of_another_repository(repo: Repo, tmp_path: Path) -> None:
    repo.commit("one", {"a.md": "mine"})
    other = Repo(tmp_path / "other")
    other.commit("one", {"b.md": "theirs"})
    before = [(place.path / ".git/config").read_bytes() for place in (repo, other)]
    foreign = {"GIT_DIR": str(other.path / ".git"), "GIT_INDEX_FILE": str(other.path / ".git/index")}
    with discover(repo.path, repo, **foreign, GIT_WORK_TREE=str(other.path)) as repository:
        assert repository.place.work_tree == repo.path.resolve()
        (note,) = repository.place.notes
        assert note.startswith(f"GIT_DIR='{other.path}/.git' is another repository; the one of this folder is used")
        assert IndexTree(repository).list_paths() == ("a.md",)
        assert repository.head() == repo.id()
    with discover(repo.path, repo, GIT_INDEX_FILE=foreign["GIT_INDEX_FILE"]) as repository:
        assert "belongs to another repository" in repository.place.notes[0]
        assert IndexTree(repository).list_paths() == ("a.md",)
    assert [(place.path / ".git/config").read_bytes() for place in (repo, other)] == before


def test_an_index_of_a_tool_outside_any_repository(repo: Repo, tmp_path: Path) -> None:
    repo.commit("one", {"a.md": "a"})
    repo.write("b.md", "b")
    index = tmp_path / "index"
    repo.git("add", "b.md", env={"GIT_INDEX_FILE": str(index)})
    with discover(repo.path, repo, GIT_INDEX_FILE=str(index)) as repository:
        assert IndexTree(repository).list_paths() == ("b.md",)


@posix
class TestOwner:
    """Another user's repository, by the user ids that the check sees."""

    @pytest.fixture(autouse=True)
    def stranger(self, monkeypatch: pytest.MonkeyPatch) -> None:
        me = os.geteuid() + 1000
        monkeypatch.setattr(ownership.os, "geteuid", lambda: me)

    @pytest.fixture
    def home(self, tmp_path: Path) -> Path:
        place = tmp_path / "home"
        place.mkdir()
        return place

    def configure(self, home: Path, *values: str) -> None:
        lines = "".join(f"\tdirectory = {value}\n" for value in values)
        (home / ".gitconfig").write_text(f"[safe]\n{lines}")

    def test_it_is_refused(self, repo: Repo, home: Path) -> None:
        repo.commit("one", {"a.md": "a"})
        with pytest.raises(RevisionError) as caught:
            Repository.discover(repo.path, environ={**repo.environ, "HOME": str(home)})
        assert f"the repository '{repo.path.resolve()}' belongs to another user" in caught.value.message
        assert "not a git repository" not in caught.value.message
        assert "--trust-repository" in caught.value.help
        assert f"git config --global --add safe.directory '{repo.path.resolve()}'" in caught.value.help
        assert list(home.iterdir()) == []

    def test_trust_is_given_on_the_command_line(self, repo: Repo) -> None:
        commit = repo.commit("one", {"a.md": "a"})
        with Repository.discover(repo.path, environ=repo.environ, trust=True) as repository:
            assert repository.head() == commit

    @pytest.mark.parametrize(
        ("values", "trusted"),
        [
            (["REPO"], True),
            (["*"], True),
            (["PARENT/*"], True),
            (["~/../repo"], True),
            (["REPO", ""], False),
            (["", "REPO"], True),
            (["REPO/.git"], False),
            (["REPO/sub"], False),
            (["repo"], False),
            (["/elsewhere/*"], False),
            ([], False),
        ],
    )
    def test_the_users_own_safe_directory(self, repo: Repo, home: Path, values: list[str], trusted: bool) -> None:
        repo.commit("one", {"a.md": "a"})
        path = repo.path.resolve()
        named = [value.replace("REPO", str(path)).replace("PARENT", str(path.parent)) for value in values]
        self.configure(home, *(value or '""' for value in named))
        environ = {name: value for name, value in repo.environ.items() if name != "GIT_CONFIG_GLOBAL"}
        environ["HOME"] = str(home)
        if trusted:
            with Repository.discover(repo.path, environ=environ) as repository:
                assert repository.head() is not None
        else:
            with pytest.raises(RevisionError, match="belongs to another user"):
                Repository.discover(repo.path, environ=environ)

    def test_the_repository_cannot_declare_itself_safe(self, repo: Repo, home: Path) -> None:
        repo.commit("one", {"a.md": "a"})
        repo.git("config", "safe.directory", "*")
        with pytest.raises(RevisionError, match="belongs to another user"):
            Repository.discover(repo.path, environ={**repo.environ, "HOME": str(home)})

    def test_the_environment_of_the_command_may(self, repo: Repo) -> None:
        repo.commit("one", {"a.md": "a"})
        more = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
        with discover(repo.path, repo, **more) as repository:
            assert repository.head() is not None


@posix
def test_root_under_sudo_is_also_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ownership.os, "geteuid", lambda: 0)
    assert ownership.own_ids({"SUDO_UID": "1000"}) == {0, 1000}
    assert ownership.own_ids({"SUDO_UID": "root"}) == {0}
    assert ownership.own_ids({}) == {0}
    monkeypatch.setattr(ownership.os, "geteuid", lambda: 7)
    assert ownership.own_ids({"SUDO_UID": "1000"}) == {7}


@posix
def test_without_user_ids_git_is_asked(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows has no user ids; the same question is put to git. Needs root, to give a repository away."""
    repo.commit("one", {"a.md": "a"})
    monkeypatch.delattr(ownership.os, "geteuid")
    with discover(repo.path, repo) as repository:
        assert repository.head() is not None
    if os.getuid() != 0:
        pytest.skip("only root can give a repository to another user")
    for place in (repo.path, *repo.path.rglob("*")):
        os.lchown(place, 12345, 12345)
    with pytest.raises(RevisionError, match=r"belongs to another user \(git says so\)") as caught:
        Repository.discover(repo.path, environ=repo.environ)
    assert "safe.directory" in caught.value.help


def test_discovery_starts_no_program(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit("one", {"a.md": "a"})
    monkeypatch.setattr("subprocess.Popen", lambda *_, **__: pytest.fail("a program was started"))
    place = gitdir.find_place(repo.path, repo.environ)
    assert place is not None
    assert Repository.discover(repo.path, environ=repo.environ) is not None
