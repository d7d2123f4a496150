"""Which fixtures a change can reach, and the part of both projects that has to be loaded to compile them.

Trees are compared by id first, then files by content. What a file can reach is known from the index of the base
(``ctxc.app.diff_index``), which is carried over to head by loading the files that differ. Where that is no proof
(another configuration, an id that is defined twice, a file that could be meant by a name that meant another, anything
that does not load) both sides are loaded whole.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import field
from hashlib import sha256
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from ctxc.app.diff_index import Index, Known, Resolver, entries_of, index_from, index_of, index_text, known_of
from ctxc.app.tokenizers import Wanted, files_of
from ctxc.base.canonical import canonical
from ctxc.base.values import dataclass
from ctxc.model.finding import Severity

if TYPE_CHECKING:
    from ctxc.app.diff_sides import Side
    from ctxc.model.project import Project, Settings
    from ctxc.source.changes import PathChange
    from ctxc.source.tree import Tree
    from ctxc.tokens import CountStore

_SPACE = "app.diff.index"
_LOOSE = ("unknown-reference", "unknown-fragment")
"""Findings of a part of a project that say nothing of the whole: what a name means may stand in a file left out."""

_CONFIG = ("ctxc.yaml", "pyproject.toml")


@dataclass(slots=True, kw_only=True)
class Part:
    """One side: its project as far as it was loaded, and all of it when that is asked for."""

    tree: Tree
    settings: Settings
    store: CountStore
    project: Project
    whole: bool

    def complete(self) -> Project:
        """The whole project."""
        if not self.whole:
            from ctxc.app.workspace import load

            self.project, self.whole = load(self.tree, self.settings, self.store), True
        return self.project


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What a change can reach. ``affected`` fixtures have to be compiled on both sides; the others are unchanged.

    ``changes`` are the files that differ, those included that reach nothing. An index is None where its project has
    errors. ``proof``: record, or compiled where there is nothing to rely on.
    """

    base: Part
    head: Part
    changes: tuple[PathChange, ...]
    affected: tuple[str, ...]
    untouched: tuple[Known, ...]
    base_index: Index | None
    head_index: Index | None
    notes: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class _Listed:
    """A tree with the content ids of the files in the project's folders, where the tree knows them."""

    tree: Tree
    paths: tuple[str, ...]
    key: bytes | None = None


@dataclass(slots=True, kw_only=True)
class Reacher:
    """Works out the reach of a change between two sides, with what a store keeps. ``scope`` is part of every key."""

    base: Side
    head: Side
    store: CountStore
    scope: tuple[object, ...] = ()
    everything: bool = False
    notes: list[str] = field(default_factory=list)

    def reach(self) -> Reach:
        """The reach; raises UnreadableSource and RevisionError where a tree cannot be read."""
        assert self.base.tree is not None and self.head.tree is not None
        assert self.base.settings is not None and self.head.settings is not None
        if not _same_settings(self.base.settings, self.head.settings):
            self.notes.append("everything is loaded: the configuration differs")
            return self._whole(between(self.base, self.head, ()), alike=False)
        vocabularies = files_of(_wanted(self.head.settings))
        if self._differ(vocabularies):
            self.notes.append("everything is loaded: a vocabulary file differs")
            return self._whole(between(self.base, self.head, vocabularies), alike=False)
        old, new = self._listed(self.base), self._listed(self.head)
        index, head_index = self._known(old), None
        if index is None:
            head_index = self._known(new)
        if index is None and head_index is None:
            project = _load(self.base.tree, self.base.settings, self.store)
            if _errors(project):
                self.notes.append("everything is loaded: the base has errors")
                return self._whole(between(self.base, self.head, ()), base=project)
            index = self._keep(old, index_of(project))
        outside = _outside(index or head_index, self.base.settings)
        changes = between(self.base, self.head, outside)
        if self.everything:
            return self._whole(changes)
        if index is not None:
            head_index = self._carried(index, self.head, new, changes)
        else:
            assert head_index is not None
            index = self._carried(head_index, self.base, old, [_reversed(c) for c in changes])
        if index is None or head_index is None:
            return self._whole(changes)
        more = set(_outside(head_index, self.head.settings)) - set(outside)
        if more:
            changes = between(self.base, self.head, (*outside, *sorted(more)))
        return self._partly(index, head_index, changes)

    def _differ(self, paths: Sequence[str]) -> bool:
        """Whether one of some files is not the same on both sides."""
        from ctxc.source.changes import changed_paths

        assert self.base.tree is not None and self.head.tree is not None
        return bool(paths) and bool(changed_paths(self.base.tree, self.head.tree, paths))

    # --- the whole ------------------------------------------------------------------------------------------------

    def _whole(self, changes: Sequence[PathChange], *, base: Project | None = None, alike: bool = True) -> Reach:
        """Both sides loaded whole; what cannot be told apart by their indexes is compiled."""
        assert self.base.tree is not None and self.head.tree is not None
        assert self.base.settings is not None and self.head.settings is not None
        old = base or _load(self.base.tree, self.base.settings, self.store)
        new = old if self.base.tree is self.head.tree else _load(self.head.tree, self.head.settings, self.store)
        indexes = [None if _errors(p) else index_of(p) for p in (old, new)]
        ids = sorted({*old.fixtures, *new.fixtures})
        affected: Collection[str] = ids
        if alike and not self.everything and indexes[0] is not None and indexes[1] is not None:
            affected = _affected(indexes[0], indexes[1], changes)
        known = indexes[1].fixtures if indexes[1] is not None else {}
        return Reach(
            base=Part(tree=self.base.tree, settings=self.base.settings, store=self.store, project=old, whole=True),
            head=Part(tree=self.head.tree, settings=self.head.settings, store=self.store, project=new, whole=True),
            changes=tuple(changes),
            affected=tuple(affected),
            untouched=tuple(known[i] for i in ids if i not in set(affected)),
            base_index=indexes[0],
            head_index=indexes[1],
            notes=tuple(self.notes),
        )

    # --- a part ---------------------------------------------------------------------------------------------------

    def _partly(self, old: Index, new: Index, changes: Sequence[PathChange]) -> Reach:
        assert self.base.settings is not None and self.head.settings is not None
        affected = _affected(old, new, changes)
        self.notes.append(f"{len(affected):,} fixtures can differ; {len(new.fixtures):,} at head")
        parts = []
        for side, index, paths in (
            (self.base, old, {c.old_path for c in changes}),
            (self.head, new, {c.path for c in changes}),
        ):
            wanted = {p for i in affected if i in index.fixtures for p in index.fixtures[i].files}
            wanted |= paths | index.several() | {e.path for e in index.entries if not paths.isdisjoint(e.files)}
            assert side.tree is not None and side.settings is not None
            project = _load_part(side.tree, side.settings, self.store, wanted)
            part = Part(tree=side.tree, settings=side.settings, store=self.store, project=project, whole=False)
            if _part_errors(project) or any(i in index.fixtures and i not in project.fixtures for i in affected):
                part.complete()
            parts.append(part)
        return Reach(
            base=parts[0],
            head=parts[1],
            changes=tuple(changes),
            affected=affected,
            untouched=tuple(new.fixtures[i] for i in sorted(new.fixtures) if i not in set(affected)),
            base_index=old,
            head_index=new,
            notes=tuple(self.notes),
        )

    def _carried(self, index: Index, side: Side, listed: _Listed, changes: Sequence[PathChange]) -> Index | None:
        """The index of the other side, from the one that is known and the files that differ; None without a proof."""
        assert side.tree is not None and side.settings is not None
        assert self.base.tree is not None and self.head.tree is not None
        folders = _folders(side.settings)
        if self.base.tree.oddities(folders) != self.head.tree.oddities(folders):
            self.notes.append("everything is loaded: entries that cannot be used differ")
            return None
        real = [c for c in changes if not c.line_endings]
        if not real:
            return self._keep(listed, index)
        gone = {c.old_path for c in real if c.status != "added"}
        come = {c.path for c in real if c.status != "removed"}
        if _could_be_meant(index, come - gone):
            self.notes.append("everything is loaded: a new file has the name of one that is in use")
            return None
        there = set(listed.paths)
        owners = {e.path for e in index.entries if not (gone | come).isdisjoint(e.files)}
        reload = ((come & there) | owners) & there
        part = _load_part(side.tree, side.settings, self.store, reload)
        if _part_errors(part) or part.broken:
            self.notes.append("everything is loaded: a file that differs has errors")
            return None
        found = _merged(index, part, reload | gone)
        if found is None:
            self.notes.append("everything is loaded: an id has several versions, or a name may mean something else")
            return None
        return self._keep(listed, found)

    # --- what is kept ---------------------------------------------------------------------------------------------

    def _listed(self, side: Side) -> _Listed:
        """The files of a side in the project's folders; of a commit or the index with a key of their content."""
        from ctxc.source.commits import CommitTree, IndexTree

        assert side.tree is not None and side.settings is not None
        folders = _folders(side.settings)
        paths = side.tree.list_paths(folders)
        found = _Listed(tree=side.tree, paths=paths)
        if isinstance(side.tree, (CommitTree, IndexTree)):
            ids = [f"{p}\0{side.tree.blob_id(p)}" for p in paths]
            odd = [[o.path, o.kind, o.reason] for o in side.tree.oddities(folders)]
            value = canonical([*self.scope, folders, odd])
            found.key = sha256("\n".join([value, *ids]).encode("utf-8", "surrogatepass")).digest()
        return found

    def _known(self, listed: _Listed) -> Index | None:
        if listed.key is None:
            return None
        data = self.store.get_blobs(_SPACE, [listed.key]).get(listed.key)
        if data is None:
            return None
        try:
            return index_from(data)
        except ValueError:
            return None

    def _keep(self, listed: _Listed, index: Index) -> Index:
        if listed.key is not None:
            self.store.put_blobs(_SPACE, {listed.key: index_text(index).encode("utf-8", "surrogatepass")})
        return index


def _folders(settings: Settings) -> tuple[str, ...]:
    listed = (*settings.templates, *settings.fragments, *settings.policies, *settings.fixtures)
    folders = tuple(dict.fromkeys(listed))
    return () if "." in folders else folders


def _same_settings(base: Settings, head: Settings) -> bool:
    names = ("templates", "fragments", "policies", "fixtures", "provider", "model")
    return all(getattr(base, n) == getattr(head, n) for n in names) and _wanted(base) == _wanted(head)


def _wanted(settings: Settings) -> Wanted:
    """The tokenizers that a configuration asks for."""
    found: Wanted = settings.extra.get("tokenizers", {})
    return found


def _outside(index: Index | None, settings: Settings) -> tuple[str, ...]:
    """Files outside the project's folders that its fixtures are compiled from."""
    folders = _folders(settings)
    if index is None or not folders:
        return ()
    starts = tuple(f"{f}/" for f in folders)
    paths = {p for k in index.fixtures.values() for p in k.files} | {p for e in index.entries for p in e.files}
    return tuple(sorted(p for p in paths if not p.startswith(starts) and p not in folders))


def between(base: Side, head: Side, outside: Iterable[str] = ()) -> list[PathChange]:
    """The files that differ in the folders of either side, in what is used from outside, and in the configuration."""
    from ctxc.source.changes import changed_paths

    assert base.tree is not None and head.tree is not None
    assert base.settings is not None and head.settings is not None
    one, other = _folders(base.settings), _folders(head.settings)
    prefixes: tuple[str, ...] = () if not one or not other else (*dict.fromkeys((*one, *other)), *outside, *_CONFIG)
    return list(changed_paths(base.tree, head.tree, prefixes))


def _reversed(change: PathChange) -> PathChange:
    from ctxc.source.changes import PathChange, Status

    turned = {Status.ADDED: Status.REMOVED, Status.REMOVED: Status.ADDED}.get(change.status, change.status)
    return PathChange(
        path=change.old_path or change.path,
        status=turned,
        old_path="" if turned is Status.ADDED else change.path,
        line_endings=change.line_endings,
    )


def _could_be_meant(index: Index, added: Collection[str]) -> bool:
    """Whether a new file has the name of one in use elsewhere: a manifest's path would be found in two places."""
    names = {PurePosixPath(p).name for p in added}
    if not names:
        return False
    used = {p for e in index.entries for p in e.files} | {p for k in index.fixtures.values() for p in k.inputs}
    return any(PurePosixPath(p).name in names for p in used - set(added))


def _merged(index: Index, part: Project, dropped: Collection[str]) -> Index | None:
    """The index with some files replaced by what a part of the project defines; None where that is no proof."""
    fresh = entries_of(part)
    stale = [e for e in index.entries if e.path in dropped]
    kept = [e for e in index.entries if e.path not in dropped]
    names = [(e.kind, e.id, e.version.removeprefix("v")) for e in (*kept, *fresh)]
    if len(set(names)) != len(names):
        return None
    touched = {(e.kind, e.id) for e in (*fresh, *stale)}
    for entries in (index.entries, (*kept, *fresh)):
        several: dict[tuple[str, str], int] = {}
        for e in entries:
            several[e.kind, e.id] = several.get((e.kind, e.id), 0) + 1
        if any(several.get(t, 0) > 1 for t in touched):
            return None
    known = {(e.kind, e.id) for e in index.entries}
    asked = {r for e in (*kept, *fresh) for r in e.refs} | {("template", k.template) for k in index.fixtures.values()}
    asked |= {("profile", k.profile) for k in index.fixtures.values()}
    if any((e.kind, e.id) not in known and (e.kind, e.id) in asked for e in fresh):
        return None  # a name that meant a version of another id would mean this one now
    loaded = known_of(part)
    fixtures = {k: f for k, f in index.fixtures.items() if f.path not in dropped}
    if fixtures.keys() & loaded.keys():
        return None
    entries = tuple(sorted((*kept, *fresh), key=lambda e: (e.path, e.pointer, e.kind, e.id)))
    resolver = Resolver(entries)
    before = {e.id: e.condition for e in stale if e.kind == "fragment"}
    changed = frozenset(e.id for e in fresh if e.kind == "fragment" and before.get(e.id) != e.condition)
    all_again = any(e.kind == "provider" for e in (*fresh, *stale))
    moved = set(dropped) | {e.path for e in fresh}
    for name, fixture in fixtures.items():
        again = all_again or not moved.isdisjoint(fixture.files)
        if again or (changed and resolver.newly(fixture, changed)):
            fixtures[name] = resolver.resolved(fixture)
    fixtures |= {name: resolver.resolved(f) for name, f in loaded.items()}
    return Index(entries=entries, fixtures=fixtures)


def _affected(old: Index, new: Index, changes: Sequence[PathChange]) -> tuple[str, ...]:
    """Fixtures that are new or gone, are compiled from other files, or from files that differ."""
    real = [c for c in changes if not c.line_endings]
    paths = {c.path for c in real} | {c.old_path for c in real if c.old_path}
    found = set(old.fixtures) ^ set(new.fixtures)
    for name in old.fixtures.keys() & new.fixtures.keys():
        one, other = old.fixtures[name], new.fixtures[name]
        if one.files != other.files or not paths.isdisjoint(other.files) or one.pointer != other.pointer:
            found.add(name)
    return tuple(sorted(found))


def _load(tree: Tree, settings: Settings, store: CountStore) -> Project:
    from ctxc.app.workspace import load

    return load(tree, settings, store)


def _load_part(tree: Tree, settings: Settings, store: CountStore, wanted: Collection[str]) -> Project:
    """The project as if only the wanted files defined anything."""
    from ctxc.app.workspace import load

    hidden = frozenset(tree.list_paths(_folders(settings))) - frozenset(wanted)
    return load(tree, settings, store, hidden=hidden)


def _errors(project: Project) -> int:
    """Errors of loading; an empty tree has none, it has nothing."""
    return sum(f.severity is Severity.ERROR and f.name != "empty-project" for f in project.findings)


def _part_errors(project: Project) -> bool:
    return any(f.severity is Severity.ERROR and f.name not in (*_LOOSE, "empty-project") for f in project.findings)


def errors_of(part: Part) -> int:
    """Errors that kept files of a side from being loaded."""
    return _errors(part.project) if part.whole else 0
