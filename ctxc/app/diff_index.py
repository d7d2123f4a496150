"""What a project's fixtures are compiled from, without compiling: an index of its definitions and who refers to whom.

The index is made of a loaded project, kept by the content of the project's folders, and carried over to another tree by
loading only the files that differ. For each fixture it holds every file that its compile can read: all versions of what
it names, the fragments that its route makes candidates, and what these require. That set is never too small; where the
compiler reads less, a fixture is compiled once too often and found unchanged.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ctxc.base.canonical import canonical
from ctxc.base.spans import Origin
from ctxc.base.values import dataclass
from ctxc.model.lookup import candidates

if TYPE_CHECKING:
    from ctxc.model.fragment import Fragment
    from ctxc.model.project import Project

FORMAT = 2
_TEXT = {str}
_WORDS = frozenset(("fragments", "runtime", "retrieval", "literal", "toolset", "contract"))


class Entry(NamedTuple):
    """A definition: where it stands, the files that it is made of beside its own, and the names that it refers to.

    ``condition`` of a fragment says when a route makes it a candidate: load mode, ``applies_when``, ``requires``.
    ``takes_fragments``: a template with a section whose source is ``fragments``.
    """

    kind: str
    id: str
    version: str
    path: str
    pointer: str = ""
    files: tuple[str, ...] = ()
    refs: tuple[tuple[str, str], ...] = ()
    condition: str = ""
    takes_fragments: bool = False


class Known(NamedTuple):
    """A fixture: what it names, its route, and (``files``) every file that its compile can read, sorted."""

    fixture_id: str
    template: str
    conversation: str
    path: str
    pointer: str
    inputs: tuple[str, ...]
    profile: str
    route: str
    fragments: tuple[str, ...]
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """The definitions of a project in file order, and its fixtures by id. Only of a project without errors."""

    entries: tuple[Entry, ...]
    fixtures: Mapping[str, Known]

    def objects(self) -> dict[str, list[str]]:
        """``kind id`` of what each path defines, or is the text of."""
        found: dict[str, list[str]] = {}
        for entry in self.entries:
            for path in (entry.path, *entry.files):
                named = found.setdefault(path, [])
                if f"{entry.kind} {entry.id}" not in named:
                    named.append(f"{entry.kind} {entry.id}")
        for known in self.fixtures.values():
            for path in (known.path, *known.inputs):
                found.setdefault(path, []).append(f"fixture {known.fixture_id}")
        return found

    def several(self) -> frozenset[str]:
        """Paths of definitions whose id is defined in more than one version."""
        seen: dict[tuple[str, str], list[str]] = {}
        for entry in self.entries:
            seen.setdefault((entry.kind, entry.id), []).append(entry.path)
        return frozenset(path for paths in seen.values() if len(paths) > 1 for path in paths)


# --- from a loaded project ----------------------------------------------------------------------------------------


def entries_of(project: Project) -> tuple[Entry, ...]:
    """An entry for each definition of a project, its own provider profiles included, in file order."""
    from ctxc.parse.builtin import own_profiles

    found: list[Entry] = []
    for versions in project.templates.values():
        for t in versions:
            paths = [s.source for s in t.sections if _is_path(s.source)]
            refs = (("profile", t.request_profile), ("contract", t.output_contract))
            found.append(
                Entry(
                    kind="template",
                    id=t.id,
                    version=t.version,
                    path=t.origin.path,
                    pointer=t.origin.pointer,
                    files=_files(t.origin.path, *t.paths, *paths, *_mcp(project, paths)),
                    refs=tuple(r for r in refs if r[1]),
                    takes_fragments=any(s.source == "fragments" for s in t.sections),
                )
            )
    for fragments in project.fragments.values():
        found.extend(_fragment(f) for f in fragments)
    for p in (p for versions in project.profiles.values() for p in versions):
        refs = (("toolset", p.toolset), ("contract", p.output_contract))
        found.append(_plain("profile", p, refs=tuple(r for r in refs if r[1])))
    for name, toolsets in project.toolsets.items():
        found.extend(
            _plain("toolset", s, files=_files(s.origin.path, s.mcp)) for s in toolsets if s.origin.path != name
        )
    for c in (c for versions in project.contracts.values() for c in versions):
        found.append(_plain("contract", c))
    for policy in (p for versions in project.policies.values() for p in versions):
        found.append(_plain("policy", policy))
    found.extend(
        _plain("provider", p, files=_files(p.origin.path, *(r.tokenizer.file for r in p.models)))
        for p in own_profiles(project.providers)
        if p.origin.path
    )
    return tuple(sorted(found, key=lambda e: (e.path, e.pointer, e.kind, e.id)))


def _is_path(source: str) -> bool:
    return source not in _WORDS and not source.startswith("runtime.")


def _mcp(project: Project, paths: Iterable[str]) -> list[str]:
    """Files that tool files named by a section's path take their tools from."""
    return [t.mcp for p in paths for t in project.toolsets.get(p, ()) if t.mcp]


def _files(own: str, *paths: str) -> tuple[str, ...]:
    return tuple(sorted({p for p in paths if p and p != own}))


def _plain(kind: str, thing: Any, *, files: tuple[str, ...] = (), refs: tuple[tuple[str, str], ...] = ()) -> Entry:
    at: Origin = thing.origin
    return Entry(
        kind=kind, id=thing.id, version=thing.version, path=at.path, pointer=at.pointer, files=files, refs=refs
    )


def _fragment(f: Fragment) -> Entry:
    condition = canonical(
        [f.load_mode.value, {k: list(v) for k, v in f.applies_when.items()}, list(f.requires), f.kind]
    )
    return Entry(
        kind="fragment",
        id=f.id,
        version=f.version,
        path=f.origin.path,
        pointer=f.origin.pointer,
        files=_files(f.origin.path, f.text_path),
        condition=condition,
    )


def known_of(project: Project) -> dict[str, Known]:
    """The fixtures of a project, with no files yet."""
    return {
        f.id: Known(
            fixture_id=f.id,
            template=f.template,
            conversation=f.conversation,
            path=f.origin.path,
            pointer=f.origin.pointer,
            inputs=tuple(sorted(f.inputs.files)),
            profile=f.request_profile,
            route=canonical({k: list(v) for k, v in f.route.items()}),
            fragments=f.inputs.fragments,
        )
        for f in project.fixtures.values()
    }


def index_of(project: Project) -> Index:
    """The index of a loaded project."""
    entries = entries_of(project)
    resolver = Resolver(entries)
    return Index(entries=entries, fixtures={k: resolver.resolved(f) for k, f in known_of(project).items()})


# --- who reads what -----------------------------------------------------------------------------------------------


class Resolver:
    """Finds the files of a fixture's compile among the definitions of a project."""

    def __init__(self, entries: Collection[Entry]) -> None:
        self._by_id: dict[str, dict[str, tuple[Entry, ...]]] = {}
        always: set[str] = set()
        for entry in entries:
            versions = self._by_id.setdefault(entry.kind, {})
            versions[entry.id] = (*versions.get(entry.id, ()), entry)
            if entry.kind == "provider":
                # Which provider a fixture uses also depends on settings and flags: its own ones count for all.
                always |= {entry.path, *entry.files}
        self._always = frozenset(always)
        self._conditions: dict[str, Any] = {
            e.id: json.loads(e.condition) for e in entries if e.kind == "fragment"
        }  # of several versions the last: that is the one that a route loads
        self._requires: dict[str, list[str]] = {}  # of all versions, because a reference may name any of them
        for entry in entries:
            if entry.kind == "fragment":
                self._requires.setdefault(entry.id, []).extend(json.loads(entry.condition)[2])
        self._open: list[str] = []
        self._keyed: dict[tuple[str, str], list[str]] = {}
        usable = {
            name: conditions
            for name, (mode, conditions, _, _) in self._conditions.items()
            if mode != "explicit" and (conditions or mode != "route_match")
        }
        often = Counter((key, value) for c in usable.values() for key, values in c.items() for value in values)
        for name, conditions in usable.items():
            # By its rarest condition, so that few fragments have to be looked at for a route.
            rare = {k: sum(often[k, v] for v in values) for k, values in conditions.items() if k != "files"}
            if self._conditions[name][0] == "always" or not rare:
                self._open.append(name)
                continue
            key = min(rare, key=lambda k: (rare[k], k))
            for value in conditions[key]:
                self._keyed.setdefault((key, value), []).append(name)

    def resolved(self, known: Known) -> Known:
        """The fixture with every file that its compile can read."""
        paths = {known.path, *known.inputs, *self._always}
        profiles = [known.profile] if known.profile else []
        takes_fragments = False
        for template in self._find("template", known.template):
            paths |= {template.path, *template.files}
            takes_fragments = takes_fragments or template.takes_fragments
            for kind, name in template.refs:
                if kind == "profile":
                    profiles.append(name)
                else:
                    self._add(kind, name, paths)
        for profile in dict.fromkeys(profiles):
            for entry in self._find("profile", profile):
                paths |= {entry.path, *entry.files}
                for kind, name in entry.refs:
                    self._add(kind, name, paths)
        if takes_fragments:
            for name in self._fragments(known):
                self._add("fragment", name, paths)
        return known._replace(files=tuple(sorted(paths)))

    def _find(self, kind: str, name: str) -> Iterable[Entry]:
        """Everything that a name may mean, and all other versions of it: which one counts depends on all of them."""
        index = self._by_id.get(kind, {})
        found = candidates(index, name)
        return [e for i in dict.fromkeys(e.id for e in found) for e in index[i]]

    def _add(self, kind: str, name: str, paths: set[str]) -> None:
        for entry in self._find(kind, name):
            paths |= {entry.path, *entry.files}

    def _fragments(self, known: Known) -> list[str]:
        route = json.loads(known.route)
        found = dict.fromkeys(self.candidates(route))
        found.update(dict.fromkeys(i for n in known.fragments for i in self._meant(n)))
        pending = list(found)
        while pending:
            for name in self._requires[pending.pop()]:
                for needed in self._meant(name):
                    if needed not in found:
                        found[needed] = None
                        pending.append(needed)
        return list(found)

    def _meant(self, name: str) -> tuple[str, ...]:
        """The ids of the fragments that a reference may mean."""
        if name in self._requires:
            return (name,)
        return tuple(dict.fromkeys(e.id for e in candidates(self._by_id.get("fragment", {}), name)))

    def newly(self, known: Known, fragments: Collection[str]) -> bool:
        """Whether one of some fragments is a candidate for a fixture's route."""
        return not set(self.candidates(json.loads(known.route))).isdisjoint(fragments)

    def candidates(self, route: Mapping[str, Collection[str]]) -> list[str]:
        """Ids of the fragments that a route makes candidates."""
        from ctxc.compiler.routing import matches

        asked = {k: tuple(v) for k, v in route.items()}
        names = list(self._open)
        for key, values in asked.items():
            for value in values:
                names.extend(self._keyed.get((key, value), ()))
        return [
            n
            for n in dict.fromkeys(names)
            if self._conditions[n][0] == "always" or matches(self._conditions[n][1], asked)
        ]


# --- kept in a cache ----------------------------------------------------------------------------------------------


def index_text(index: Index) -> str:
    """The index as JSON, in ASCII. Paths stand in many fixtures: each is written once and numbered."""
    paths: dict[str, int] = {}

    def number(name: str) -> int:
        return paths.setdefault(name, len(paths))

    entries = [
        [e.kind, e.id, e.version, number(e.path), e.pointer, [*map(number, e.files)], e.refs, e.condition,
         e.takes_fragments]
        for e in index.entries
    ]  # fmt: skip
    fixtures = [
        [k.fixture_id, k.template, k.conversation, number(k.path), k.pointer, [*map(number, k.inputs)], k.profile,
         k.route, k.fragments, [*map(number, k.files)]]
        for k in index.fixtures.values()
    ]  # fmt: skip
    # Read by nothing else and with every order given: written the quick way, not as canonical JSON.
    return json.dumps([FORMAT, list(paths), entries, fixtures], separators=(",", ":"))


def index_from(text: str | bytes) -> Index:
    """The index of a JSON text; raises ValueError for anything that is not one: a cache is untrusted."""
    try:
        version, paths, entries, fixtures = json.loads(text)
        if version != FORMAT:
            raise ValueError("another format")
        at = dict(enumerate(_texts(paths))).__getitem__  # no number below zero is one
        return Index(
            entries=tuple([_entry(row, at) for row in entries]), fixtures={row[0]: _known(row, at) for row in fixtures}
        )
    except (KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        raise ValueError(f"not an index: {error}") from None


def _entry(row: Any, at: Callable[[int], str]) -> Entry:
    kind, name, version, path, pointer, files, refs, condition, takes = row
    _check(kind, name, version, pointer, condition)
    if kind == "fragment":
        _check_condition(condition)
    pairs = tuple([(a, b) for a, b in refs])
    _check(*[part for pair in pairs for part in pair])
    return Entry(kind, name, version, at(path), pointer, tuple(map(at, files)), pairs, condition, takes is True)


def _known(row: Any, at: Callable[[int], str]) -> Known:
    name, template, conversation, path, pointer, inputs, profile, route, fragments, files = row
    _check(name, template, conversation, pointer, profile, route)
    return Known(
        name, template, conversation, at(path), pointer, tuple(map(at, inputs)), profile, route, _texts(fragments),
        tuple(map(at, files)),
    )  # fmt: skip


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ValueError("a list of texts was expected")
    _check(*value)
    return tuple(value)


def _check(*values: Any) -> None:
    if not {*map(type, values)} <= _TEXT:
        raise ValueError("a text was expected")


def _check_condition(text: str) -> None:
    mode, conditions, requires, group = json.loads(text)
    _check(mode, group)
    for values in conditions.values():
        _texts(values)
    _texts(requires)
