"""The files of a commit and of the index, read from git's object store without a checkout."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from ctxc.base.errors import RevisionError
from ctxc.source.folders import FolderTree
from ctxc.source.git import SHORT, Repository
from ctxc.source.links import Entry, Fault, Folder, Kind, Place, join
from ctxc.source.objects import ObjectMissing
from ctxc.source.paths import MAX_DEPTH, MAX_PATH_BYTES, fault_of_name, is_skipped, shown
from ctxc.source.tree import MAX_FILES


class CommitTree(FolderTree):
    """A ``Tree`` of the files of one commit below ``prefix``, the project's folder in the repository.

    ``commit`` is a full id (``Repository.resolve``); ``revision`` is what the user called it. A folder that the commit
    does not have is an empty tree: everything in it is new. Raises RevisionError where the commit is not in the clone.
    """

    def __init__(self, repository: Repository, commit: str, *, prefix: str = "", revision: str = "") -> None:
        self.commit = commit
        short = commit[:SHORT]
        label = f"{shown(revision)} ({short})" if revision and not commit.startswith(revision) else short
        store = _CommitStore(repository, repository.commit(commit).tree, prefix, label)
        self.root_id = store.root_id
        super().__init__(label, _ObjectStore(repository, store, label))


class IndexTree(FolderTree):
    """A ``Tree`` of what the next commit would hold below ``prefix``, the project's folder in the repository.

    A file in conflict is an oddity, not a file. Raises RevisionError where the index cannot be read.
    """

    def __init__(self, repository: Repository, *, prefix: str = "", label: str = "the index") -> None:
        super().__init__(label, _ObjectStore(repository, _IndexStore(repository, prefix), label))


class _Listing(Protocol):
    def folder(self, real: str) -> Folder | None: ...

    def prepare(self, prefixes: tuple[str, ...]) -> None: ...


class _ObjectStore:
    """A store whose contents are blobs; ``listing`` knows the folders."""

    def __init__(self, repository: Repository, listing: _Listing, label: str) -> None:
        self._repository = repository
        self._listing = listing
        self._label = label

    def folder(self, real: str) -> Folder | None:
        return self._listing.folder(real)

    def prepare(self, prefixes: tuple[str, ...]) -> None:
        self._listing.prepare(prefixes)

    def hidden(self, prefixes: tuple[str, ...]) -> frozenset[str]:
        return frozenset()

    def link_target(self, real: str) -> str | Fault:
        parent, _, name = real.rpartition("/")
        listing = self.folder(parent)
        assert listing is not None
        (data,) = self.fetch((Place(real, listing.entries[name]),), MAX_PATH_BYTES)
        if isinstance(data, Fault):
            return data
        return data.decode("utf-8", "surrogateescape")

    def fetch(self, places: Sequence[Place], limit: int) -> Iterator[bytes | Fault]:
        oids = [place.entry.oid for place in places]
        try:
            found = self._repository.objects.read_blobs(oids, limit)
        except ObjectMissing as error:
            path = next((place.real for place in places if place.entry.oid == error.oid), "")
            raise self._repository.missing(error.oid, f"'{shown(path)}' of {self._label}") from None
        return (found[oid] for oid in oids)

    def identity(self, place: Place) -> str | Fault:
        return f"git:{place.entry.oid}"


class _CommitStore:
    """The folders of a commit: tree objects, read when they are asked for."""

    def __init__(self, repository: Repository, tree: str, prefix: str, label: str) -> None:
        self._repository = repository
        self._label = label
        self._known: dict[str, Folder | None] = {}
        self.root_id = tree
        for name in prefix.split("/") if prefix else ():
            entry = self._read(self.root_id).entries.get(name) if self.root_id else None
            self.root_id = entry.oid if entry is not None and entry.kind == "folder" else ""

    def folder(self, real: str) -> Folder | None:
        try:
            return self._known[real]
        except KeyError:
            oid = self._oid(real)
            found = self._known[real] = self._read(oid) if oid else None
            return found

    def prepare(self, prefixes: tuple[str, ...]) -> None:
        """Read the tree objects below the prefixes, one request for each depth instead of one for each folder."""
        front: list[str] = [oid for prefix in prefixes if (oid := self._oid(prefix))]
        seen: set[str] = set(front)
        for _ in range(MAX_DEPTH):
            if not front or len(seen) > MAX_FILES:
                return
            below: list[str] = []
            for folder in self._read_all(front):
                for name, entry in folder.entries.items():
                    if entry.kind == "folder" and entry.oid not in seen and not is_skipped(name, name):
                        seen.add(entry.oid)
                        below.append(entry.oid)
            front = below

    def _oid(self, real: str) -> str:
        """The id of the tree at a physical path; empty where there is none."""
        if not real:
            return self.root_id
        parent, _, name = real.rpartition("/")
        listing = self.folder(parent)
        entry = listing.entries.get(name) if listing is not None else None
        return entry.oid if entry is not None and entry.kind == "folder" else ""

    def _read(self, oid: str) -> Folder:
        return self._read_all([oid])[0]

    def _read_all(self, oids: Sequence[str]) -> list[Folder]:
        try:
            return self._repository.objects.read_folders(oids)
        except ObjectMissing as error:
            raise self._repository.missing(error.oid, f"a folder of {self._label}") from None


class _IndexStore:
    """The folders of the index, which git keeps as one flat list."""

    def __init__(self, repository: Repository, prefix: str) -> None:
        start = f"{prefix}/" if prefix else ""
        folders: dict[str, dict[str, Entry]] = {"": {}}
        refused: dict[str, dict[str, str]] = {}
        for mode, oid, stage, path in repository.index_entries(prefix):
            if not path.startswith(start):
                raise RevisionError("git listed a path that was not asked for", help="see whether `git fsck` agrees")
            *parents, name = path[len(start) :].split("/")
            here = ""
            for parent in parents:
                fault = fault_of_name(parent)
                if fault:
                    refused.setdefault(here, {})[parent] = fault
                    break
                folders[here].setdefault(parent, Entry("folder"))
                here = join(here, parent)
                folders.setdefault(here, {})
            else:
                fault = fault_of_name(name)
                if fault:
                    refused.setdefault(here, {})[name] = fault
                else:
                    folders[here][name] = Entry("unmerged" if stage else _INDEX_KINDS.get(mode, "special"), oid)
        self._folders = {
            path: Folder(entries=entries, refused=tuple(refused.get(path, {}).items()))
            for path, entries in folders.items()
        }

    def folder(self, real: str) -> Folder | None:
        return self._folders.get(real)

    def prepare(self, prefixes: tuple[str, ...]) -> None:
        return None


_INDEX_KINDS: Mapping[str, Kind] = {"100644": "file", "100755": "file", "120000": "link", "160000": "submodule"}
