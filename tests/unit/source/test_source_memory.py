"""The tree in memory, and what all trees share: links, listing, identity."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxc.base.canonical import digest_bytes
from ctxc.base.errors import RevisionError, UnreadableSource
from ctxc.source.changes import Status, changed_paths, git_blob_id, is_same
from ctxc.source.memory import MemoryTree
from ctxc.source.overlay import OverlayTree
from ctxc.source.tree import MAX_READ_BYTES, Tree


def test_files_in_memory_are_a_tree() -> None:
    tree: Tree = MemoryTree({"b/x.md": "ü", "a.md": b"\xff", "b/c/y.md": ""})
    assert tree.label == "the files in memory"
    assert tree.list_paths() == ("a.md", "b/c/y.md", "b/x.md")
    assert tree.list_paths(["b"]) == tree.list_paths(("b/", "./b")) == ("b/c/y.md", "b/x.md")
    assert tree.list_paths(["b/x.md", "b/c", "b/c/y.md"]) == ("b/c/y.md", "b/x.md")
    assert tree.list_paths(["."]) == tree.list_paths([""]) == tree.list_paths()
    assert tree.list_paths("b") == tree.list_paths(["b"])  # a text is one folder, not its letters
    assert OverlayTree(tree, {}).list_paths("b") == tree.list_paths(["b"])
    assert tree.list_dir("b") == ("c/", "x.md")
    assert tree.list_dir("nowhere") == ()
    assert tree.read("b/x.md") == "ü".encode()
    assert tree.read_many(["a.md", "b/c/y.md"]) == {"a.md": b"\xff", "b/c/y.md": b""}
    assert tree.blob_id("a.md") == digest_bytes(b"\xff")
    assert tree.oddities() == ()
    assert [tree.exists(path) for path in ("a.md", "b", "A.md", "../a.md", "")] == [True, False, False, False, False]


def test_reasons() -> None:
    tree = MemoryTree({"fragments/core/policy.md": "p", "big.md": b"x" * 11})
    for path, message, help in (
        ("fragments", "'fragments' is a folder, not a file", "name a file inside it"),
        ("big.md/x", "'big.md/x' goes through 'big.md', which is a file, not a folder", ""),
        ("fragments/core/polcy.md", "is not in the tree", "did you mean 'fragments/core/policy.md'?"),
        ("fragments/cor/policy.md", "is not in the tree", "did you mean 'fragments/core'?"),
        (
            "Fragments/core/policy.md",
            "'fragments/core/policy.md' is, in other letters",
            "write 'fragments/core/policy.md'",
        ),
        ("zzz", "is not in the tree", "check the path"),
        ("../x", "has the component '..'", "give a path relative to the project root"),
        ("\x1b[0m", "'\\x1b[0m' has a control character in its name", "give a path"),
    ):
        with pytest.raises(UnreadableSource) as caught:
            tree.read(path)
        assert message in caught.value.message
        assert caught.value.help.startswith(help)
        assert caught.value.location is not None
    with pytest.raises(UnreadableSource, match="has 11 bytes, more than the limit of 10 bytes"):
        tree.read("big.md", limit=10)
    with pytest.raises(UnreadableSource, match="is absolute"):
        tree.list_paths(["/etc"])
    with pytest.raises(UnreadableSource, match="has the component"):
        tree.list_dir("../x")
    with pytest.raises(ValueError, match="a read may ask for"):
        tree.read("big.md", limit=MAX_READ_BYTES + 1)
    with pytest.raises(UnreadableSource, match="device name"):
        MemoryTree({"a/CON": ""})


def test_read_each_keeps_the_order_and_each_reason() -> None:
    tree = MemoryTree({"a": "1", "b": "2"})
    found = list(tree.read_each(["b", "../x", "nope", "a", "b"]))
    assert [path for path, _ in found] == ["b", "../x", "nope", "a", "b"]
    assert [data if isinstance(data, bytes) else type(data) for _, data in found] == [
        b"2",
        UnreadableSource,
        UnreadableSource,
        b"1",
        b"2",
    ]
    with pytest.raises(UnreadableSource, match="nope"):
        tree.read_many(["a", "nope"])


def test_skipped_folders_are_not_listed_but_can_be_named() -> None:
    names = ("node_modules/x.md", ".venv/x.md", "a/__pycache__/x.md", ".ctxc/cache/x.md", ".ctxc/baseline.jsonl")
    tree = MemoryTree(dict.fromkeys(names, "x"))
    assert tree.list_paths() == (".ctxc/baseline.jsonl",)
    assert tree.read("node_modules/x.md") == b"x"


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("/etc/passwd", "leaves the project"),
        ("../x", "leaves the project"),
        ("d/../../x", "leaves the project"),
        ("", "leaves the project"),
        ("..", "leaves the project"),
        ("C:/x", "has a colon"),
        ("d\\x", "has a backslash"),
        (".git/config", "git's own folder"),
        ("d/.GIT/x", "git's own folder"),
        ("gone", "to 'gone', which is not in the tree"),
        ("file.md/", "which is a file, not a folder"),
        ("l", "more than 8 symbolic links; the last is 'l'"),
        ("bad\udcff", "not valid UTF-8"),
        ("a\x1b[0m", "control character"),
        ("x" * 5000, "target has over 4,096 characters"),
        ("updir/../../x", "leaves the project: the symbolic link 'l' points to 'updir/../../x'"),
    ],
)
def test_links_that_are_not_followed(target: str, said: str) -> None:
    tree = MemoryTree({"file.md": "f", "d/x.md": "x"}, links={"l": target, "updir": "d/.."})
    with pytest.raises(UnreadableSource) as caught:
        tree.read("l")
    assert said in caught.value.message
    assert "\x1b" not in caught.value.message
    assert caught.value.help
    assert not tree.exists("l")
    assert "l" in {odd.path for odd in tree.oddities()}
    assert "l" in {odd.path for odd in tree.oddities(["l"])}


@pytest.mark.parametrize(
    ("target", "path", "text"),
    [
        ("file.md", "l", b"f"),
        ("./d/./x.md", "l", b"x"),
        ("d//x.md", "l", b"x"),
        ("d/../file.md", "l", b"f"),
        ("d", "l/x.md", b"x"),
        ("d/", "l/x.md", b"x"),
        (".", "l/l/l/file.md", b"f"),
    ],
)
def test_links_that_are_followed(target: str, path: str, text: bytes) -> None:
    tree = MemoryTree({"file.md": "f", "d/x.md": "x"}, links={"l": target})
    assert tree.read(path) == text
    assert tree.exists(path)


def test_dots_in_a_target_are_physical() -> None:
    """As the operating system does it: ``..`` leaves the folder that a link led to, not the one it stands in."""
    files = {"real/deep/x.md": "x", "real/y.md": "y", "y.md": "z"}
    tree = MemoryTree(files, links={"a": "real/deep", "l": "a/../y.md", "m": "a/../../y.md"})
    assert tree.read("l") == b"y"
    assert tree.read("m") == b"z"


def test_folders_that_link_to_each_other_are_listed_once() -> None:
    tree = MemoryTree({"a/x.md": "x", "b/y.md": "y"}, links={"a/to-b": "../b", "b/to-a": "../a", "a/me": "."})
    assert tree.list_paths() == ("a/to-b/y.md", "a/x.md", "b/to-a/x.md", "b/y.md")
    assert [odd.path for odd in tree.oddities()] == ["a/me", "a/to-b/to-a", "b/to-a/me", "b/to-a/to-b"]
    assert tree.list_paths(["a"]) == ("a/to-b/y.md", "a/x.md")


def test_a_ladder_of_links_is_bounded() -> None:
    """Each folder links to the next one several times: the listing grows with a power of the hops."""
    links = {f"d{level}/l{number}": f"../d{level + 1}" for level in range(12) for number in range(5)}
    tree = MemoryTree({f"d{level}/x.md": "x" for level in range(13)}, links=links)
    with pytest.raises(UnreadableSource, match="more than 100,000 entries"):
        tree.list_paths()


def test_case_variant() -> None:
    tree = MemoryTree({"Docs/Policy.md": "p", "caf\u00e9/x": "x", "both.md": "1", "Both.md": "2"}, links={"L": "Docs"})
    assert tree.case_variant("docs/policy.md") == "Docs/Policy.md"
    assert tree.case_variant("l/POLICY.md") == "L/Policy.md"
    assert tree.case_variant("cafe\u0301/x") == "caf\u00e9/x"
    assert tree.case_variant("Docs/Policy.md") is None
    assert tree.case_variant("both.md") is None
    assert tree.case_variant("nowhere.md") is None
    assert tree.case_variant("../x") is None
    assert tree.case_variant("docs/policy.md/x") is None


def test_an_overlay_shows_its_changes() -> None:
    base = MemoryTree({"a.md": "1", "d/b.md": "2", "d/c.md": "3"}, label="base")
    tree: Tree = OverlayTree(base, {"a.md": "new", "d/b.md": None, "e/f.md": b"4"})
    assert tree.label == "base with changes"
    assert tree.list_paths() == ("a.md", "d/c.md", "e/f.md")
    assert tree.list_paths(["d", "e/"]) == ("d/c.md", "e/f.md")
    assert tree.list_paths(["e/f.md"]) == ("e/f.md",)
    assert tree.list_dir() == ("a.md", "d/", "e/")
    assert tree.list_dir("d") == ("c.md",)
    assert tree.read("a.md") == b"new"
    assert tree.read("d/c.md") == b"3"
    assert tree.blob_id("a.md") == digest_bytes(b"new")
    assert tree.blob_id("d/c.md") == base.blob_id("d/c.md")
    assert tree.exists("e/f.md") and not tree.exists("d/b.md")
    found = list(tree.read_each(["d/c.md", "d/b.md", "a.md"]))
    assert [path for path, _ in found] == ["d/c.md", "d/b.md", "a.md"]
    assert str(found[1][1]) == "'d/b.md' was removed"
    with pytest.raises(UnreadableSource, match="more than the limit"):
        tree.read("a.md", limit=2)
    with pytest.raises(UnreadableSource, match="LFS pointer"):
        lfs = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"
        OverlayTree(base, {"x": lfs}).read("x")
    with pytest.raises(UnreadableSource, match="is absolute"):
        OverlayTree(base, {"/x": ""})
    assert tree.case_variant("E/F.md") == "e/f.md"
    assert tree.case_variant("D/C.md") == "d/c.md"
    assert tree.case_variant("D/B.md") is None
    assert OverlayTree(base, {}, label="stdin").label == "stdin"


def test_changes_between_trees_in_memory() -> None:
    base = MemoryTree({"same": "s", "edit": "1", "crlf": "a\nb\n", "old/name.md": "moved", "twin-a": "t", "gone": "g"})
    head = MemoryTree(
        {"same": "s", "edit": "2", "crlf": "a\r\nb\r\n", "new/name.md": "moved", "twin-b": "t", "twin-c": "t"}
    )
    found = [(c.path, c.status.value, c.old_path, c.line_endings) for c in changed_paths(base, head)]
    assert found == [
        ("crlf", "modified", "crlf", True),
        ("edit", "modified", "edit", False),
        ("gone", "removed", "gone", False),
        ("new/name.md", "renamed", "old/name.md", False),
        ("twin-b", "renamed", "twin-a", False),
        ("twin-c", "added", "", False),
    ]
    assert not is_same(base, head)
    assert is_same(base, base)
    assert [c.path for c in changed_paths(base, OverlayTree(base, {"edit": "9"}))] == ["edit"]
    assert changed_paths(base, head, ["same"]) == ()


def test_a_renamed_file_keeps_its_name_where_it_can() -> None:
    base = MemoryTree({"a/x.md": "t", "b/y.md": "t"})
    head = MemoryTree({"c/y.md": "t", "d/x.md": "t"})
    pairs = [(c.path, c.old_path) for c in changed_paths(base, head)]
    assert pairs == [("c/y.md", "b/y.md"), ("d/x.md", "a/x.md")]


def test_git_ids_are_gits() -> None:
    # `git hash-object` of the empty file, in both formats.
    assert git_blob_id(b"") == "git:e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    assert git_blob_id(b"", 64) == "git:473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"


NAMES = st.sampled_from(["a", "b", "c", "A"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
TARGETS = st.lists(st.sampled_from(["a", "b", "c", "..", "."]), min_size=1, max_size=4).map("/".join)


@st.composite
def trees(draw: st.DrawFn) -> MemoryTree:
    files: dict[str, bytes] = {}
    links: dict[str, str] = {}
    taken: set[str] = set()
    for path, target in draw(st.dictionaries(PATHS, st.none() | TARGETS, max_size=8)).items():
        parents = {"/".join(path.split("/")[:n]) for n in range(1, path.count("/") + 1)}
        clash = path in taken or parents & (files.keys() | links.keys())
        if clash:
            continue
        taken |= parents | {path}
        if target is None:
            files[path] = path.encode()
        else:
            links[path] = target
    return MemoryTree(files, links=links)


@given(trees())
def test_every_listed_path_is_readable_and_every_link_is_accounted_for(tree: MemoryTree) -> None:
    listed = tree.list_paths()
    assert listed == tuple(sorted(set(listed)))
    contents = tree.read_many(listed)
    assert all(tree.exists(path) and tree.blob_id(path) == digest_bytes(contents[path]) for path in listed)
    # A folder that is named is entered, also through a link to a folder that contains it.
    named = tree.list_paths(["a"])
    assert set(named) >= {path for path in listed if path == "a" or path.startswith("a/")}
    assert set(named) <= set(listed) or "a" in {odd.path for odd in tree.oddities()}
    assert len(tree.read_many(named)) == len(named)
    assert not {odd.path for odd in tree.oddities()} & set(listed)
    assert changed_paths(tree, tree) == ()


@given(trees(), trees())
def test_changes_lead_from_base_to_head(base: MemoryTree, head: MemoryTree) -> None:
    files = base.read_many(base.list_paths())
    for change in changed_paths(base, head):
        match change.status:
            case Status.REMOVED:
                del files[change.path]
            case Status.RENAMED:
                files[change.path] = files.pop(change.old_path)
            case _:
                files[change.path] = head.read(change.path)
    assert files == head.read_many(head.list_paths())


def test_revision_errors_are_no_unreadable_sources() -> None:
    """A missing object ends the command; a file that cannot be read is a finding about that file."""
    assert not issubclass(RevisionError, UnreadableSource)
