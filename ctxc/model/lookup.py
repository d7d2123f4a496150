"""What a reference names: ``id``, ``id@version``, or ``id_vN`` for version N of ``id``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

from ctxc.base.spans import Origin

_VERSIONED = re.compile(r"(?P<id>.+)_v(?P<version>\d+)\Z")


class Versioned(Protocol):
    """What has an id and a version."""

    @property
    def id(self) -> str: ...
    @property
    def version(self) -> str: ...


class Defined(Versioned, Protocol):
    """What also stands somewhere."""

    @property
    def origin(self) -> Origin: ...


V = TypeVar("V", bound=Versioned)


def candidates(index: Mapping[str, Sequence[V]], name: str) -> tuple[V, ...]:
    """Everything that a reference may mean, in file order; an id that stands there literally wins."""
    found = index.get(name)
    if found:
        return tuple(found)
    base, at, pinned = name.rpartition("@")
    if not at:
        match = _VERSIONED.match(name)
        if match is None:
            return ()
        base, pinned = match["id"], match["version"]
    return tuple(c for c in index.get(base, ()) if same_version(c.version, pinned))


def same_version(one: str, other: str) -> bool:
    """Whether two versions are the same: ``12`` and ``v12`` are, ``1.10`` and ``1.1`` are not."""
    return one.removeprefix("v") == other.removeprefix("v")
