"""A tree in memory: for tests and for text that came through a pipe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ctxc.base.canonical import digest_bytes
from ctxc.source.folders import FolderTree
from ctxc.source.links import Entry, Fault, Folder, Place, join, oversize
from ctxc.source.paths import fault_of_path
from ctxc.source.tree import unreadable


class MemoryTree(FolderTree):
    """A ``Tree`` of the given files; text is encoded as UTF-8. ``links`` maps a path to its symbolic link's target.

    Raises UnreadableSource for a path that no tree may have.
    """

    def __init__(
        self,
        files: Mapping[str, bytes | str],
        *,
        links: Mapping[str, str] | None = None,
        label: str = "the files in memory",
    ) -> None:
        super().__init__(label, _MemoryStore(files, links or {}))


class _MemoryStore:
    def __init__(self, files: Mapping[str, bytes | str], links: Mapping[str, str]) -> None:
        self._contents = {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}
        self._links = dict(links)
        folders: dict[str, dict[str, Entry]] = {"": {}}
        for path in (*self._contents, *self._links):
            fault = fault_of_path(path)
            if fault:
                raise unreadable(path, fault)
            here = ""
            *parents, name = path.split("/")
            for parent in parents:
                folders[here].setdefault(parent, Entry("folder"))
                here = join(here, parent)
                folders.setdefault(here, {})
            folders[here][name] = Entry("link" if path in self._links else "file")
        self._folders = {path: Folder(entries=entries) for path, entries in folders.items()}

    def folder(self, real: str) -> Folder | None:
        return self._folders.get(real)

    def link_target(self, real: str) -> str | Fault:
        return self._links[real]

    def prepare(self, prefixes: tuple[str, ...]) -> None:
        return None

    def hidden(self, prefixes: tuple[str, ...]) -> frozenset[str]:
        return frozenset()

    def fetch(self, places: Sequence[Place], limit: int) -> Iterator[bytes | Fault]:
        for place in places:
            data = self._contents[place.real]
            yield data if len(data) <= limit else oversize(len(data), limit)

    def identity(self, place: Place) -> str | Fault:
        return digest_bytes(self._contents[place.real])
