"""Which relative paths may name a file of a project, the same on every platform.

A path comes from a manifest, a fixture, a symbolic link or a directory listing: all of them untrusted. The grammar
refuses what one platform would read as something else (drive letters, streams, short names, trailing dots), so that
a project behaves alike on Linux, macOS and Windows, and so that no name can reach git's own files. Names outside ASCII
are allowed and taken literally: nothing is decoded, unquoted or normalised before a file is opened.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

MAX_PATH_BYTES = 4096  # PATH_MAX of Linux, <linux/limits.h>
MAX_NAME_BYTES = 255  # NAME_MAX of Linux; NTFS and APFS allow 255 UTF-16 units or UTF-8 bytes
MAX_DEPTH = 64  # folders on a path; no project seen in the corpora goes below 12

# https://learn.microsoft.com/windows/win32/fileio/naming-a-file, read 2026-11: also with any extension.
_RESERVED = frozenset(
    {"con", "prn", "aux", "nul", "conin$", "conout$"}
    | {f"{device}{digit}" for device in ("com", "lpt") for digit in "123456789¹²³"}
)
# HFS+ ignores these code points in a name (git's utf8.c, next_hfs_char): ".g<U+200C>it" opens ".git" there.
# Patterns of names that are not plain are compiled where the first such name is met: a millisecond of every start.
_HFS_IGNORED = "[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]"
_CONTROL = "[\x00-\x1f\x7f-\x9f\u2028\u2029]"
_SURROGATE = "[\ud800-\udfff]"
_UNPRINTABLE = "[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]"
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_-](?:[A-Za-z0-9._ -]*[A-Za-z0-9_-])?")
_LONGEST_RESERVED = 7
_CUT = 64  # characters that are shown of a path that is no path

# Folders that hold no sources: git's own, environments, installed packages, caches. Never listed, in no tree.
SKIPPED_FOLDERS = frozenset({".git", ".venv", "node_modules", "__pycache__"})
SKIPPED_PATHS = frozenset({".ctxc/cache"})


@lru_cache(maxsize=1 << 16)  # two revisions of a folder have mostly the same names
def fault_of_name(name: str) -> str:
    """Why one component of a path is refused; an empty string where it is fine."""
    if _PLAIN_NAME.fullmatch(name) and len(name) <= MAX_NAME_BYTES:
        return _reserved(name)
    if not name:
        return "has an empty component"
    if name in {".", ".."}:
        return f"has the component '{name}'"
    if re.search(_SURROGATE, name):
        return "has a name that is not valid UTF-8"
    if re.search(_CONTROL, name):
        return "has a control character in its name"
    if "\\" in name:
        return "has a backslash; folders are separated by '/'"
    if ":" in name:
        return "has a colon, which is a drive, a stream or a URL"
    if name[-1] in ". ":
        return "has a component that ends in a dot or a space, which Windows drops"
    if len(name.encode("utf-8")) > MAX_NAME_BYTES:
        return f"has a component of more than {MAX_NAME_BYTES:,} bytes"
    if re.sub(_HFS_IGNORED, "", name).casefold() in {".git", "git~1"}:
        return "reaches into git's own folder"
    return _reserved(name)


def fault_of_path(path: str) -> str:
    """Why a path may not name a file of the project; an empty string where it is fine."""
    if not path:
        return "is empty"
    if path[0] == "/":
        return "is absolute"
    if path[0] == "~":
        return "begins with '~', which a shell would expand"
    parts = path.split("/")
    for part in parts:
        fault = fault_of_name(part)
        if fault:
            return fault
    if len(parts) > MAX_DEPTH:
        return f"is more than {MAX_DEPTH} folders deep"
    if len(path.encode("utf-8")) > MAX_PATH_BYTES:
        return f"is longer than {MAX_PATH_BYTES:,} bytes"
    return ""


def is_skipped(path: str, name: str) -> bool:
    """Whether a listing leaves this folder out (``name`` is the last component of ``path``)."""
    return name in SKIPPED_FOLDERS or path in SKIPPED_PATHS


def shown(path: str) -> str:
    """The path as it may stand in a message: one line, bytes that are not UTF-8 escaped, no longer than a path."""
    if len(path) > MAX_PATH_BYTES:
        path = f"{path[:_CUT]}... ({len(path):,} characters)"
    return path if path.isascii() and path.isprintable() else re.sub(_UNPRINTABLE, _escaped, path)


def fold(path: str) -> str:
    """The key under which two paths are one file on some platform: NFC, without case."""
    return path.lower() if path.isascii() else unicodedata.normalize("NFC", path).casefold()


def collisions(paths: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """Groups of different paths that are one file where names ignore case or normalisation; each group sorted."""
    groups: dict[str, list[str]] = {}
    for path in paths:
        groups.setdefault(fold(path), []).append(path)
    return tuple(sorted(tuple(sorted(group)) for group in groups.values() if len(group) > 1))


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    if 0xDC80 <= code <= 0xDCFF:  # how Python carries a byte of a file name that is not UTF-8
        code -= 0xDC00
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}"


def _reserved(name: str) -> str:
    stem = name.partition(".")[0].rstrip(" ")
    if len(stem) <= _LONGEST_RESERVED and stem.lower() in _RESERVED:
        return f"has the component '{name}', a device name on Windows"
    if name.lower() in {".git", "git~1"}:
        return "reaches into git's own folder"
    return ""
