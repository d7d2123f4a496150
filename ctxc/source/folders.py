"""The tree over a store of physical folders: the part that work tree, index, commit and memory have in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Protocol

from ctxc.base.errors import UnreadableSource
from ctxc.source.links import Entry, Fault, Folders, Place, case_variant, plain_entries, resolve
from ctxc.source.paths import fault_of_path
from ctxc.source.tree import (
    MAX_FILE_BYTES,
    Oddity,
    check_limit,
    collect,
    refuse_lfs_pointer,
    unreadable,
)
from ctxc.source.walking import Walk

_BATCH = 4096  # files that are asked for at once, so that a store may read them in one go


class Store(Folders, Protocol):
    """Physical folders and the bytes of their files."""

    def prepare(self, prefixes: tuple[str, ...]) -> None:
        """Get ready to list everything below these folders; a store may do nothing."""

    def hidden(self, prefixes: tuple[str, ...]) -> frozenset[str]:
        """Physical paths below these folders that listings leave out."""

    def fetch(self, places: Sequence[Place], limit: int) -> Iterator[bytes | Fault]:
        """The bytes of each physical file, in order, or why there are none."""

    def identity(self, place: Place) -> str | Fault:
        """``git:<oid>`` or ``sha256:<hex>`` of the file's bytes."""


class FolderTree:
    """A ``Tree`` over a store. Listings are kept: a tree shows its files as they were when first asked for."""

    def __init__(self, label: str, store: Store) -> None:
        self._label = label
        self._store = store
        self._walks: dict[tuple[str, ...], tuple[Walk, tuple[str, ...]]] = {}
        self._places: dict[str, Place] = {}  # of the files that were listed
        self._plain: dict[str, Mapping[str, Entry]] = {}  # of the folders that files were asked for in

    @property
    def label(self) -> str:
        """What messages call this tree."""
        return self._label

    def list_paths(self, prefixes: Iterable[str] = ()) -> tuple[str, ...]:
        """Sorted paths of the regular files under the given folders or files; see ``Tree``."""
        return self._walk(prefixes)[1]

    def list_dir(self, prefix: str = "") -> tuple[str, ...]:
        """Sorted names in one folder, with a ``/`` after each folder; see ``Tree``."""
        real = ""
        folder = _clean(prefix)
        if folder:
            try:
                real = resolve(self._store, folder).real
            except UnreadableSource:
                if fault_of_path(folder):
                    raise
                return ()
        listing = self._store.folder(real)
        if listing is None or listing.closed is not None:
            return ()
        kinds = ((name, entry.kind) for name, entry in listing.entries.items())
        return tuple(sorted(f"{name}/" if kind in {"folder", "submodule"} else name for name, kind in kinds))

    def oddities(self, prefixes: Iterable[str] = ()) -> tuple[Oddity, ...]:
        """What ``list_paths`` of the same folders leaves out; see ``Tree``."""
        return tuple(sorted(self._walk(prefixes)[0].oddities, key=lambda odd: (odd.path, odd.kind)))

    def exists(self, path: str) -> bool:
        """Whether the path leads to a regular file of the tree."""
        try:
            return path in self._places or self._resolve(path).entry.kind == "file"
        except UnreadableSource:
            return False

    def read(self, path: str, *, limit: int = MAX_FILE_BYTES) -> bytes:
        """The bytes of a file; see ``Tree``."""
        (pair,) = self.read_each((path,), limit=limit)
        if isinstance(pair[1], UnreadableSource):
            raise pair[1]
        return pair[1]

    def read_each(
        self, paths: Iterable[str], *, limit: int = MAX_FILE_BYTES
    ) -> Iterator[tuple[str, bytes | UnreadableSource]]:
        """Each path with its bytes or the reason why it has none; see ``Tree``."""
        check_limit(limit)
        rest = iter(paths)
        while batch := tuple(islice(rest, _BATCH)):
            yield from self._read_batch(batch, limit)

    def read_many(self, paths: Iterable[str], *, limit: int = MAX_FILE_BYTES) -> dict[str, bytes]:
        """The bytes of each path; see ``Tree``."""
        return collect(self.read_each(paths, limit=limit))

    def blob_id(self, path: str) -> str:
        """``git:<oid>`` or ``sha256:<hex>`` of the content; see ``Tree``."""
        found = self._store.identity(self._file(path))
        if isinstance(found, Fault):
            raise unreadable(path, *found)
        return found

    def case_variant(self, path: str) -> str | None:
        """The path as it is spelt in the tree where it differs only in case or normalisation."""
        return case_variant(self._store, path)

    def _file(self, path: str) -> Place:
        place = self._places.get(path) or self._resolve(path)
        if place.entry.kind != "file":
            raise unreadable(path, "is a folder, not a file", "name a file inside it")
        return place

    def _resolve(self, path: str) -> Place:
        """``resolve``, with the folder of the file remembered: files are asked for folder by folder."""
        parent, _, name = path.rpartition("/")
        entries = self._plain.get(parent)
        if entries is None:
            entries = self._plain[parent] = plain_entries(self._store, parent)
        entry = entries.get(name)
        if entry is not None and entry.kind == "file":
            return Place(path, entry)
        return resolve(self._store, path)

    def _read_batch(self, paths: Sequence[str], limit: int) -> Iterator[tuple[str, bytes | UnreadableSource]]:
        places: dict[str, Place | UnreadableSource] = {}
        for path in paths:
            try:
                places[path] = self._file(path)
            except UnreadableSource as error:
                places[path] = error
        files = self._store.fetch([p for p in places.values() if isinstance(p, Place)], limit)
        answers = {path: next(files) if isinstance(place, Place) else place for path, place in places.items()}
        for path in paths:
            yield path, _content(path, answers[path])

    def _walk(self, prefixes: Iterable[str]) -> tuple[Walk, tuple[str, ...]]:
        wanted = (prefixes,) if isinstance(prefixes, str) else prefixes
        key = tuple(sorted({_clean(prefix) for prefix in wanted})) or ("",)
        known = self._walks.get(key)
        if known is None:
            self._store.prepare(key)
            found = Walk(self._store, self._store.hidden(key))
            for prefix in key:
                found.enter(prefix)
            known = self._walks[key] = (found, tuple(sorted(found.paths)))
            self._places |= found.paths
        return known


def _content(path: str, answer: bytes | Fault | UnreadableSource) -> bytes | UnreadableSource:
    if isinstance(answer, Fault):
        return unreadable(path, *answer)
    if isinstance(answer, UnreadableSource):
        return answer
    try:
        return refuse_lfs_pointer(path, answer)
    except UnreadableSource as error:
        return error


def _clean(prefix: str) -> str:
    folder = prefix.rstrip("/") if prefix != "/" else prefix
    return "" if folder == "." else folder.removeprefix("./")
