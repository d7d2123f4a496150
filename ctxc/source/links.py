"""Following symbolic links, with the same rules in every tree.

A store knows physical folders only: one listing per folder, each entry with its kind. This module turns a path of the
project into the physical path behind it: links are followed inside the tree only, at most eight hops, and never
into git's own folder, a nested repository or anything that is not a regular file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, Protocol, TypeAlias

from ctxc.base.errors import UnreadableSource
from ctxc.base.values import dataclass
from ctxc.source.paths import MAX_PATH_BYTES, fault_of_name, fault_of_path, fold, shown
from ctxc.source.tree import unreadable

MAX_HOPS = 8  # links on one path; Linux itself allows 40

Kind: TypeAlias = Literal["file", "folder", "link", "submodule", "special", "unmerged"]

REASONS: dict[Kind, tuple[str, str]] = {
    "submodule": ("is a sub-module; its files are not part of this project", "copy the files that are needed"),
    "special": ("is not a regular file (a pipe, a device or a socket)", "replace it by a regular file"),
    "unmerged": ("has an unresolved merge conflict in the index", "resolve the conflict and `git add` the file"),
}
LOOP_HELP = "replace the link by a copy of the file, or let it point at the file itself"
_LEAVES_HELP = "let the link point to a file of the project"
_GRAMMAR_HELP = "give a path relative to the project root with '/' between folders, such as 'fragments/core/policy.md'"


class Entry(NamedTuple):
    """One name in a folder. ``oid`` is git's object id where git knows the content, else empty."""

    kind: Kind
    oid: str = ""


class Closed(NamedTuple):
    """Why a folder is not entered: kind of an ``Oddity``, the rest of a sentence, the remedy."""

    kind: str
    reason: str
    help: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """One physical folder: its entries whose names are allowed, the names that are not, with the reason."""

    entries: Mapping[str, Entry]
    refused: tuple[tuple[str, str], ...] = ()
    closed: Closed | None = None  # why nothing in it may be used


NESTED = Closed(
    "submodule",
    "is in a nested git repository, whose files are not part of this project",
    "copy the files that are needed",
)


class Fault(NamedTuple):
    """Why a physical file cannot be read: the rest of a sentence that begins with its path, and the remedy."""

    reason: str
    help: str = ""


def oversize(size: int | None, limit: int) -> Fault:
    """A file above the limit of bytes (``size`` None: it did not end before the limit)."""
    length = "is larger than" if size is None else f"has {size:,} bytes, more than"
    return Fault(f"{length} the limit of {limit:,} bytes", "split the file, or refer to it instead of including it")


class Folders(Protocol):
    """The physical folders of a store."""

    def folder(self, real: str) -> Folder | None:
        """The folder at a physical path (empty: the root); None where there is none."""

    def link_target(self, real: str) -> str | Fault:
        """The text of the link at a physical path, with ``/`` between its components."""


class Place(NamedTuple):
    """What a path leads to: the physical path and its entry (file or folder)."""

    real: str
    entry: Entry


_EMPTY: Mapping[str, Entry] = {}
ROOT = Place("", Entry("folder"))


def resolve(folders: Folders, path: str) -> Place:
    """What the path leads to; raises UnreadableSource with the hop that fails."""
    parent, _, name = path.rpartition("/")
    entry = plain_entries(folders, parent).get(name)
    if entry is not None and entry.kind == "file":
        return Place(path, entry)
    return _resolve_slowly(folders, path)


def case_variant(folders: Folders, path: str) -> str | None:
    """The path as the tree spells it where only case or normalisation differs; None where it is there or is not."""
    if fault_of_path(path):
        return None
    spelt: list[str] = []
    for name in path.split("/"):
        try:
            place = resolve(folders, "/".join(spelt)) if spelt else ROOT
        except UnreadableSource:
            return None
        listing = folders.folder(place.real)
        if listing is None:
            return None
        if name not in listing.entries:
            key = fold(name)
            name = min((other for other in listing.entries if fold(other) == key), default="")
            if not name:
                return None
        spelt.append(name)
    found = "/".join(spelt)
    return found if found != path else None


def join(folder: str, name: str) -> str:
    """A path below a folder; the root is empty."""
    return f"{folder}/{name}" if folder else name


def plain_entries(folders: Folders, path: str) -> Mapping[str, Entry]:
    """What a folder holds, where its path is allowed and made of physical folders only; else nothing."""
    here = ""
    for name in path.split("/") if path else ():
        listing = folders.folder(here)
        entry = listing.entries.get(name) if listing is not None and listing.closed is None else None
        if entry is None or entry.kind != "folder":  # a name that is not allowed is never an entry
            return _EMPTY
        here = join(here, name)
    listing = folders.folder(here)
    return listing.entries if listing is not None and listing.closed is None else _EMPTY


def _resolve_slowly(folders: Folders, path: str) -> Place:
    fault = fault_of_path(path)
    if fault:
        raise unreadable(path, fault, _GRAMMAR_HELP)
    pending = [(name, "") for name in reversed(path.split("/"))]  # with the link whose target it stands in
    real: list[str] = []
    entry = ROOT.entry
    hops = 0
    while pending:
        name, link = pending.pop()
        if entry.kind != "folder":
            reason = f"goes through '{'/'.join(real)}', which is a file, not a folder"
            raise unreadable(path, reason, "check the path")
        if name in {"", "."}:
            continue
        if name == "..":
            if not real:  # only a link's target may hold "..": the grammar refuses it in a path
                raise unreadable(path, f"leaves the project: {link}", _LEAVES_HELP)
            real.pop()
            entry = ROOT.entry
            continue
        here = "/".join(real)
        listing = folders.folder(here)
        if listing is not None and listing.closed is not None:
            raise unreadable(path, listing.closed.reason, listing.closed.help)
        found = listing.entries.get(name) if listing is not None else None
        if found is None:
            raise _missing(folders, path, here, name, hops)
        at = join(here, name)
        if found.kind == "link":
            hops += 1
            if hops > MAX_HOPS:
                raise unreadable(
                    path, f"goes through more than {MAX_HOPS} symbolic links; the last is '{at}'", LOOP_HELP
                )
            target = _target(folders, path, at)
            names = f"the symbolic link '{at}' points to '{shown(target)}'"
            pending.extend((part, names) for part in reversed(target.split("/")))
            continue
        if found.kind in REASONS:
            raise unreadable(path, *REASONS[found.kind]) if at == path else _through(path, at, found.kind)
        real.append(name)
        entry = found
    return Place("/".join(real), entry)


def _target(folders: Folders, path: str, at: str) -> str:
    """The target of a link, checked: relative, and with names that the grammar allows."""
    target = folders.link_target(at)
    if isinstance(target, Fault):
        raise unreadable(path, f"is or goes through the link '{at}', which {target.reason}", target.help)
    names = f"the symbolic link '{at}' points to '{shown(target)}'"
    if target.startswith("/") or not target:
        raise unreadable(path, f"leaves the project: {names}", _LEAVES_HELP)
    if len(target) > MAX_PATH_BYTES:
        reason = f"goes through the link '{at}', whose target has over {MAX_PATH_BYTES:,} characters"
        raise unreadable(path, reason, LOOP_HELP)
    for part in target.split("/"):
        fault = fault_of_name(part) if part not in {"", ".", ".."} else ""
        if fault:
            raise unreadable(path, f"cannot be followed: {names}, which {fault}", LOOP_HELP)
    return target


def _through(path: str, at: str, kind: Kind) -> UnreadableSource:
    reason, help = REASONS[kind]
    return unreadable(path, f"leads to '{at}', which {reason}", help)


def _missing(folders: Folders, path: str, here: str, name: str, hops: int) -> UnreadableSource:
    at = join(here, name)
    if hops:
        return unreadable(path, f"is or goes through a symbolic link to '{at}', which is not in the tree", LOOP_HELP)
    variant = case_variant(folders, path)
    if variant:
        return unreadable(path, f"is not in the tree; '{variant}' is, in other letters", f"write '{variant}'")
    from difflib import get_close_matches

    listing = folders.folder(here)
    near = get_close_matches(name, sorted(listing.entries), n=1) if listing is not None else []
    return unreadable(
        path, "is not in the tree", f"did you mean '{join(here, near[0])}'?" if near else "check the path"
    )
