"""A release bundle (``ctxc.bundle/1``): a lock of every version and hash that ships together.

It names every file with its SHA-256 and its git blob, so that the whole can be judged against and gone back to: from
the repository that has the blobs, or from the bundle itself where it was written with content.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from ctxc.base.values import dataclass
from ctxc.model.release import PrefixLine, Shipped

SCHEMA = "ctxc.bundle/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class BundledFile:
    """A file: path relative to the project, SHA-256 of its bytes (64 hex digits), size in bytes, git's blob id.

    ``content`` is None where only hashes are kept.
    """

    path: str
    sha256: str
    size: int
    blob: str
    content: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BundledFixture:
    """What a fixture compiled to: the ids of its snapshot and its request, and its tokens with what counted them."""

    fixture: str
    snapshot: str
    request: str = ""
    tokens: int | None = None
    tokenizer: str = ""
    method: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """A bundle. ``id`` names what ships; ``commit`` is where all files are as they are here, if they are committed.

    ``folders`` are the configured ones by the name of their setting, ``config`` the path of the configuration file.
    """

    id: str
    version: str  # of ctxc
    commit: str
    config: str
    folders: Mapping[str, tuple[str, ...]]
    objects: tuple[Shipped, ...]
    prefixes: tuple[PrefixLine, ...]
    fixtures: tuple[BundledFixture, ...]
    files: tuple[BundledFile, ...] = field(default=())
