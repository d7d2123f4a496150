"""A tree whose listing leaves out some files: what need not be loaded because nothing about it can have changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctxc.base.errors import UnreadableSource
    from ctxc.source.tree import Oddity, Tree

_MAX_FILE_BYTES = 1 << 20  # as ctxc.source.tree.MAX_FILE_BYTES


class PartialTree:
    """A ``Tree`` that lists no path of ``hidden``. They can still be read: another file may refer to them."""

    def __init__(self, base: Tree, hidden: frozenset[str]) -> None:
        self._base = base
        self._hidden = hidden

    @property
    def label(self) -> str:
        """What messages call this tree."""
        return self._base.label

    def list_paths(self, prefixes: Iterable[str] = ()) -> tuple[str, ...]:
        """The paths of the base that are not hidden."""
        return tuple(p for p in self._base.list_paths(prefixes) if p not in self._hidden)

    def list_dir(self, prefix: str = "") -> tuple[str, ...]:
        """As the base."""
        return self._base.list_dir(prefix)

    def oddities(self, prefixes: Iterable[str] = ()) -> tuple[Oddity, ...]:
        """As the base."""
        return self._base.oddities(prefixes)

    def exists(self, path: str) -> bool:
        """As the base."""
        return self._base.exists(path)

    def read(self, path: str, *, limit: int = _MAX_FILE_BYTES) -> bytes:
        """As the base."""
        return self._base.read(path, limit=limit)

    def read_each(
        self, paths: Iterable[str], *, limit: int = _MAX_FILE_BYTES
    ) -> Iterator[tuple[str, bytes | UnreadableSource]]:
        """As the base."""
        return self._base.read_each(paths, limit=limit)

    def read_many(self, paths: Iterable[str], *, limit: int = _MAX_FILE_BYTES) -> dict[str, bytes]:
        """As the base."""
        return self._base.read_many(paths, limit=limit)

    def blob_id(self, path: str) -> str:
        """As the base."""
        return self._base.blob_id(path)

    def case_variant(self, path: str) -> str | None:
        """As the base."""
        return self._base.case_variant(path)
