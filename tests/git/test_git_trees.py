"""Reading commits, the index and the work tree of real repositories."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from repos import Repo

from ctxc.base.errors import RevisionError, UnreadableSource
from ctxc.source.changes import Status, changed_paths, git_blob_id, is_same
from ctxc.source.commits import CommitTree, IndexTree
from ctxc.source.opening import open_tree, open_work_tree
from ctxc.source.tree import MAX_FILE_BYTES
from ctxc.source.worktree import WorkTree

LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "ab" * 32 + "\nsize 12345\n"


def test_a_commit_shows_its_files_and_not_the_work_tree(repo: Repo, opened) -> None:
    first = repo.commit("one", {"fragments/a.md": "one\n", "templates/t.yaml": "x: 1\n", "README.md": "hi\n"})
    repo.commit("two", {"fragments/a.md": "two\n"})
    repo.write("fragments/b.md", "not committed\n")
    tree = CommitTree(opened(repo), first, revision="HEAD~1")
    assert tree.label == f"HEAD~1 ({first[:12]})"
    assert tree.list_paths() == ("README.md", "fragments/a.md", "templates/t.yaml")
    assert tree.list_paths(["fragments"]) == ("fragments/a.md",)
    assert tree.list_paths(["fragments/a.md", "templates/"]) == ("fragments/a.md", "templates/t.yaml")
    assert tree.list_paths(["nowhere"]) == ()
    assert tree.list_dir() == ("README.md", "fragments/", "templates/")
    assert tree.list_dir("fragments") == ("a.md",)
    assert tree.read("fragments/a.md") == b"one\n"
    assert tree.blob_id("fragments/a.md") == "git:" + repo.id(f"{first}:fragments/a.md")
    assert tree.exists("README.md")
    assert not tree.exists("fragments/b.md")
    assert not tree.exists("fragments")
    with pytest.raises(UnreadableSource, match="is not in the tree") as caught:
        tree.read("fragments/A.md")
    assert caught.value.help == "write 'fragments/a.md'"
    assert tree.case_variant("Fragments/A.md") == "fragments/a.md"


def test_a_full_id_is_its_own_label(repo: Repo, opened) -> None:
    commit = repo.commit("one", {"a.md": "a"})
    assert CommitTree(opened(repo), commit, revision=commit).label == commit[:12]
    assert CommitTree(opened(repo), commit).label == commit[:12]


def test_a_project_in_a_folder_of_the_repository(repo: Repo, opened) -> None:
    first = repo.commit("one", {"shared.md": "s", "apps/claims/a.md": "one", "apps/other/b.md": "b"})
    repo.link("apps/claims/out.md", "../../shared.md")
    second = repo.commit("two")
    repository = opened(repo)
    prefix = repository.prefix_of(repo.path / "apps/claims")
    assert prefix == "apps/claims"
    for tree in (CommitTree(repository, second, prefix=prefix), IndexTree(repository, prefix=prefix)):
        assert tree.list_paths() == ("a.md",)
        assert tree.read("a.md") == b"one"
        assert [(odd.path, odd.kind) for odd in tree.oddities()] == [("out.md", "link")]
        with pytest.raises(UnreadableSource, match=r"leaves the project: the symbolic link 'out\.md' points to"):
            tree.read("out.md")
    # A folder that the commit does not have yet: everything in it is new.
    before = CommitTree(repository, first, prefix="apps/new")
    assert before.list_paths() == ()
    assert not before.exists("a.md")
    assert before.list_dir() == ()


def test_index_and_work_tree_and_commit_are_three_states(repo: Repo, opened) -> None:
    commit = repo.commit("one", {"a.md": "committed\n"})
    repo.write("a.md", "staged\n")
    repo.git("add", "a.md")
    repo.write("a.md", "on disk\n")
    repo.write("new.md", "untracked\n")
    repository = opened(repo)
    trees = {
        "committed\n": open_tree(repo.path, repository=repository, revision=commit),
        "staged\n": open_tree(repo.path, repository=repository, staged=True),
        "on disk\n": open_tree(repo.path, repository=repository),
    }
    for text, tree in trees.items():
        assert tree.read("a.md") == text.encode()
    assert [tree.label for tree in trees.values()] == [commit[:12], "the index", "the work tree"]
    assert trees["staged\n"].list_paths() == ("a.md",)
    assert trees["on disk\n"].list_paths() == ("a.md", "new.md")
    assert trees["staged\n"].blob_id("a.md") == git_blob_id(b"staged\n")


def test_untracked_is_seen_and_ignored_is_not(repo: Repo, opened) -> None:
    repo.commit("one", {".gitignore": "build/\n*.tmp\n!keep.tmp\n", "fragments/a.md": "a"})
    repo.write("fragments/new.md", "n")
    repo.write("fragments/x.tmp", "t")
    repo.write("fragments/keep.tmp", "k")
    repo.write("build/out.md", "b")
    repo.write("build/deep/out.md", "b")
    (repo.path / ".git/info/exclude").write_text("fragments/private.md\n")
    repo.write("fragments/private.md", "p")
    repo.write("node_modules/x/y.md", "m")
    repo.write(".ctxc/cache/z", "c")
    repository = opened(repo)
    assert repository.untracked("fragments") == ("fragments/keep.tmp", "fragments/new.md")
    assert repository.ignored() == ("build/", "fragments/private.md", "fragments/x.tmp")
    tree = open_work_tree(repo.path, repository)
    assert tree.list_paths() == (".gitignore", "fragments/a.md", "fragments/keep.tmp", "fragments/new.md")
    assert tree.list_paths(["fragments", "build"]) == ("fragments/a.md", "fragments/keep.tmp", "fragments/new.md")
    sub = open_work_tree(repo.path / "fragments", repository)
    assert sub.list_paths() == ("a.md", "keep.tmp", "new.md")
    # Without a repository nothing is known about ignored files.
    assert "build/out.md" in WorkTree(repo.path).list_paths()


def test_a_project_that_is_ignored_as_a_whole_is_listed(repo: Repo, opened) -> None:
    repo.commit("one", {".gitignore": "scratch/\n"})
    repo.write("scratch/project/fragments/a.md", "a")
    tree = open_work_tree(repo.path / "scratch/project", opened(repo))
    assert tree.list_paths() == ("fragments/a.md",)


@pytest.mark.parametrize("kind", ["commit", "index", "work tree"])
def test_links_are_followed_inside_the_tree_only(repo: Repo, opened, kind: str) -> None:
    repo.commit("one", {"fragments/core/policy.md": "policy", "other/x.md": "x"})
    repo.link("in.md", "fragments/core/policy.md")
    repo.link("fragments/up.md", "../other/x.md")
    repo.link("alias", "fragments/core")
    repo.link("out.md", "../outside.md")
    repo.link("abs.md", "/etc/passwd")
    repo.link("loop-a", "loop-b")
    repo.link("loop-b", "loop-a")
    repo.link("self", ".")
    repo.link("config.md", ".git/config")
    repo.link("gone.md", "nowhere.md")
    (repo.path.parent / "outside.md").write_text("secret")
    commit = repo.commit("links")
    repository = opened(repo)
    tree = {
        "commit": lambda: CommitTree(repository, commit),
        "index": lambda: IndexTree(repository),
        "work tree": lambda: open_work_tree(repo.path, repository),
    }[kind]()
    assert tree.list_paths() == (
        "alias/policy.md",
        "fragments/core/policy.md",
        "fragments/up.md",
        "in.md",
        "other/x.md",
    )
    assert tree.read("in.md") == b"policy"
    assert tree.read("alias/policy.md") == b"policy"
    assert tree.read("fragments/up.md") == b"x"
    assert tree.read("self/self/in.md") == b"policy"
    assert tree.blob_id("in.md") == tree.blob_id("fragments/core/policy.md")
    assert {odd.path: odd.reason.split(":")[0] for odd in tree.oddities()} == {
        "abs.md": "leaves the project",
        "config.md": "cannot be followed",
        "gone.md": "is or goes through a symbolic link to 'nowhere.md', which is not in the tree",
        "loop-a": "goes through more than 8 symbolic links; the last is 'loop-a'",
        "loop-b": "goes through more than 8 symbolic links; the last is 'loop-b'",
        "out.md": "leaves the project",
        "self": "links to a folder that contains it; the folder is listed once",
    }
    for path in ("abs.md", "config.md", "gone.md", "loop-a", "out.md"):
        with pytest.raises(UnreadableSource):
            tree.read(path)
        assert not tree.exists(path)


@pytest.mark.parametrize("hops", [8, 9])
def test_eight_hops_are_followed_and_nine_are_not(repo: Repo, opened, hops: int) -> None:
    repo.write("end.md", "end")
    for number in range(1, hops + 1):
        repo.link(f"l{number}", "end.md" if number == 1 else f"l{number - 1}")
    commit = repo.commit("links")
    for tree in (CommitTree(opened(repo), commit), WorkTree(repo.path)):
        if hops == 8:
            assert tree.read("l8") == b"end"
        else:
            with pytest.raises(UnreadableSource, match=r"more than 8 symbolic links; the last is 'l1'"):
                tree.read("l9")


def test_a_git_lfs_pointer_is_not_content(repo: Repo, opened) -> None:
    commit = repo.commit(
        "one", {"big.md": LFS, "about.md": "version https://git-lfs.github.com/spec/v1 is a pointer\n"}
    )
    for tree in (CommitTree(opened(repo), commit), WorkTree(repo.path)):
        with pytest.raises(UnreadableSource, match=r"'big\.md' is a Git LFS pointer, not the content") as caught:
            tree.read("big.md")
        assert "git lfs pull" in caught.value.help
        assert tree.read("about.md").startswith(b"version")
        assert tree.exists("big.md")
        answers = dict(tree.read_each(["big.md", "about.md"]))
        assert isinstance(answers["big.md"], UnreadableSource)
        assert isinstance(answers["about.md"], bytes)


def test_a_submodule_is_named_and_not_entered(repo: Repo, opened, tmp_path: Path) -> None:
    library = Repo(tmp_path / "library")
    library.commit("lib", {"x.md": "x"})
    repo.commit("one", {"a.md": "a"})
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library.path.as_uri(), "vendor/lib")
    commit = repo.commit("submodule")
    repository = opened(repo)
    for tree in (CommitTree(repository, commit), IndexTree(repository), open_work_tree(repo.path, repository)):
        assert tree.list_paths() == (".gitmodules", "a.md")
        (odd,) = tree.oddities()
        assert (odd.path, odd.kind) == ("vendor/lib", "submodule")
        with pytest.raises(UnreadableSource, match="not part of this project"):
            tree.read("vendor/lib/x.md")
    # Inside the sub-module `.git` is a file, and its own files are there.
    inside = opened(Repo(repo.path / "vendor/lib"))
    assert inside.place.git_dir == (repo.path / ".git/modules/vendor/lib").resolve()
    assert inside.head() == library.id()
    assert open_work_tree(repo.path / "vendor/lib", inside).list_paths() == ("x.md",)


def test_names_that_are_not_utf8_are_reported(repo: Repo, opened) -> None:
    odd = os.fsencode(repo.path) + b"/caf\xe9.md"
    try:
        with open(odd, "wb") as handle:
            handle.write(b"x")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    commit = repo.commit("one", {"a.md": "a", "docs ü/設計 メモ.md": "one\n"})
    repository = opened(repo)
    for tree in (CommitTree(repository, commit), IndexTree(repository), open_work_tree(repo.path, repository)):
        assert tree.list_paths() == ("a.md", "docs ü/設計 メモ.md")
        (oddity,) = tree.oddities()
        assert (oddity.path, oddity.kind, oddity.reason) == (
            "caf\\xe9.md",
            "name",
            "has a name that is not valid UTF-8",
        )
        assert tree.read("docs ü/設計 メモ.md") == b"one\n"


def test_a_file_in_conflict_is_an_oddity_of_the_index(repo: Repo, opened) -> None:
    repo.commit("base", {"a.md": "one\n", "b.md": "b\n"})
    repo.git("checkout", "-q", "-b", "other")
    repo.commit("theirs", {"a.md": "two\n"})
    repo.git("checkout", "-q", "main")
    repo.commit("ours", {"a.md": "three\n"})
    with pytest.raises(AssertionError):
        repo.git("merge", "other")
    tree = IndexTree(opened(repo))
    assert tree.list_paths() == ("b.md",)
    assert [(odd.path, odd.kind) for odd in tree.oddities()] == [("a.md", "unmerged")]
    with pytest.raises(UnreadableSource, match="unresolved merge conflict"):
        tree.read("a.md")


def test_limits_hold_for_blobs(repo: Repo, opened) -> None:
    files = {"at.md": b"x" * MAX_FILE_BYTES, "over.md": b"y" * (MAX_FILE_BYTES + 1), "a.md": b"a"}
    commit = repo.commit("one", files)
    for tree in (CommitTree(opened(repo), commit), WorkTree(repo.path)):
        answers = dict(tree.read_each(["over.md", "at.md", "a.md"]))
        assert list(answers) == ["over.md", "at.md", "a.md"]
        assert str(answers["over.md"]) == "'over.md' has 1,048,577 bytes, more than the limit of 1,048,576 bytes"
        assert answers["at.md"] == files["at.md"]
        assert answers["a.md"] == b"a"
        assert len(tree.read("over.md", limit=2 * MAX_FILE_BYTES)) == MAX_FILE_BYTES + 1
        with pytest.raises(UnreadableSource, match="more than the limit"):
            tree.read("over.md")  # also when its bytes are at hand from the larger reading
        with pytest.raises(ValueError, match="a read may ask for"):
            tree.read("a.md", limit=1 << 30)


def test_a_huge_blob_is_refused_without_being_read(repo: Repo, opened) -> None:
    place = repo.write("huge.bin", b"")
    with place.open("r+b") as handle:
        handle.truncate(80 << 20)
    commit = repo.commit("huge", {"a.md": "a", "b.md": "b"})
    tree = CommitTree(opened(repo), commit)
    answers = dict(tree.read_each(["a.md", "huge.bin", "b.md"]))
    assert answers["a.md"] == b"a"
    assert answers["b.md"] == b"b"
    assert str(answers["huge.bin"]).startswith("'huge.bin' has 83,886,080 bytes, more than")


def test_two_thousand_blobs_come_in_one_process(repo: Repo, opened, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {f"fragments/g{number % 20}/f{number}.md": f"text {number}\n" * 20 for number in range(2000)}
    commit = repo.commit("many", files)
    repository = opened(repo)
    started: list[tuple[str, ...]] = []
    start = repository._git.start
    monkeypatch.setattr(repository._git, "start", lambda *words: (started.append(words), start(*words))[1])
    tree = CommitTree(repository, commit)
    paths = tree.list_paths(["fragments"])
    assert len(paths) == 2000
    assert tree.read_many(paths) == {path: files[path].encode() for path in paths}
    assert started == [("cat-file", "--batch")]


def test_sha256_repositories(tmp_path: Path, opened) -> None:
    repo = Repo(tmp_path / "repo", options=("--object-format=sha256",))
    commit = repo.commit("one", {"d/a.md": "a\n"})
    repository = opened(repo)
    assert len(commit) == 64
    assert repository.resolve("main") == commit
    assert repository.object_format() == "sha256"
    tree = CommitTree(repository, commit)
    assert tree.read("d/a.md") == b"a\n"
    assert tree.blob_id("d/a.md") == git_blob_id(b"a\n", 64)
    assert changed_paths(tree, open_work_tree(repo.path, repository)) == ()


def test_changes_between_commits(repo: Repo, opened) -> None:
    old = repo.commit(
        "one", {"keep.md": "k", "edit.md": "1", "gone.md": "unique", "move/here.md": "moved text", "t.md": "x"}
    )
    repo.git("mv", "move/here.md", "there.md")
    repo.git("rm", "-q", "gone.md")
    (repo.path / "t.md").chmod(0o755)
    new = repo.commit("two", {"edit.md": "2", "new.md": "n"})
    repository = opened(repo)
    base, head = CommitTree(repository, old), CommitTree(repository, new)
    assert [(c.path, c.status, c.old_path) for c in changed_paths(base, head)] == [
        ("edit.md", Status.MODIFIED, "edit.md"),
        ("gone.md", Status.REMOVED, "gone.md"),
        ("new.md", Status.ADDED, ""),
        ("there.md", Status.RENAMED, "move/here.md"),
    ]
    assert [c.path for c in changed_paths(base, head, ["move", "there.md"])] == ["there.md"]
    assert [(c.path, c.status) for c in changed_paths(head, base, ["move"])] == [("move/here.md", Status.ADDED)]
    repo.git("revert", "--no-edit", "HEAD")
    back = CommitTree(repository, repository.resolve("main"))
    assert changed_paths(base, back) == ()
    assert is_same(base, back)


def test_a_link_counts_as_the_file_behind_it(repo: Repo, opened) -> None:
    repo.link("alias.md", "real.md")
    old = repo.commit("one", {"real.md": "1"})
    new = repo.commit("two", {"real.md": "2"})
    repository = opened(repo)
    changes = changed_paths(CommitTree(repository, old), CommitTree(repository, new))
    assert [(c.path, c.status) for c in changes] == [("alias.md", Status.MODIFIED), ("real.md", Status.MODIFIED)]


def test_equal_trees_are_compared_by_id_alone(repo: Repo, opened, monkeypatch: pytest.MonkeyPatch) -> None:
    first = repo.commit("one", {"a.md": "1"})
    second = repo.commit("empty")
    repository = opened(repo)
    base, head = CommitTree(repository, first), CommitTree(repository, second)
    monkeypatch.setattr(CommitTree, "list_paths", lambda *_: pytest.fail("listed although the tree ids are equal"))
    assert changed_paths(base, head) == ()


def test_a_work_tree_under_autocrlf_is_clean(repo: Repo, opened) -> None:
    repo.commit("one", {"a.md": "one\ntwo\n", "b.md": "b\n"})
    repo.git("config", "core.autocrlf", "true")
    repo.write("a.md", b"one\r\ntwo\r\n")
    repository = opened(repo)
    head = CommitTree(repository, repository.head())
    work = open_work_tree(repo.path, repository)
    (change,) = changed_paths(head, work)
    assert (change.path, change.status, change.line_endings) == ("a.md", Status.MODIFIED, True)
    assert is_same(head, work)
    repo.write("b.md", b"b\r\nmore\r\n")
    work = open_work_tree(repo.path, repository)
    assert [c.line_endings for c in changed_paths(head, work)] == [True, False]
    assert not is_same(head, work)


def test_the_file_mode_is_no_content(repo: Repo, opened) -> None:
    repo.commit("one", {"a.md": "a"})
    (repo.path / "a.md").chmod(0o755)
    repository = opened(repo)
    assert is_same(CommitTree(repository, repository.head()), open_work_tree(repo.path, repository))


def test_an_empty_repository(repo: Repo, opened) -> None:
    repository = opened(repo)
    assert repository.head() is None
    assert repository.branch() == "refs/heads/main"
    assert IndexTree(repository).list_paths() == ()
    with pytest.raises(RevisionError, match="'HEAD' is not a revision of this repository"):
        repository.resolve("HEAD")


def test_a_tree_without_a_repository_has_no_revisions(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("a")
    assert open_tree(tmp_path).read("a.md") == b"a"
    with pytest.raises(RevisionError, match="is not inside a git repository"):
        open_tree(tmp_path, revision="HEAD")
    with pytest.raises(RevisionError, match="the index cannot be read"):
        open_tree(tmp_path, staged=True)
