"""Writing files: beside their place first, then renamed, so that nobody ever reads half a file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from errno import EISDIR
from pathlib import Path

from ctxc.base.errors import CtxcError, UsageError


def write_text(path: Path, text: str) -> None:
    """Write a text as UTF-8 with line feeds; raises CtxcError where that cannot be done and leaves what was there."""
    write_bytes(path, encoded(text))


def encoded(text: str) -> bytes:
    """The bytes that stand in a file for a text."""
    return text.encode("utf-8", "backslashreplace")


def write_bytes(path: Path, data: bytes) -> None:
    """Write bytes; raises CtxcError where that cannot be done and leaves what was there."""
    write_all({path: data})


def write_all(files: Mapping[Path, bytes], *, gone: Iterable[Path] = ()) -> None:
    """Write files as one: all of them stand beside their places before the first is renamed. Files of ``gone`` are
    removed then, where they are there.

    Raises CtxcError where one cannot be written, and leaves what was there.
    """
    staged: list[tuple[Path, Path]] = []
    path = Path()
    try:
        for path, data in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            # A link is followed, so that an artefact that is linked to elsewhere stays linked.
            target = path.resolve()
            if target.is_dir():
                raise IsADirectoryError(EISDIR, "it is a folder")
            if target.exists() and not target.is_file():
                # /dev/stdout, a pipe: there is nothing to rename over.
                target.write_bytes(data)
                continue
            staged.append((_stage(target, data), target))
        for beside, target in staged:
            path = target
            beside.replace(target)
        for path in gone:
            if path.is_file():
                path.unlink()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise CtxcError(f"cannot write {str(path)!r}: {reason}", help="check the folder and its permissions") from error
    finally:
        for beside, _ in staged:
            beside.unlink(missing_ok=True)


def _stage(target: Path, data: bytes) -> Path:
    """A file beside a target, with what it is to hold and who may read it."""
    import tempfile

    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    beside = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        beside.chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    return beside


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def file_name(identifier: str) -> str:
    """A file name for an id: what a file system may refuse or read as a folder becomes ``%XX``, as in a URL.

    Different ids give different names, also where the file system ignores case.
    """
    if not identifier:
        raise UsageError("an empty id has no file name")
    from ctxc.source.paths import fault_of_name

    name = "".join(c if c in _PLAIN else _encoded(c) for c in identifier)
    if fault_of_name(name):  # a device name of Windows
        name = _encoded(name[0]) + name[1:]
    if len(name) <= _MAX_NAME:
        return name
    from hashlib import sha256

    digest = sha256(identifier.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return f"{name[: _MAX_NAME - 33]}-{digest}"


_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")
_MAX_NAME = 180


def _encoded(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogatepass"))
