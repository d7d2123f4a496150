"""A tree is where bytes come from: list paths, read bytes. Work tree, index, commit and memory look the same.

Paths are relative to the root of the project, POSIX, and obey ``ctxc.source.paths``. A symbolic link is followed inside
the tree only, at most eight hops, with the same rules in every tree (``ctxc.source.links``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Protocol

from ctxc.base.errors import UnreadableSource
from ctxc.base.spans import Location
from ctxc.base.values import dataclass
from ctxc.source.paths import shown

# Limits. A prompt of 1 MiB is about 250,000 tokens, more than any window that the profiles know; the largest of the
# 311 real files examined in November 2026 had 0.6 MB. Recorded histories and tool results are larger.
MAX_FILE_BYTES = 1 << 20  # one manifest, prompt or policy
MAX_INPUT_BYTES = 16 << 20  # one input file of a fixture
MAX_READ_BYTES = 64 << 20  # no read may ask for more: a vocabulary (that of Gemma 3 has 33 MB)
MAX_FILES = 100_000  # files and folders of one listing; the largest project of the benchmarks has about 3,000 files
MAX_TREE_BYTES = 256 << 20  # bytes that are read at once
KEPT_BYTES = 64 << 20  # contents that a tree keeps, so that what was hashed is what is parsed

TOO_MUCH = (
    f"is one file too many: together the files have more than {MAX_TREE_BYTES:,} bytes",
    "name narrower folders in the configuration",
)

# The specification of Git LFS (git-lfs/git-lfs, v3): pointers are under 1,024 bytes and begin with the version.
_LFS_MAX_BYTES = 1024
_LFS_POINTER = re.compile(rb"version https://(?:git-lfs\.github\.com|hawser\.github\.com)/spec/v1\r?\n")
_LFS_HELP = (
    "run `git lfs pull` and use the work tree; or keep what a model is shown out of LFS (`git lfs migrate export`), "
    "so that it can be compared between revisions"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Oddity:
    """An entry that a listing leaves out, so that nothing is lost silently.

    ``path`` is in the form for messages (``paths.shown``): it may not be usable to read anything. ``kind`` is one of
    name, link, submodule, special, unmerged, depth, folder. ``reason`` is the rest of a sentence that begins with
    the path.
    """

    path: str
    kind: str
    reason: str
    help: str = ""


class Tree(Protocol):
    """Files of a project at one moment."""

    @property
    def label(self) -> str:
        """What messages call this tree: ``the work tree``, ``the index``, ``HEAD~1 (1a2b3c4d5e6f)``."""

    def list_paths(self, prefixes: Iterable[str] = ()) -> tuple[str, ...]:
        """Sorted paths of the regular files under the given folders (or files), of all without any.

        Links are resolved and listed under their own path; a link to a folder that contains it is not entered again,
        unless it is named. Left out are ``.git``, ``.venv``, ``node_modules``, ``__pycache__``, ``.ctxc/cache``,
        sub-modules and, in a repository's work tree, what git ignores. A folder that does not exist holds nothing.
        Raises UnreadableSource for a folder whose path is refused and for more than ``MAX_FILES`` entries.
        """

    def list_dir(self, prefix: str = "") -> tuple[str, ...]:
        """Sorted names in one folder, with a ``/`` after each folder; empty where there is no such folder."""

    def oddities(self, prefixes: Iterable[str] = ()) -> tuple[Oddity, ...]:
        """What ``list_paths`` of the same folders leaves out and a person should know of, sorted by path."""

    def exists(self, path: str) -> bool:
        """Whether the path leads to a regular file of the tree; False for a path that is refused."""

    def read(self, path: str, *, limit: int = MAX_FILE_BYTES) -> bytes:
        """The bytes of a file; raises UnreadableSource, RevisionError where git's objects are missing."""

    def read_each(
        self, paths: Iterable[str], *, limit: int = MAX_FILE_BYTES
    ) -> Iterator[tuple[str, bytes | UnreadableSource]]:
        """Each path, in the order given, with its bytes or the reason that ``read`` would raise."""

    def read_many(self, paths: Iterable[str], *, limit: int = MAX_FILE_BYTES) -> dict[str, bytes]:
        """The bytes of each path; raises the first UnreadableSource."""

    def blob_id(self, path: str) -> str:
        """Identity of the content: ``git:<object id>`` where git knows it, else ``sha256:<hex>`` of the bytes.

        Equal ids mean equal bytes; ids of different kinds say nothing about each other. Raises UnreadableSource.
        """

    def case_variant(self, path: str) -> str | None:
        """The path as it is spelt in the tree where it differs from ``path`` only in case or normalisation."""


def unreadable(path: str, reason: str, help: str = "") -> UnreadableSource:
    """The exception for a path that cannot be read, located at that path."""
    name = shown(path)
    return UnreadableSource(f"'{name}' {reason}", help=help, location=Location(name))


def check_limit(limit: int) -> int:
    """The limit itself, if it is one that a read may ask for."""
    if not 0 < limit <= MAX_READ_BYTES:
        raise ValueError(f"a read may ask for 1 to {MAX_READ_BYTES:,} bytes, not {limit:,}")
    return limit


def refuse_lfs_pointer(path: str, data: bytes) -> bytes:
    """The bytes themselves; raises UnreadableSource where they are a Git LFS pointer instead of the content."""
    if len(data) < _LFS_MAX_BYTES and data[:8] == b"version " and _LFS_POINTER.match(data) and b"\noid sha256:" in data:
        raise unreadable(path, "is a Git LFS pointer, not the content", _LFS_HELP)
    return data


def collect(pairs: Iterable[tuple[str, bytes | UnreadableSource]]) -> dict[str, bytes]:
    """``read_many`` from ``read_each``: raises the first reason, and UnreadableSource above ``MAX_TREE_BYTES``."""
    found: dict[str, bytes] = {}
    total = 0
    for path, data in pairs:
        if isinstance(data, UnreadableSource):
            raise data
        total += len(data)
        if total > MAX_TREE_BYTES:
            raise unreadable(path, *TOO_MUCH)
        found[path] = data
    return found
