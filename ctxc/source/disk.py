"""Folders and files on disk, opened so that no link is followed and nothing but a regular file is read.

Where the platform has directory descriptors every component is opened relative to the one above it, without following
links, so that a link swapped in between is an error and never another file. Elsewhere (Windows) the file that was
opened is compared with the entry that was looked at.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from ctxc.base.errors import UnreadableSource
from ctxc.source.links import Fault, Kind, oversize

_MOUNT_POINT = 0xA0000003  # IO_REPARSE_TAG_MOUNT_POINT, a junction: Python before 3.12 calls it a folder
_CHUNK = 1 << 16


class Contents(NamedTuple):
    """The bytes of a file and the number of names (hard links) that it has."""

    data: bytes
    names: int


class Disk(Protocol):
    """Physical folders below one root. Paths are POSIX, relative to the root, and without links."""

    def scan(self, real: str) -> list[tuple[str, Kind]] | None:
        """Names in a folder with their kinds; None where there is no such folder. Raises OSError."""

    def target(self, real: str) -> str:
        """The target of a link with ``/`` between its components. Raises OSError."""

    def read_all(self, reals: Sequence[str], limit: int) -> Iterator[Contents | Fault]:
        """Each file's contents, in order."""


def open_disk(root: str) -> Disk:
    """The safest reader that the platform allows."""
    can = {os.open, os.readlink} <= os.supports_dir_fd and os.scandir in os.supports_fd and hasattr(os, "O_NOFOLLOW")
    return DescriptorDisk(root) if can else PathDisk(root)


class DescriptorDisk:
    """Reads through directory descriptors (Linux, macOS, BSD)."""

    def __init__(self, root: str) -> None:
        self._root = root

    def scan(self, real: str) -> list[tuple[str, Kind]] | None:
        """Names in a folder with their kinds."""
        try:
            handle = self._open_folder(real)
        except (FileNotFoundError, NotADirectoryError):
            return None
        try:
            with os.scandir(handle) as entries:
                return [(entry.name, _kind(entry)) for entry in entries]
        finally:
            os.close(handle)

    def target(self, real: str) -> str:
        """The target of a link."""
        parent, _, name = real.rpartition("/")
        handle = self._open_folder(parent)
        try:
            return os.readlink(name, dir_fd=handle)
        finally:
            os.close(handle)

    def read_all(self, reals: Sequence[str], limit: int) -> Iterator[Contents | Fault]:
        """Each file's contents; the folder of the file before is kept open, because neighbours come together."""
        here: str | None = None
        handle = -1
        try:
            for real in reals:
                parent, _, name = real.rpartition("/")
                try:
                    if parent != here:
                        if handle >= 0:
                            os.close(handle)
                        here, handle = None, -1
                        handle = self._open_folder(parent)
                        here = parent
                    yield _read_descriptor(os.open(name, _FILE_FLAGS, dir_fd=handle), limit)
                except OSError as error:
                    yield fault_of(error)
        finally:
            if handle >= 0:
                os.close(handle)

    def _open_folder(self, real: str) -> int:
        handle = os.open(self._root, _FOLDER_FLAGS)
        for name in real.split("/") if real else ():
            try:
                below = os.open(name, _FOLDER_FLAGS | os.O_NOFOLLOW, dir_fd=handle)
            finally:
                os.close(handle)
            handle = below
        return handle


class PathDisk:
    """Reads by whole paths, for platforms without directory descriptors."""

    def __init__(self, root: str) -> None:
        self._root = root

    def scan(self, real: str) -> list[tuple[str, Kind]] | None:
        """Names in a folder with their kinds."""
        try:
            with os.scandir(self._path(real)) as entries:
                return [(entry.name, _kind(entry)) for entry in entries]
        except (FileNotFoundError, NotADirectoryError):
            return None

    def target(self, real: str) -> str:
        """The target of a link; Windows writes backslashes."""
        return os.readlink(self._path(real)).replace(os.sep, "/")  # noqa: PTH115

    def read_all(self, reals: Sequence[str], limit: int) -> Iterator[Contents | Fault]:
        """Each file's contents, if what was opened is what stands there and is no link."""
        for real in reals:
            path = self._path(real)
            try:
                before = os.lstat(path)
                if not stat.S_ISREG(before.st_mode):
                    yield _NOT_REGULAR
                    continue
                handle = os.open(path, _FILE_FLAGS)
                opened = os.fstat(handle)
                if not os.path.samestat(before, opened):
                    os.close(handle)
                    yield CHANGED
                    continue
                yield _read_descriptor(handle, limit)
            except OSError as error:
                yield fault_of(error)

    def _path(self, real: str) -> str:
        return os.path.join(self._root, *real.split("/")) if real else self._root  # noqa: PTH118


_FILE_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)  # opening a pipe does not wait for a writer
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NOINHERIT", 0)
)
_FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_NOT_REGULAR = Fault("is not a regular file (a pipe, a device or a socket)", "replace it by a regular file")
CHANGED = Fault("was changed while it was being read", "run the command again when nothing writes to the project")


def fault_of(error: OSError) -> Fault:
    """What the operating system said, in words that do not depend on where the tree lies."""
    if error.errno in {errno.ELOOP, errno.ENOTDIR, errno.EMLINK}:  # a link where there was none (EMLINK: FreeBSD)
        return CHANGED
    if error.errno == errno.ENOENT:
        return Fault("was removed while it was being read", CHANGED.help)
    return Fault(f"cannot be read: {error.strerror or type(error).__name__}", "check its permissions")


def read_named(path: Path, name: str, limit: int, *, help: str) -> bytes:
    """A file beside the tree, through links: at most ``limit`` bytes, no waiting for a pipe, no reading of a device.

    ``name`` is what messages call it. Raises UnreadableSource; ``help`` says what to name instead.
    """
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        found = _read_descriptor(os.open(path, _FILE_FLAGS & ~getattr(os, "O_NOFOLLOW", 0)), limit)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UnreadableSource(f"{name} cannot be read: {reason}", help=help) from error
    if isinstance(found, Fault):
        raise UnreadableSource(f"{name} {found.reason}", help=help)
    return found.data


def _kind(entry: os.DirEntry[str]) -> Kind:
    if entry.is_file(follow_symlinks=False):
        return "file"
    if entry.is_symlink():
        return "link"
    if entry.is_dir(follow_symlinks=False):
        tag = getattr(entry.stat(follow_symlinks=False), "st_reparse_tag", 0) if os.name == "nt" else 0
        return "link" if tag == _MOUNT_POINT else "folder"
    return "special"


def _read_descriptor(handle: int, limit: int) -> Contents | Fault:
    """The contents behind an open descriptor, which is closed."""
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            return _NOT_REGULAR
        if status.st_size > limit:
            return oversize(status.st_size, limit)
        data = os.read(handle, status.st_size + 1)
        if len(data) != status.st_size or not data:  # it grew, or it is a file whose size is not known in advance
            parts = [data]
            total = len(data)
            while total <= limit and (more := os.read(handle, _CHUNK)):
                parts.append(more)
                total += len(more)
            if total > limit:
                return oversize(None, limit)
            data = b"".join(parts)
        return Contents(data, status.st_nlink)
    finally:
        os.close(handle)
