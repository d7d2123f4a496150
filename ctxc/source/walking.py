"""Listing every file below some folders, with links followed by the rules of ``ctxc.source.links``."""

from __future__ import annotations

from dataclasses import field

from ctxc.base.errors import UnreadableSource
from ctxc.base.values import dataclass
from ctxc.source.links import LOOP_HELP, REASONS, ROOT, Folders, Place, join, resolve
from ctxc.source.paths import MAX_DEPTH, fault_of_path, is_skipped, shown
from ctxc.source.tree import MAX_FILES, Oddity, unreadable


@dataclass(slots=True)
class Walk:
    """One walk: where it goes, and what it has found so far.

    ``hidden`` are physical paths that are left out; ``paths`` maps a listed path to the file behind it.
    """

    folders: Folders
    hidden: frozenset[str] = frozenset()
    paths: dict[str, Place] = field(default_factory=dict)
    oddities: list[Oddity] = field(default_factory=list)
    seen: int = 0

    def enter(self, prefix: str) -> None:
        """Add the file or everything below the folder at ``prefix`` (empty: the root).

        Raises UnreadableSource for a prefix that the grammar refuses and for more than ``MAX_FILES`` entries.
        """
        try:
            place = resolve(self.folders, prefix) if prefix else ROOT
        except UnreadableSource as error:
            if fault_of_path(prefix):
                raise
            if self._stands_in_tree(prefix):
                self._leave_out(prefix, "link", error.message, error.help)
            return
        if self.hidden and any(part in self.hidden for part in _parts(place.real)):
            return
        if place.entry.kind == "file":
            self.paths[prefix] = place
        else:
            self._add_folder(prefix, place.real, ())

    def _add_folder(self, logical: str, real: str, chain: tuple[str, ...]) -> None:
        """Add what one folder holds. ``chain``: the physical folders from which links were taken to come here."""
        listing = self.folders.folder(real)
        if listing is None:
            return
        if listing.closed is not None:
            self._leave_out(logical or ".", *listing.closed)
            return
        if logical.count("/") + 1 >= MAX_DEPTH:
            self._leave_out(logical, "depth", f"is {MAX_DEPTH} folders deep", "move it nearer to the root")
            return
        self.seen += len(listing.entries) + len(listing.refused)
        if self.seen > MAX_FILES:
            help = "name narrower folders in the configuration, so that only sources are walked"
            raise unreadable(logical or ".", f"is one folder too many: more than {MAX_FILES:,} entries", help)
        for name, reason in listing.refused:
            if not is_skipped(name, name) and join(real, name) not in self.hidden:
                help = "rename it: the name means something else, or nothing, on another platform"
                self._leave_out(join(logical, name), "name", reason, help)
        for name, entry in listing.entries.items():
            path = f"{logical}/{name}" if logical else name
            at = path if logical == real else join(real, name)
            if self.hidden and at in self.hidden:
                continue
            if entry.kind == "file":
                self.paths[path] = Place(at, entry)
            elif entry.kind == "folder":
                if not is_skipped(path, name):
                    self._add_folder(path, at, chain)
            elif entry.kind == "link":
                if not is_skipped(path, name):
                    self._add_link(path, (*chain, real))
            else:
                self._leave_out(path, entry.kind, *REASONS[entry.kind])

    def _add_link(self, path: str, chain: tuple[str, ...]) -> None:
        try:
            place = resolve(self.folders, path)
        except UnreadableSource as error:
            self._leave_out(path, "link", error.message, error.help)
            return
        if place.entry.kind == "file":
            self.paths[path] = place
        elif not place.real or any(f"{above}/".startswith(f"{place.real}/") for above in chain):
            self._leave_out(path, "link", "links to a folder that contains it; the folder is listed once", LOOP_HELP)
        else:
            self._add_folder(path, place.real, chain)

    def _leave_out(self, path: str, kind: str, reason: str, help: str) -> None:
        name = shown(path)
        self.oddities.append(Oddity(path=name, kind=kind, reason=reason.removeprefix(f"'{name}' "), help=help))

    def _stands_in_tree(self, path: str) -> bool:
        """Whether the path itself is an entry, whatever it leads to."""
        parent, _, name = path.rpartition("/")
        try:
            place = resolve(self.folders, parent) if parent else ROOT
        except UnreadableSource:
            return False
        listing = self.folders.folder(place.real)
        return listing is not None and name in listing.entries


def _parts(path: str) -> tuple[str, ...]:
    """A path and the folders above it, without the root."""
    names = path.split("/")
    return tuple("/".join(names[:count]) for count in range(1, len(names) + 1))
