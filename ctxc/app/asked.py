"""A tree that remembers which paths were asked for: what a stored result rests on beside the project's folders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctxc.base.errors import UnreadableSource
    from ctxc.source.tree import Oddity, Tree


class AskedTree:
    """A tree that remembers which paths were asked for, found or not."""

    def __init__(self, base: Tree) -> None:
        self._base = base
        self.asked: set[str] = set()

    @property
    def label(self) -> str:
        """What messages call this tree."""
        return self._base.label

    def list_paths(self, prefixes: Iterable[str] = ()) -> tuple[str, ...]:
        """See ``Tree``."""
        return self._base.list_paths(prefixes)

    def list_dir(self, prefix: str = "") -> tuple[str, ...]:
        """See ``Tree``."""
        return self._base.list_dir(prefix)

    def oddities(self, prefixes: Iterable[str] = ()) -> tuple[Oddity, ...]:
        """See ``Tree``."""
        return self._base.oddities(prefixes)

    def exists(self, path: str) -> bool:
        """See ``Tree``."""
        self.asked.add(path)
        return self._base.exists(path)

    def read(self, path: str, *, limit: int = 1 << 20) -> bytes:
        """See ``Tree``."""
        self.asked.add(path)
        return self._base.read(path, limit=limit)

    def read_each(
        self, paths: Iterable[str], *, limit: int = 1 << 20
    ) -> Iterator[tuple[str, bytes | UnreadableSource]]:
        """See ``Tree``."""
        wanted = tuple(paths)
        self.asked.update(wanted)
        return self._base.read_each(wanted, limit=limit)

    def read_many(self, paths: Iterable[str], *, limit: int = 1 << 20) -> dict[str, bytes]:
        """See ``Tree``."""
        wanted = tuple(paths)
        self.asked.update(wanted)
        return self._base.read_many(wanted, limit=limit)

    def blob_id(self, path: str) -> str:
        """See ``Tree``."""
        self.asked.add(path)
        return self._base.blob_id(path)

    def case_variant(self, path: str) -> str | None:
        """See ``Tree``."""
        self.asked.add(path)
        return self._base.case_variant(path)
