"""The files on disk."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence

from ctxc.base.canonical import digest_bytes
from ctxc.base.errors import UnreadableSource
from ctxc.source.disk import CHANGED, Contents, Disk, fault_of, open_disk
from ctxc.source.folders import FolderTree
from ctxc.source.links import NESTED, Closed, Entry, Fault, Folder, Kind, Place, oversize
from ctxc.source.paths import fault_of_name
from ctxc.source.tree import KEPT_BYTES, MAX_READ_BYTES, MAX_TREE_BYTES, TOO_MUCH, unreadable

Hidden = Callable[[tuple[str, ...]], frozenset[str]]


class WorkTree(FolderTree):
    """A ``Tree`` of the files below ``root``, each read once: what was hashed is what is parsed.

    ``hidden`` gives, for some folders, the paths below them that listings leave out: what git ignores. Paths are
    matched as they are spelt, also where the file system ignores case. Raises UnreadableSource where ``root`` is not
    a folder.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        *,
        label: str = "the work tree",
        hidden: Hidden | None = None,
        disk: Disk | None = None,
    ) -> None:
        self.root = os.path.realpath(root)
        if not os.path.isdir(self.root):  # noqa: PTH112
            raise UnreadableSource(f"'{os.fspath(root)}' is not a folder", help="name the folder of the project")
        self._files = _WorkStore(disk or open_disk(self.root), hidden)
        super().__init__(label, self._files)

    def hard_links(self) -> tuple[str, ...]:
        """Of the files read so far, those that have another name somewhere, perhaps outside the project; sorted."""
        return tuple(sorted(self._files.shared))


class _WorkStore:
    def __init__(self, disk: Disk, hidden: Hidden | None) -> None:
        self._disk = disk
        self._hidden = hidden
        self._folders: dict[str, Folder | None] = {}
        self._kept: dict[str, bytes] = {}
        self._room = KEPT_BYTES
        self._digests: dict[str, str] = {}  # of what was asked for, or was read and is not kept
        self.shared: set[str] = set()

    def folder(self, real: str) -> Folder | None:
        try:
            return self._folders[real]
        except KeyError:
            found = self._folders[real] = self._scan(real)
            return found

    def link_target(self, real: str) -> str | Fault:
        try:
            return self._disk.target(real)
        except OSError as error:
            return fault_of(error)

    def prepare(self, prefixes: tuple[str, ...]) -> None:
        return None

    def hidden(self, prefixes: tuple[str, ...]) -> frozenset[str]:
        return self._hidden(prefixes) if self._hidden else frozenset()

    def fetch(self, places: Sequence[Place], limit: int) -> Iterator[bytes | Fault]:
        # Two paths may lead to one file: it is read once.
        wanted = list(dict.fromkeys(place.real for place in places if place.real not in self._kept))
        fresh: dict[str, bytes | Fault] = {}
        total = 0
        for real, found in zip(wanted, self._disk.read_all(wanted, limit), strict=True):
            fresh[real] = self._take(real, found)
            total += 0 if isinstance(found, Fault) else len(found.data)
            if total > MAX_TREE_BYTES:
                raise unreadable(real, *TOO_MUCH)
        for place in places:
            if place.real in fresh:
                yield fresh[place.real]
            else:
                kept = self._kept[place.real]
                yield kept if len(kept) <= limit else oversize(len(kept), limit)

    def identity(self, place: Place) -> str | Fault:
        known = self._digests.get(place.real)
        if known is None:
            (data,) = self.fetch((place,), MAX_READ_BYTES)
            if isinstance(data, Fault):
                return data
            known = self._digests[place.real] = digest_bytes(data)
        return known

    def _take(self, real: str, found: Contents | Fault) -> bytes | Fault:
        """Keep what was read; a second reading must bring the same bytes as the first."""
        if isinstance(found, Fault):
            return found
        data = found.data
        if found.names > 1:
            self.shared.add(real)
        if real in self._digests and self._digests[real] != digest_bytes(data):
            return CHANGED
        if len(data) <= self._room:
            self._kept[real] = data
            self._room -= len(data)
        elif real not in self._digests:
            self._digests[real] = digest_bytes(data)
        return data

    def _scan(self, real: str) -> Folder | None:
        try:
            names = self._disk.scan(real)
        except OSError as error:
            return Folder(entries={}, closed=Closed("folder", *fault_of(error)))
        if names is None:
            return None
        entries: dict[str, Entry] = {}
        refused: list[tuple[str, str]] = []
        for name, kind in names:
            if name == ".git":
                if real:
                    return Folder(entries={}, closed=NESTED)
                continue
            fault = fault_of_name(name)
            if fault:
                refused.append((name, fault))
            else:
                entries[name] = _ENTRIES[kind]
        return Folder(entries=entries, refused=tuple(refused))


_ENTRIES: dict[Kind, Entry] = {kind: Entry(kind) for kind in ("file", "folder", "link", "special")}
