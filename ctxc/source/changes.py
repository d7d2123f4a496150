"""Which files differ between two trees: by identity of content first, by bytes only where that is not known."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from hashlib import new as new_hash
from pathlib import PurePosixPath
from weakref import WeakKeyDictionary

from ctxc.base.errors import UnreadableSource
from ctxc.base.values import dataclass
from ctxc.source.commits import CommitTree
from ctxc.source.tree import MAX_READ_BYTES, Tree

_SHA1_DIGITS = 40


class Status(StrEnum):
    """The four outcomes for a file; equal files are not listed."""

    ADDED = "added"
    REMOVED = "removed"
    MODIFIED = "modified"
    RENAMED = "renamed"


@dataclass(frozen=True, slots=True, kw_only=True)
class PathChange:
    """One file that differs. A link counts as the file that it leads to.

    ``path`` is the path at head (of a removed file: at base), ``old_path`` differs from it only for a renamed file,
    whose content is the same. ``line_endings``: the file differs in nothing but CRLF against LF, which no compiled
    context shows; a work tree under ``core.autocrlf`` differs like that from its own commit.
    """

    path: str
    status: Status
    old_path: str = ""
    line_endings: bool = False


def changed_paths(base: Tree, head: Tree, prefixes: Iterable[str] = ()) -> tuple[PathChange, ...]:
    """Files below the prefixes (all without any) that differ, sorted by path.

    Raises UnreadableSource, RevisionError.
    """
    folders = tuple(prefixes)
    if isinstance(base, CommitTree) and isinstance(head, CommitTree) and base.root_id == head.root_id:
        return ()
    old, new = _identities(base, head, folders)
    changed = [path for path in old.keys() & new.keys() if old[path] != new[path]]
    changes = [_modified(base, head, path) for path in changed]
    removed = {path: old[path] for path in sorted(old.keys() - new.keys())}
    added = {path: new[path] for path in sorted(new.keys() - old.keys())}
    renamed = _pair(removed, added)
    changes.extend(PathChange(path=path, status=Status.RENAMED, old_path=was) for path, was in renamed.items())
    changes.extend(PathChange(path=path, status=Status.ADDED) for path in added.keys() - renamed.keys())
    gone = removed.keys() - set(renamed.values())
    changes.extend(PathChange(path=path, status=Status.REMOVED, old_path=path) for path in gone)
    return tuple(sorted(changes, key=lambda change: (change.path, change.status)))


def is_same(base: Tree, head: Tree, prefixes: Iterable[str] = ()) -> bool:
    """Whether nothing but line ends differs: a clean work tree against HEAD, without running a filter."""
    return all(change.line_endings for change in changed_paths(base, head, prefixes))


def git_blob_id(data: bytes, digits: int = _SHA1_DIGITS) -> str:
    """``git:`` and the id that git gives to these bytes; ``digits`` is 40 for SHA-1 repositories, 64 for SHA-256."""
    digest = new_hash("sha1" if digits == _SHA1_DIGITS else "sha256", usedforsecurity=False)
    digest.update(b"blob %d\0" % len(data))
    digest.update(data)
    return f"git:{digest.hexdigest()}"


def _identities(base: Tree, head: Tree, folders: tuple[str, ...]) -> tuple[dict[str, str], dict[str, str]]:
    """Content ids of both sides that may be compared: git's own where one side has them, else SHA-256."""
    old_paths, new_paths = base.list_paths(folders), head.list_paths(folders)
    old, new = _known_ids(base, old_paths), _known_ids(head, new_paths)
    sample = next(iter((old or new or {}).values()), "")
    digits = len(sample.removeprefix("git:")) if sample else _SHA1_DIGITS
    if old is None:
        old = _ids_of_bytes(base, old_paths, digits)
    if new is None:
        new = _ids_of_bytes(head, new_paths, digits)
    return old, new


def _known_ids(tree: Tree, paths: tuple[str, ...]) -> dict[str, str] | None:
    """Git's ids of all files, or None where the tree does not know them without reading the files."""
    found: dict[str, str] = {}
    for path in paths:
        try:
            content = tree.blob_id(path)
        except UnreadableSource:
            return None
        if not content.startswith("git:"):
            return None
        found[path] = content
    return found


def _ids_of_bytes(tree: Tree, paths: tuple[str, ...], digits: int) -> dict[str, str]:
    """Git's id of each file's bytes; a file that cannot be read equals nothing.

    A command asks several times which files differ: a tree has the files that it had when it was first asked.
    """
    known = _IDS.setdefault(tree, {})
    missing = [path for path in paths if (path, digits) not in known]
    for path, data in tree.read_each(missing, limit=MAX_READ_BYTES):
        known[path, digits] = f"unreadable:{path}" if isinstance(data, UnreadableSource) else git_blob_id(data, digits)
    return {path: known[path, digits] for path in paths}


_IDS: WeakKeyDictionary[Tree, dict[tuple[str, int], str]] = WeakKeyDictionary()


def _modified(base: Tree, head: Tree, path: str) -> PathChange:
    line_ends = _differs_in_line_ends(base, head, path)
    return PathChange(path=path, status=Status.MODIFIED, old_path=path, line_endings=line_ends)


def _differs_in_line_ends(base: Tree, head: Tree, path: str) -> bool:
    try:
        sides = [tree.read(path, limit=MAX_READ_BYTES) for tree in (base, head)]
    except UnreadableSource:
        return False
    one, other = (data.replace(b"\r\n", b"\n") for data in sides)
    return one == other


def _pair(removed: dict[str, str], added: dict[str, str]) -> dict[str, str]:
    """New path to old path where the content is the same; a file that kept its name is preferred, then path order."""
    by_id: dict[str, list[str]] = {}
    for path, content in removed.items():
        by_id.setdefault(content, []).append(path)
    pairs: dict[str, str] = {}
    for same_name in (True, False):
        for path, content in added.items():
            if path in pairs:
                continue
            candidates = by_id.get(content, [])
            name = PurePosixPath(path).name
            match = next((old for old in candidates if not same_name or PurePosixPath(old).name == name), None)
            if match is not None:
                candidates.remove(match)
                pairs[path] = match
    return pairs
