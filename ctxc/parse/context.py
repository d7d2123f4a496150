"""What a loader of one file is given: the file's path, the tree, and a place for what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ctxc.base.canonical import digest_bytes
from ctxc.base.errors import UnreadableSource
from ctxc.base.spans import Origin
from ctxc.model.finding import Severity
from ctxc.model.fragment import LostFragment
from ctxc.parse import document
from ctxc.parse.nodes import escape
from ctxc.parse.problems import Problem, nearest, shown
from ctxc.parse.text import normalised
from ctxc.parse.validate import Validator
from ctxc.source.paths import fault_of_path
from ctxc.source.tree import MAX_INPUT_BYTES, Tree


class Reference(NamedTuple):
    """A name that has to mean something once everything is loaded."""

    kind: str  # template, fragment, contract, toolset, profile, provider
    name: str
    path: str
    pointer: str
    level: Severity | None = None


KINDS = ("template", "fragment", "contract", "toolset", "profile", "provider")
"""Kinds that something else can name."""


class Shared:
    """What the loaders of all files of one project share."""

    def __init__(self, tree: Tree, validators: dict[str, Validator] | None = None) -> None:
        self.tree = tree
        self.used: set[str] = set()  # files that a definition names: data, not definitions of their own
        self.references: list[Reference] = []
        self.data: dict[str, document.Document | None] = {}  # recorded files, parsed
        self.read_with: dict[str, str] = {}  # path of a definition -> another file that its own mistakes may stand in
        self.problems: dict[str, list[Problem]] = {}  # by path
        self.broken: dict[str, tuple[str, str]] = {}  # path of a broken file -> kind and id, as far as known
        self.lost: dict[str, set[str]] = {}  # kind -> ids that broken files would have defined; "": any id
        self.lost_fragments: list[LostFragment] = []
        self.keyless: set[str] = set()  # broken files that hold no key which would say that they are ours
        self._validators: dict[str, Validator] = {} if validators is None else validators
        self.error_count = 0
        self.listed: frozenset[str] = frozenset()  # files of the configured folders
        self._exists: dict[str, bool] = {}
        self._digests: dict[str, str] = {}

    def validator(self, kind: str) -> Validator:
        """The compiled schema of a file kind."""
        found = self._validators.get(kind)
        if found is None:
            from ctxc.parse.schemas import schema

            found = self._validators[kind] = Validator(schema(kind))
        return found

    def exists(self, path: str) -> bool:
        """Whether the tree has the file."""
        if path in self.listed:
            return True
        known = self._exists.get(path)
        if known is None:
            known = self._exists[path] = self.tree.exists(path)
        return known

    def digest(self, path: str) -> str:
        """Hash of a recorded file as it is read: without byte order mark, line ends as LF."""
        found = self._digests.get(path)
        if found is None:
            try:
                found = digest_bytes(normalised(self.tree.read(path, limit=MAX_INPUT_BYTES)))
            except UnreadableSource:
                found = ""
            self._digests[path] = found
        return found

    def report(self, path: str, problem: Problem) -> None:
        """Note what is wrong in a file."""
        self.problems.setdefault(path, []).append(problem)
        self.error_count += problem.is_error

    def errors(self, path: str) -> int:
        """How many errors a file has so far."""
        problems = self.problems.get(path)
        return sum(1 for p in problems if p.is_error) if problems else 0

    def apart(self) -> Shared:
        """The same tree and schemas, with nothing noted yet: for reading a file again."""
        return Shared(self.tree, self._validators)

    def lose(self, path: str, kind: str, name: str) -> None:
        """Note that a file could not be loaded, and which id it would have defined (empty: not known)."""
        self.broken.setdefault(path, (kind, name))
        for lost in (kind,) if kind else KINDS:
            self.lose_id(lost, name)

    def lose_fragment(self, lost: LostFragment) -> None:
        """Note an entry of a manifest that cannot be used, or a file that may define any fragment."""
        self.lost_fragments.append(lost)
        self.lose(lost.origin.path, "fragment", lost.id)

    def lose_unread(self) -> None:
        """Note as a lost fragment every broken file that may define one and of which nobody knows more."""
        known = {f.origin.path for f in self.lost_fragments} | self.used | self.keyless
        known.update(path for lost in self.lost_fragments for path in lost.text_paths)
        for path, (kind, _) in self.broken.items():
            if kind in ("", "fragment") and path not in known:
                self.lost_fragments.append(LostFragment(origin=Origin(path)))

    def lose_id(self, kind: str, name: str) -> None:
        """Note that an id is defined somewhere, but not usable: a name that means it is no second fault."""
        self.lost.setdefault(kind, set()).add(name)

    def recorded(self, path: str) -> document.Document | None:
        """A recorded file that a fixture names, parsed once; None where it cannot be read (which is reported)."""
        if path not in self.data:
            self.used.add(path)
            try:
                data = self.tree.read(path, limit=MAX_INPUT_BYTES)
            except UnreadableSource as error:
                self.report(path, unreadable(error))
                self.data[path] = None
                return None
            parsed = document.parse(path, data)
            for problem in parsed.problems:
                self.report(path, problem)
            self.data[path] = None if parsed.is_broken else parsed
        return self.data[path]


class File:
    """One file while it is loaded."""

    __slots__ = ("path", "shared")

    def __init__(self, path: str, shared: Shared) -> None:
        self.path = path
        self.shared = shared

    def origin(self, pointer: str = "") -> Origin:
        """The origin of a value of this file."""
        return Origin(self.path, pointer)

    def problem(
        self,
        name: str,
        message: str,
        help: str = "",
        *,
        at: str = "",
        key: bool = False,
        level: Severity | None = None,
        data: Mapping[str, Any] | None = None,
    ) -> None:
        """Note what is wrong at a pointer of this file."""
        self.shared.report(self.path, Problem(name, message, help, None, at, key, (), data or {}, level))

    def refer(self, kind: str, name: str, at: str, level: Severity | None = None) -> str:
        """Remember a name that has to be resolved later; gives the name."""
        if name:
            self.shared.references.append(Reference(kind, name, self.path, at, level))
        return name

    def file_at_root(self, written: str, at: str) -> str:
        """The project path that a text names, relative to the project root; empty where there is no such file."""
        path = self._grammar(written, at)
        if path and not self._present(path, written, at):
            return ""
        return path

    def file_beside(self, written: str, at: str, roots: tuple[str, ...] = ("",)) -> str:
        """As ``file_at_root``, relative to this file's folder, else to one of the roots; found in both is an error."""
        path = self._grammar(written, at)
        if not path:
            return ""
        folder = self.path.rpartition("/")[0]
        beside = join(folder, path)
        others = [p for r in roots if (p := join(r, path)) != beside]
        listed = self.shared.listed
        # Asking the tree about a file that is not there costs a search for what was meant; the listing is at hand.
        found = [p for p in dict.fromkeys((beside, *others)) if p in listed]
        if not found:
            found = [p for p in dict.fromkeys((beside, *others)) if self.shared.exists(p)]
        if len(found) > 1:
            self.problem(
                "ambiguous-path",
                f"{shown(written)} is {' and '.join(found)}",
                "rename one, or write the path from the root",
                at=at,
            )
            return ""
        if not found:
            self._present(beside, written, at, also=others)
            return ""
        return found[0]

    def _grammar(self, written: str, at: str) -> str:
        path = written.removeprefix("./").rstrip("/") if written.startswith("./") else written
        fault = fault_of_path(path)
        if fault:
            self.problem(
                "path-outside",
                f"the path {shown(written)} {fault}",
                "write a path inside the project, with '/' between folders and without '..'",
                at=at,
            )
            return ""
        return path

    def _present(self, path: str, written: str, at: str, also: list[str] | None = None) -> bool:
        if self.shared.exists(path):
            return True
        tree = self.shared.tree
        for place in (path, *(also or ())):
            variant = tree.case_variant(place)
            if variant and variant != place:
                self.problem(
                    "path-case",
                    f'{shown(written)} is spelt "{variant}" on disk; the two differ in case',
                    "write it as it is spelt: other machines tell them apart",
                    at=at,
                )
                return False
        for place in (path, *(also or ())):
            try:
                tree.read(place, limit=1)
            except UnreadableSource as error:
                if not error.message.endswith("is not in the tree"):
                    self.problem("unreadable-file", error.message, error.help, at=at)
                    return False
        near = nearest(path, tree.list_paths([path.rpartition("/")[0]] if "/" in path else ()))
        looked = f" (also looked for {', '.join(also)})" if also else ""
        self.problem(
            "missing-file",
            f'there is no file "{path}"{looked}' + (f'; did you mean "{near}"?' if near else ""),
            "write the path of a file that exists, or add the file",
            at=at,
        )
        return False


def join(folder: str, path: str) -> str:
    """A path below a folder; the root is empty."""
    return f"{folder}/{path}" if folder else path


def child(pointer: str, *keys: str | int) -> str:
    """The pointer of a value inside the one at a pointer."""
    for key in keys:
        pointer = f"{pointer}/{escape(key) if key.__class__ is str else key}"
    return pointer


def unreadable(error: UnreadableSource) -> Problem:
    """The problem of a file that cannot be read."""
    name = "lfs-pointer" if "is a Git LFS pointer" in error.message else "unreadable-file"
    return Problem(name, error.message, error.help)


def texts(value: Any) -> tuple[str, ...]:
    """A text or a list of texts, as a tuple; nothing is an empty one."""
    if value is None:
        return ()
    if value.__class__ is list:
        return tuple([v if v.__class__ is str else text_of(v) for v in value])
    return (text_of(value),)


def text_of(value: Any) -> str:
    """A scalar as the text that stands there."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def conditions(value: Mapping[str, Any] | None) -> dict[str, tuple[str, ...]]:
    """A mapping from names to one or several values."""
    return {k: texts(v) for k, v in (value or {}).items()}
