"""A tree with some files replaced: what stands in an editor, or came through a pipe, over what is on disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ctxc.base.canonical import digest_bytes
from ctxc.base.errors import UnreadableSource
from ctxc.source.links import oversize
from ctxc.source.paths import fault_of_path, fold
from ctxc.source.tree import (
    MAX_FILE_BYTES,
    Oddity,
    Tree,
    check_limit,
    collect,
    refuse_lfs_pointer,
    unreadable,
)


class OverlayTree:
    """A ``Tree`` that shows ``changes`` (path to content, None: the file is gone) and else its base.

    A changed path hides what the base has at that very path; links of the base that lead to it still show the base.
    Raises UnreadableSource for a changed path that no tree may have.
    """

    def __init__(self, base: Tree, changes: Mapping[str, bytes | str | None], *, label: str = "") -> None:
        for path in changes:
            fault = fault_of_path(path)
            if fault:
                raise unreadable(path, fault)
        self._base = base
        self._changes = {path: data.encode() if isinstance(data, str) else data for path, data in changes.items()}
        self._label = label or f"{base.label} with changes"

    @property
    def label(self) -> str:
        """What messages call this tree."""
        return self._label

    def list_paths(self, prefixes: Iterable[str] = ()) -> tuple[str, ...]:
        """Sorted paths of the regular files under the given folders or files; see ``Tree``."""
        wanted = (prefixes,) if isinstance(prefixes, str) else tuple(prefixes)
        own = {path for path, data in self._changes.items() if data is not None and _is_under(path, wanted)}
        return tuple(sorted(own | (set(self._base.list_paths(wanted)) - self._changes.keys())))

    def list_dir(self, prefix: str = "") -> tuple[str, ...]:
        """Sorted names in one folder, with a ``/`` after each folder; see ``Tree``."""
        start = f"{prefix.rstrip('/')}/" if prefix.rstrip("/") not in {"", "."} else ""
        names = set(self._base.list_dir(prefix))
        for path, data in self._changes.items():
            if path.startswith(start):
                name, slash, _ = path[len(start) :].partition("/")
                if data is not None:
                    names.add(name + slash)
                elif not slash:
                    names.discard(name)
        return tuple(sorted(names))

    def oddities(self, prefixes: Iterable[str] = ()) -> tuple[Oddity, ...]:
        """What the base leaves out under the same folders; see ``Tree``."""
        return tuple(odd for odd in self._base.oddities(prefixes) if odd.path not in self._changes)

    def exists(self, path: str) -> bool:
        """Whether the path leads to a regular file of the tree."""
        if path in self._changes:
            return self._changes[path] is not None
        return self._base.exists(path)

    def read(self, path: str, *, limit: int = MAX_FILE_BYTES) -> bytes:
        """The bytes of a file; see ``Tree``."""
        if path not in self._changes:
            return self._base.read(path, limit=limit)
        data = self._changed(path)
        if len(data) > check_limit(limit):
            raise unreadable(path, *oversize(len(data), limit))
        return refuse_lfs_pointer(path, data)

    def read_each(
        self, paths: Iterable[str], *, limit: int = MAX_FILE_BYTES
    ) -> Iterator[tuple[str, bytes | UnreadableSource]]:
        """Each path with its bytes or the reason why it has none; see ``Tree``."""
        wanted = tuple(paths)
        below = self._base.read_each((path for path in wanted if path not in self._changes), limit=limit)
        for path in wanted:
            if path not in self._changes:
                yield next(below)
                continue
            try:
                yield path, self.read(path, limit=limit)
            except UnreadableSource as error:
                yield path, error

    def read_many(self, paths: Iterable[str], *, limit: int = MAX_FILE_BYTES) -> dict[str, bytes]:
        """The bytes of each path; see ``Tree``."""
        return collect(self.read_each(paths, limit=limit))

    def blob_id(self, path: str) -> str:
        """Identity of the content; see ``Tree``."""
        if path not in self._changes:
            return self._base.blob_id(path)
        return digest_bytes(self._changed(path))

    def case_variant(self, path: str) -> str | None:
        """The path as it is spelt in the tree where it differs only in case or normalisation."""
        if self._changes.get(path) is not None:
            return None
        key = fold(path)
        for other, data in self._changes.items():
            if data is not None and fold(other) == key:
                return other
        found = self._base.case_variant(path)
        return None if found is not None and self._changes.get(found, b"") is None else found

    def _changed(self, path: str) -> bytes:
        data = self._changes[path]
        if data is None:
            raise unreadable(path, "was removed", "check the path")
        return data


def _is_under(path: str, prefixes: tuple[str, ...]) -> bool:
    folders = [prefix.rstrip("/").removeprefix("./") for prefix in prefixes]
    return not folders or any(folder in {"", ".", path} or path.startswith(f"{folder}/") for folder in folders)
