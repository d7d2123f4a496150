"""A repository that tries to run programs, hide files or write: one test for each threat of git to ctxc itself."""

from __future__ import annotations

import ast
import os
import sys
from pathlib import Path

import pytest
from repos import Repo

import ctxc.source
from ctxc.base.errors import RevisionError, UnreadableSource
from ctxc.source.base_revision import default_base
from ctxc.source.changes import changed_paths
from ctxc.source.commits import CommitTree, IndexTree
from ctxc.source.git import Repository
from ctxc.source.opening import open_work_tree
from ctxc.source.refs import similar_names

HOOKS = ("post-checkout", "reference-transaction", "post-index-change", "pre-auto-gc", "fsmonitor-watchman")


class Hostile:
    """A repository whose configuration, attributes and hooks all create one marker."""

    def __init__(self, repo: Repo, marker: Path) -> None:
        self.repo = repo
        self.marker = marker
        self.first = repo.commit("one", {"a.md": "one\n", "secret.md": "hidden from archives\n"})
        self.second = repo.commit(
            "two", {"a.md": "two\n", ".gitattributes": "*.md diff=e filter=e\nsecret.md export-ignore\n"}
        )
        original = repo.id("HEAD:a.md")
        evil = repo.git("hash-object", "-w", "--stdin", stdin=b"evil\n")
        repo.git("replace", original, evil)
        run = f"touch {marker}"
        for name, value in {
            "core.fsmonitor": run,
            "core.pager": run,
            "pager.rev-parse": run,
            "pager.ls-files": run,
            "core.editor": run,
            "core.sshCommand": run,
            "core.gitProxy": run,
            "core.askPass": run,
            "core.alternateRefsCommand": run,
            "core.hooksPath": ".git/hooks",
            "core.attributesFile": "attributes",
            "credential.helper": f"!{run}",
            "diff.external": run,
            "diff.e.textconv": f"{run}; cat",
            "diff.e.command": run,
            "filter.e.clean": f"{run}; cat",
            "filter.e.smudge": f"{run}; cat",
            "alias.ls-files": f"!{run}",
            "alias.cat-file": f"!{run}",
            "alias.version": f"!{run}",
            "uploadpack.packObjectsHook": run,
            "remote.origin.url": f"ext::sh -c {run}",
            "remote.origin.uploadpack": run,
            "remote.origin.promisor": "true",
            "protocol.allow": "always",
            "safe.bareRepository": "all",
        }.items():
            repo.git("config", name, value)
        for hook in HOOKS:
            place = repo.write(f".git/hooks/{hook}", f"#!/bin/sh\n{run}\n")
            place.chmod(0o755)

    def check(self) -> None:
        """Nothing was run, and the configuration stands as it was."""
        assert not self.marker.exists(), "a program of the repository was run"


@pytest.fixture
def hostile(repo: Repo, tmp_path: Path) -> Hostile:
    return Hostile(repo, tmp_path / "marker")


def use_everything(hostile: Hostile, repository: Repository) -> None:
    """Every operation that ctxc has on a repository."""
    trees = [CommitTree(repository, repository.resolve(name)) for name in ("HEAD~1", "HEAD")]
    trees += [IndexTree(repository), open_work_tree(hostile.repo.path, repository)]
    for tree in trees:
        tree.read_many(tree.list_paths())
        tree.oddities()
    changed_paths(trees[0], trees[3])
    changed_paths(trees[1], trees[2])
    default_base(repository, {"GITHUB_BASE_REF": "main"})
    repository.merge_base(hostile.first, hostile.second)
    repository.is_shallow()
    repository.branch()
    repository.untracked()
    repository.ignored()
    repository.object_format()
    for missing in ("nope", "0" * 40, "HEAD~20"):
        with pytest.raises(RevisionError):
            repository.resolve(missing)
    similar_names(repository.place, "mian")


@pytest.mark.parametrize(
    "command",
    [
        ("status",),
        ("-c", "core.fsmonitor=false", "diff"),
        ("-c", "core.fsmonitor=false", "diff", "--no-ext-diff"),
        ("-c", "core.fsmonitor=false", "hash-object", "a.md"),
        ("-c", "core.fsmonitor=false", "tag", "new"),
    ],
    ids=["fsmonitor", "external-diff", "textconv", "filter", "hook"],
)
def test_the_hostile_repository_is_armed(hostile: Hostile, command: tuple[str, ...]) -> None:
    """The same repository does run its programs for an ordinary git: without that the tests below prove nothing."""
    hostile.repo.write("a.md", "three\n")
    hostile.marker.unlink(missing_ok=True)
    hostile.repo.git(*command)
    assert hostile.marker.exists()


def test_nothing_of_a_hostile_repository_is_run(hostile: Hostile, opened) -> None:
    """T-051, T-052, T-053, T-054, T-055, T-056: external diff, textconv, filters, hooks, ssh, pager and aliases."""
    before = (hostile.repo.path / ".git/config").read_bytes()
    index = (hostile.repo.path / ".git/index").read_bytes()
    hostile.repo.write("a.md", "three\n")
    use_everything(hostile, opened(hostile.repo))
    hostile.check()
    assert (hostile.repo.path / ".git/config").read_bytes() == before
    assert (hostile.repo.path / ".git/index").read_bytes() == index


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc to see what was started")
def test_gitpython_starts_nothing_but_git_version(hostile: Hostile, tmp_path: Path) -> None:
    """The library that suggests names is imported in a process of its own whose every program is a recorder."""
    record = tmp_path / "record"
    recorder = tmp_path / "bin" / "git"
    recorder.parent.mkdir()
    recorder.write_text(f'#!/bin/sh\necho "$*" >> {record}\necho git version 2.39.5\n')
    recorder.chmod(0o755)
    code = (
        "from pathlib import Path\nfrom ctxc.source.gitdir import find_place\nfrom ctxc.source.refs import similar_names\n"
        f"print(similar_names(find_place(Path({str(hostile.repo.path)!r}), {{}}), 'mian'))"
    )
    import subprocess

    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PATH": str(recorder.parent), "HOME": str(tmp_path)},
        cwd=hostile.repo.path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "(\"'main'\",)\n"
    assert set(record.read_text().splitlines()) == {"version"}
    hostile.check()


def test_t047_a_revision_that_is_an_option(hostile: Hostile, opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(hostile.repo.path)
    repository = opened(hostile.repo)
    for name in ("--output=pwned", "--upload-pack=touch pwned", "-Opwned", "--exec=touch pwned"):
        with pytest.raises(RevisionError, match="cannot be a revision"):
            repository.resolve(name)
    for name in ("HEAD --output=pwned", "HEAD^{commit} --output=pwned"):
        with pytest.raises(RevisionError, match="is not a revision"):
            repository.resolve(name)
    assert not list(hostile.repo.path.rglob("pwned*"))
    hostile.check()


def test_t049_no_transport_is_used(hostile: Hostile, opened) -> None:
    """A missing object of a partial clone, whose remote is a command."""
    blob = hostile.repo.id("HEAD~1:a.md")
    place = hostile.repo.path / ".git/objects" / blob[:2] / blob[2:]
    place.chmod(0o644)
    place.unlink()
    hostile.repo.git("config", "extensions.partialClone", "origin")
    hostile.repo.git("config", "core.repositoryFormatVersion", "1")
    repository = opened(hostile.repo)
    with pytest.raises(RevisionError, match=f"object {blob}"):
        CommitTree(repository, hostile.first).read("a.md")
    with pytest.raises(RevisionError, match="is not a revision"):
        repository.resolve(f"ext::sh -c touch% {hostile.marker}")
    hostile.check()


def test_t057_an_embedded_bare_repository(hostile: Hostile) -> None:
    inner = hostile.repo.path / "inner"
    hostile.repo.git("init", "-q", "--bare", str(inner))
    config = (inner / "config").read_text()
    (inner / "config").write_text(config + f"\tfsmonitor = touch {hostile.marker}\n\tworktree = .\n\tbare = false\n")
    repository = Repository.discover(inner, environ=hostile.repo.environ)
    assert repository is not None
    with repository:
        assert repository.place.work_tree == hostile.repo.path.resolve()
        use_everything(hostile, repository)
    hostile.check()


def test_t058_replaced_objects_are_not_seen(hostile: Hostile, opened) -> None:
    assert hostile.repo.git("cat-file", "blob", "HEAD:a.md") == "evil"
    assert CommitTree(opened(hostile.repo), hostile.second).read("a.md") == b"two\n"
    assert IndexTree(opened(hostile.repo)).read("a.md") == b"two\n"


def test_t061_an_lfs_pointer_is_an_error_and_runs_no_filter(hostile: Hostile, opened) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 3\n"
    blob = hostile.repo.git("hash-object", "-w", "--stdin", stdin=pointer.encode())
    hostile.repo.git("update-index", "--add", "--cacheinfo", f"100644,{blob},big.md")
    hostile.marker.unlink(missing_ok=True)
    with pytest.raises(UnreadableSource, match="Git LFS pointer"):
        IndexTree(opened(hostile.repo)).read("big.md")
    hostile.check()


def test_t062_a_partial_clone_reads_what_it_has(hostile: Hostile, opened) -> None:
    hostile.repo.git("config", "extensions.partialClone", "origin")
    hostile.repo.git("config", "core.repositoryFormatVersion", "1")
    repository = opened(hostile.repo)
    tree = CommitTree(repository, repository.resolve("HEAD"))
    assert tree.read("a.md") == b"two\n"
    hostile.check()


def test_t063_export_ignore_hides_nothing(hostile: Hostile, opened) -> None:
    tree = CommitTree(opened(hostile.repo), hostile.second)
    assert tree.list_paths() == (".gitattributes", "a.md", "secret.md")
    assert tree.read("secret.md") == b"hidden from archives\n"


def test_t064_ambiguous_references(hostile: Hostile, opened) -> None:
    hostile.repo.git("tag", "main", "HEAD~1")
    repository = opened(hostile.repo)
    with pytest.raises(RevisionError, match="is ambiguous"):
        repository.resolve("main")
    assert repository.resolve("refs/heads/main") == hostile.second
    # What ctxc looks up itself are whole names of references.
    assert default_base(repository, {}).commit == hostile.second


@pytest.mark.parametrize(
    "name", ["a\n100644 blob " + "0" * 40 + "\tb.md", 'quo"ted.md', "tab\there.md", "back\\slash.md"]
)
def test_t065_a_name_with_a_line_end_is_one_name(repo: Repo, opened, name: str) -> None:
    blob = repo.git("hash-object", "-w", "--stdin", stdin=b"x")
    records = f"100644 blob {blob}\t{name}\0" + f"100644 blob {blob}\tok.md\0"
    tree = repo.git("mktree", "-z", stdin=records.encode())
    commit = repo.git("commit-tree", "-m", "odd", tree)
    repo.git("read-tree", tree)
    repository = opened(repo)
    for found in (CommitTree(repository, commit), IndexTree(repository)):
        odd = found.oddities()
        refused = name != 'quo"ted.md'
        assert found.list_paths() == (("ok.md",) if refused else ("ok.md", 'quo"ted.md'))
        assert len(odd) == (1 if refused else 0)
        assert all("\n" not in oddity.path and "\t" not in oddity.path for oddity in odd)


def raw_tree(*entries: tuple[str, bytes, str]) -> bytes:
    """A tree object as bytes, with names that no git command would write."""
    return b"".join(mode.encode() + b" " + name + b"\0" + bytes.fromhex(oid) for mode, name, oid in entries)


def test_trees_that_no_git_would_write(repo: Repo, opened) -> None:
    blob = repo.git("hash-object", "-w", "--stdin", stdin=b"x")
    sub = repo.git("mktree", "-z", stdin=f"100644 blob {blob}\tin.md\0".encode())
    data = raw_tree(
        ("100644", b"..", blob),
        ("100644", b".", blob),
        ("40000", b".git", sub),
        ("40000", b".GIT", sub),
        ("40000", ".g\u200cit".encode(), sub),
        ("100644", b"a/b.md", blob),
        ("100644", b"ok.md", blob),
        ("100644", b"ok.md", sub),
        ("160000", b"module", blob),
        ("10644", b"odd-mode.md", blob),
        ("40000", b"git~1", sub),
        ("100644", b"n" * 100_000, blob),
    )
    tree = repo.git("hash-object", "-t", "tree", "-w", "--stdin", "--literally", stdin=data)
    commit = repo.git("commit-tree", "-m", "odd", tree)
    found = CommitTree(opened(repo), commit)
    assert found.list_paths() == ("ok.md",)
    assert found.read("ok.md") == b"x"
    assert {odd.path: odd.kind for odd in found.oddities()} == {
        ".": "name",
        "..": "name",
        ".GIT": "name",
        ".g\u200cit": "name",
        "a\\x2fb.md": "name",
        "git~1": "name",
        "module": "submodule",
        "n" * 4096: "name",
        "odd-mode.md": "special",
        "ok.md": "name",
    }


def test_a_tree_that_multiplies_itself_is_bounded(repo: Repo, opened) -> None:
    """Ten folders in ten folders, ten deep, from ten objects: 10^10 files."""
    oid = repo.git("hash-object", "-w", "--stdin", stdin=b"x")
    kind = "100644 blob"
    for _ in range(10):
        oid = repo.git("mktree", "-z", stdin="".join(f"{kind} {oid}\td{n}\0" for n in range(10)).encode())
        kind = "040000 tree"
    tree = CommitTree(opened(repo), repo.git("commit-tree", "-m", "bomb", oid))
    with pytest.raises(UnreadableSource, match="more than 100,000 entries") as caught:
        tree.list_paths()
    assert "narrower folders" in caught.value.help
    assert len(tree.list_paths(["d0/d0/d0/d0/d0/d0/d0"])) == 1000


def test_a_tree_deeper_than_the_limit_is_cut_and_said(repo: Repo, opened) -> None:
    oid = repo.git("hash-object", "-w", "--stdin", stdin=b"x")
    records = f"100644 blob {oid}\tf.md\0"
    for _ in range(80):
        oid = repo.git("mktree", "-z", stdin=records.encode())
        records = f"040000 tree {oid}\td\0"
    tree = CommitTree(opened(repo), repo.git("commit-tree", "-m", "deep", oid))
    assert tree.list_paths() == ()
    (odd,) = tree.oddities()
    assert (odd.kind, odd.path.count("/")) == ("depth", 63)


def test_t066_a_repository_of_another_user_is_named_and_nothing_is_written(repo: Repo, tmp_path: Path) -> None:
    if sys.platform == "win32" or os.geteuid() != 0:
        pytest.skip("only root can give a repository to another user")
    repo.commit("one", {"a.md": "a"})
    for place in (repo.path, *repo.path.rglob("*")):
        os.lchown(place, 12345, 12345)
    home = tmp_path / "home"
    home.mkdir()
    with pytest.raises(RevisionError, match="belongs to another user") as caught:
        Repository.discover(repo.path, environ={"PATH": repo.environ["PATH"], "HOME": str(home)})
    assert "safe.directory" in caught.value.help
    assert list(home.iterdir()) == []


def test_t068_this_layer_imports_nothing_from_a_tree_and_writes_nothing() -> None:
    """T-022 too: there is no call here that could import a file of the tree, run it as code, or write one."""
    forbidden = {"exec", "eval", "compile", "__import__", "import_module", "spec_from_file_location", "write_bytes"}
    forbidden |= {"write_text", "mkdir", "unlink", "rename", "replace_file", "symlink_to", "chmod", "makedirs", "touch"}
    forbidden |= {"system", "popen", "execv", "execve", "spawnl"}
    places = sorted(Path(ctxc.source.__file__).parent.glob("*.py"))
    assert len(places) > 15
    for place in places:
        for node in ast.walk(ast.parse(place.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                owner = getattr(getattr(node.func, "value", None), "id", "")
                assert name not in forbidden or (owner, name) == ("re", "compile"), (
                    f"{place.name}:{node.lineno}: {name}"
                )
                if name == "open" and owner != "os":
                    modes = [a.value for a in node.args if isinstance(a, ast.Constant)]
                    assert modes == ["rb"], f"{place.name}:{node.lineno} opens for {modes}"
