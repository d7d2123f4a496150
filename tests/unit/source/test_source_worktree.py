"""The files on disk, read with and without directory descriptors; and what threatens that reading."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import pytest

from ctxc.base.canonical import digest_bytes
from ctxc.base.errors import UnreadableSource
from ctxc.source import worktree
from ctxc.source.disk import DescriptorDisk, Disk, PathDisk, open_disk
from ctxc.source.memory import MemoryTree
from ctxc.source.paths import collisions
from ctxc.source.tree import MAX_FILE_BYTES
from ctxc.source.worktree import WorkTree

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs links, pipes and devices of POSIX")
DISKS = [pytest.param(DescriptorDisk, marks=posix, id="descriptors"), pytest.param(PathDisk, id="paths")]


@pytest.fixture(params=DISKS)
def disk_class(request: pytest.FixtureRequest) -> type[DescriptorDisk] | type[PathDisk]:
    return request.param


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = tmp_path / "project"
    place.mkdir()
    return place


def write(root: Path, path: str, data: str | bytes = "x") -> Path:
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data.encode() if isinstance(data, str) else data)
    return place


@pytest.fixture
def open_tree(root: Path, disk_class):
    return lambda: WorkTree(root, disk=disk_class(str(root)))


def test_the_platform_gets_the_safest_reader(root: Path) -> None:
    expected = PathDisk if sys.platform == "win32" else DescriptorDisk
    assert isinstance(open_disk(str(root)), expected)


def test_files_on_disk_are_a_tree(root: Path, open_tree) -> None:
    for path in ("b/x.md", "a.md", "b/c/y.md", ".git/config", "node_modules/m.md", ".venv/v.md", ".ctxc/cache/c"):
        write(root, path, path)
    write(root, "b/__pycache__/z.md")
    tree = open_tree()
    assert tree.label == "the work tree"
    assert tree.list_paths() == ("a.md", "b/c/y.md", "b/x.md")
    assert tree.list_paths(["b"]) == ("b/c/y.md", "b/x.md")
    assert tree.list_dir() == (".ctxc/", ".venv/", "a.md", "b/", "node_modules/")
    assert tree.read("b/x.md") == b"b/x.md"
    assert tree.blob_id("a.md") == digest_bytes(b"a.md")
    assert tree.read_many(["a.md", "b/c/y.md"]) == {"a.md": b"a.md", "b/c/y.md": b"b/c/y.md"}
    assert tree.oddities() == ()
    memory = MemoryTree(tree.read_many(tree.list_paths()))
    assert memory.list_paths() == tree.list_paths()
    with pytest.raises(UnreadableSource, match="is a folder, not a file"):
        tree.read("b")
    with pytest.raises(UnreadableSource, match="is not a folder"):
        WorkTree(root / "a.md")
    with pytest.raises(UnreadableSource, match="is not a folder"):
        WorkTree(root / "nowhere")


def test_only_the_folders_asked_for_are_walked(root: Path, disk_class) -> None:
    write(root, "fragments/core/a.md")
    write(root, "huge/deep/b.md")
    scanned: list[str] = []

    class Watched(disk_class):  # type: ignore[misc,valid-type]
        def scan(self, real: str):
            scanned.append(real)
            return super().scan(real)

    tree = WorkTree(root, disk=Watched(str(root)))
    assert tree.list_paths(["fragments"]) == ("fragments/core/a.md",)
    assert tree.read("fragments/core/a.md") == b"x"
    assert sorted(scanned) == ["", "fragments", "fragments/core"]


def test_what_was_hashed_is_what_is_parsed(root: Path, open_tree) -> None:
    place = write(root, "a.md", "first")
    tree = open_tree()
    before = tree.blob_id("a.md")
    place.write_text("second")
    assert tree.read("a.md") == b"first"
    assert tree.blob_id("a.md") == before
    assert open_tree().read("a.md") == b"second"


def test_what_is_too_much_to_keep_must_not_change(root: Path, open_tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worktree, "KEPT_BYTES", 8)
    place = write(root, "a.md", "longer than that")
    write(root, "b.md", "b")
    tree = open_tree()
    assert tree.read("a.md") == b"longer than that"
    assert tree.read("a.md") == b"longer than that"
    place.write_text("shorter")
    with pytest.raises(UnreadableSource, match=r"'a\.md' was changed while it was being read"):
        tree.read("a.md")
    assert tree.read("b.md") == b"b"


def test_sizes(root: Path, open_tree) -> None:
    write(root, "empty.md", b"")
    write(root, "at.md", b"x" * MAX_FILE_BYTES)
    write(root, "over.md", b"x" * (MAX_FILE_BYTES + 1))
    with write(root, "huge.md", b"").open("r+b") as handle:
        handle.truncate(5 << 30)
    tree = open_tree()
    assert tree.read("empty.md") == b""
    assert len(tree.read("at.md")) == MAX_FILE_BYTES
    with pytest.raises(UnreadableSource, match="has 1,048,577 bytes, more than the limit of 1,048,576 bytes"):
        tree.read("over.md")
    assert len(tree.read("over.md", limit=2 << 20)) == MAX_FILE_BYTES + 1
    with pytest.raises(UnreadableSource, match="has 1,048,577 bytes, more than the limit"):
        tree.read("over.md")
    with pytest.raises(UnreadableSource, match="has 5,368,709,120 bytes"):
        tree.blob_id("huge.md")


@posix
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may read everything")
def test_permissions(root: Path, open_tree) -> None:
    write(root, "a.md").chmod(0)
    write(root, "closed/b.md").parent.chmod(0)
    tree = open_tree()
    with pytest.raises(UnreadableSource, match=r"'a\.md' cannot be read: Permission denied"):
        tree.read("a.md")
    assert [(odd.path, odd.kind) for odd in tree.oddities()] == [("closed", "folder")]


def test_a_folder_that_cannot_be_listed_is_said(root: Path, disk_class) -> None:
    write(root, "a.md")
    write(root, "closed/b.md")

    class Refusing(disk_class):  # type: ignore[misc,valid-type]
        def scan(self, real: str):
            if real == "closed":
                raise PermissionError(13, "Permission denied")
            return super().scan(real)

    tree = WorkTree(root, disk=Refusing(str(root)))
    assert tree.list_paths() == ("a.md",)
    assert [(odd.path, odd.kind, odd.reason) for odd in tree.oddities()] == [
        ("closed", "folder", "cannot be read: Permission denied")
    ]
    with pytest.raises(UnreadableSource, match="Permission denied"):
        tree.read("closed/b.md")


def test_a_nested_repository_is_not_entered(root: Path, open_tree) -> None:
    write(root, "a.md")
    write(root, ".git/HEAD")
    write(root, "vendor/lib/.git", "gitdir: elsewhere\n")
    write(root, "vendor/lib/b.md")
    tree = open_tree()
    assert tree.list_paths() == ("a.md",)
    assert [(odd.path, odd.kind) for odd in tree.oddities()] == [("vendor/lib", "submodule")]
    assert tree.list_dir("vendor/lib") == ()
    assert not tree.exists("vendor/lib/b.md")
    with pytest.raises(UnreadableSource, match="nested git repository"):
        tree.read("vendor/lib/b.md")


def test_names_are_matched_as_they_are_spelt(root: Path, open_tree) -> None:
    """On a file system that ignores case the open would succeed; elsewhere it fails. Here it always fails."""
    write(root, "Fragments/Policy.md")
    tree = open_tree()
    with pytest.raises(UnreadableSource) as caught:
        tree.read("fragments/policy.md")
    assert (
        caught.value.message == "'fragments/policy.md' is not in the tree; 'Fragments/Policy.md' is, in other letters"
    )
    assert tree.case_variant("fragments/policy.md") == "Fragments/Policy.md"
    assert not tree.exists("fragments/policy.md")


# Rows of the threat model: what a manifest's `path` may hold, and why it is refused. Secrets lie outside the project.
PATH_THREATS = [
    ("T-002", "/etc/passwd", "is absolute"),
    ("T-004", "C:\\Windows\\win.ini", "has a backslash"),
    ("T-005", "\\\\host\\share\\x", "has a backslash"),
    ("T-006", "a\0.md", "has a control character"),
    ("T-007", "~root/.ssh/id_rsa", "begins with '~'"),
    ("T-008", "file:///etc/passwd", "has a colon"),
    ("T-009", "%2e%2e/x", "is not in the tree"),
    ("T-010", "．．/x", "is not in the tree"),
    ("T-012", "a.md.", "ends in a dot or a space"),
    ("T-013", "CON", "device name on Windows"),
    ("traversal", "../secret.md", "has the component '..'"),
    ("traversal-inside", "sub/../../secret.md", "has the component '..'"),
    ("git-config", ".GIT/config", "git's own folder"),
    ("short-name", "GIT~1/config", "git's own folder"),
    ("stream", "a.md::$DATA", "has a colon"),
]


@pytest.mark.parametrize(("threat", "path", "said"), PATH_THREATS, ids=[row[0] for row in PATH_THREATS])
def test_threat_of_a_path(root: Path, open_tree, threat: str, path: str, said: str) -> None:
    write(root.parent, "secret.md", "secret")
    write(root.parent, "x", "secret")
    write(root, "a.md")
    write(root, "sub/b.md")
    tree = open_tree()
    for found in (tree, MemoryTree({"a.md": "x"})):
        with pytest.raises(UnreadableSource) as caught:
            found.read(path)
        assert said in caught.value.message
        assert not found.exists(path)


@posix
class TestLinks:
    """T-014, T-015, T-016 and their kin: links, pipes and devices."""

    @pytest.fixture(autouse=True)
    def lay_out(self, root: Path) -> None:
        write(root.parent, "secret.md", "secret")
        write(root, "sub/a.md", "ok")
        for name, target in {
            "etc.md": "/etc/passwd",
            "env.md": "/proc/self/environ",
            "zero.md": "/dev/zero",
            "out.md": "../secret.md",
            "up": "..",
            "here": ".",
            "inside.md": "sub/a.md",
            "absolute.md": str(root / "sub/a.md"),
            "loop": "loop",
            "git.md": ".git/config",
            "folder": "sub",
        }.items():
            (root / name).symlink_to(target)
        write(root, ".git/config", "token")
        os.mkfifo(root / "fifo")

    @pytest.mark.parametrize(
        ("threat", "path", "said"),
        [
            ("T-014", "etc.md", "leaves the project: the symbolic link 'etc.md' points to '/etc/passwd'"),
            ("T-015", "up/project/sub/a.md", "leaves the project: the symbolic link 'up' points to '..'"),
            ("T-016", "env.md", "leaves the project: the symbolic link 'env.md' points to '/proc/self/environ'"),
            ("device", "zero.md", "leaves the project"),
            ("sibling", "out.md", "leaves the project"),
            ("absolute", "absolute.md", "leaves the project"),
            ("loop", "loop", "more than 8 symbolic links; the last is 'loop'"),
            ("loop-folder", "loop/a.md", "more than 8 symbolic links"),
            ("git", "git.md", "git's own folder"),
            ("fifo", "fifo", "is not a regular file (a pipe, a device or a socket)"),
            ("many", "/".join(["here"] * 9) + "/sub/a.md", "more than 8 symbolic links; the last is 'here'"),
        ],
    )
    def test_refused(self, open_tree, threat: str, path: str, said: str) -> None:
        tree = open_tree()
        with pytest.raises(UnreadableSource) as caught:
            tree.read(path)
        assert said in caught.value.message
        assert "secret" not in caught.value.message.replace("secret.md", "")

    def test_followed(self, open_tree) -> None:
        tree = open_tree()
        for path in ("inside.md", "folder/a.md", "here/sub/a.md", "/".join(["here"] * 8) + "/sub/a.md"):
            assert tree.read(path) == b"ok"

    def test_listed(self, open_tree) -> None:
        tree = open_tree()
        assert tree.list_paths() == ("folder/a.md", "inside.md", "sub/a.md")
        assert {odd.path: odd.kind for odd in tree.oddities()} == {
            "absolute.md": "link",
            "env.md": "link",
            "etc.md": "link",
            "fifo": "special",
            "git.md": "link",
            "here": "link",
            "loop": "link",
            "out.md": "link",
            "up": "link",
            "zero.md": "link",
        }

    def test_a_pipe_that_took_a_files_place_does_not_block(self, root: Path, open_tree) -> None:
        tree = open_tree()
        assert tree.list_paths(["sub"]) == ("sub/a.md",)
        (root / "sub/a.md").unlink()
        os.mkfifo(root / "sub/a.md")
        with pytest.raises(UnreadableSource, match="not a regular file"):
            tree.read("sub/a.md")

    def test_a_link_that_took_a_files_or_folders_place(self, root: Path, open_tree) -> None:
        tree = open_tree()
        assert tree.exists("sub/a.md")
        (root / "sub/a.md").unlink()
        (root / "sub/a.md").symlink_to("../../secret.md")
        with pytest.raises(UnreadableSource, match=r"was changed while it was being read|not a regular file"):
            tree.read("sub/a.md")

    def test_t019_a_hard_link_is_read_and_known(self, root: Path, open_tree) -> None:
        os.link(root.parent / "secret.md", root / "hard.md")
        tree = open_tree()
        assert tree.hard_links() == ()
        assert tree.read("hard.md") == b"secret"
        assert tree.read("sub/a.md") == b"ok"
        assert tree.hard_links() == ("hard.md",)

    def test_t021_a_file_swapped_for_a_link_never_shows_the_links_target(self, root: Path, disk_class) -> None:
        """A thread puts a link to a secret in the file's place and back, while the file is read."""
        good, evil = root / "good.md", root / "evil.md"
        good.write_text("good")
        evil.symlink_to("../secret.md")
        stop = threading.Event()
        before = sys.getswitchinterval()
        sys.setswitchinterval(1e-5)  # let the two threads meet at many different places

        def swap() -> None:
            while not stop.is_set():
                for source in (good, evil):
                    os.link(source, root / "new", follow_symlinks=False)
                    (root / "new").rename(root / "race.md")
                    (root / "new").unlink(missing_ok=True)

        thread = threading.Thread(target=swap)
        write(root, "race.md", "good")
        thread.start()
        seen: dict[str, int] = {}
        try:
            for count in range(20_000):
                if count >= 1500 and len(seen) == 2:
                    break
                disk: Disk = disk_class(str(root))
                (found,) = disk.read_all(["race.md"], 100)
                data = getattr(found, "data", b"refused")
                seen[data.decode()] = seen.get(data.decode(), 0) + 1
        finally:
            stop.set()
            thread.join()
            sys.setswitchinterval(before)
        assert set(seen) <= {"good", "refused"}
        assert seen.get("good", 0) > 0


@posix
def test_a_file_whose_size_is_not_known_in_advance(disk_class) -> None:
    """Files of /proc have size 0 and content all the same; the limit holds for them too."""
    if not Path("/proc/self/status").exists():
        pytest.skip("needs /proc")
    disk = disk_class("/proc/self")
    (found,) = disk.read_all(["status"], 1 << 20)
    assert found.data.startswith(b"Name:")
    (found,) = disk.read_all(["status"], 10)
    assert found.reason == "is larger than the limit of 10 bytes"


@posix
def test_t020_names_that_collide_elsewhere(root: Path, open_tree) -> None:
    for name in ("Policy.md", "policy.md", "caf\u00e9.md", "cafe\u0301.md"):
        write(root, name)
    tree = open_tree()
    if len(tree.list_paths()) != 4:
        pytest.skip("this file system holds only one of the names")
    assert collisions(tree.list_paths()) == (("Policy.md", "policy.md"), ("cafe\u0301.md", "caf\u00e9.md"))


@posix
def test_names_that_are_refused_are_oddities(root: Path, open_tree) -> None:
    for name in ("a:b.md", "dot.", "back\\slash", "line\nend", "AUX.md", "GIT~1", "ok.md"):
        write(root, name)
    tree = open_tree()
    assert tree.list_paths() == ("ok.md",)
    assert [(odd.path, odd.kind) for odd in tree.oddities()] == [
        ("AUX.md", "name"),
        ("GIT~1", "name"),
        ("a:b.md", "name"),
        ("back\\slash", "name"),
        ("dot.", "name"),
        ("line\\x0aend", "name"),
    ]


def test_the_tree_does_not_depend_on_the_working_directory(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root, "a.md")
    monkeypatch.chdir(root.parent)
    tree = WorkTree("project")
    monkeypatch.chdir("/")
    assert tree.read("a.md") == b"x"


def test_every_row_of_the_threat_model_has_a_test(shared: Path) -> None:
    import json

    rows = [json.loads(line) for line in (shared / "security/threats.jsonl").read_text().splitlines()]
    wanted = {row["id"] for row in rows if row["area"] in {"path", "git"}}
    here = Path(__file__).parents[2]
    texts = "".join(
        p.read_text(encoding="utf-8") for folder in ("git", "unit/source") for p in (here / folder).glob("*.py")
    )
    assert len(wanted) == 34
    assert [name for name in sorted(wanted) if name not in texts and name.lower().replace("-", "") not in texts] == []
