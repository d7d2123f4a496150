"""Compiling what a change can reach, on both sides, and putting together what differs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ctxc import __version__
from ctxc.app.diff_index import Entry, Known, entries_of, known_of
from ctxc.app.diff_reach import Part, Reach, between, errors_of
from ctxc.app.diff_sides import DiffRequest, Side
from ctxc.app.overrides import check_overrides
from ctxc.app.workspace import compiler_for
from ctxc.base.values import dataclass
from ctxc.compare.fixtures import fixture_change, single_fixture, unloaded_fixture
from ctxc.compare.impact import Reach as Radius
from ctxc.compare.impact import source_changes
from ctxc.compare.sections import Teller
from ctxc.compare.summary import edits, totals
from ctxc.compare.versions import version_changes
from ctxc.compare.views import View, view_of
from ctxc.compiler.stage import Options
from ctxc.model.change import Change, FieldChange, FixtureChange, Revision
from ctxc.model.finding import Severity

if TYPE_CHECKING:
    from ctxc.compare.prefix import Count
    from ctxc.model.project import Project, Settings
    from ctxc.model.provider import TokenizerRef
    from ctxc.source.tree import Tree
    from ctxc.tokens import CountStore


def count_with(project: Project, store: CountStore) -> Count:
    """A counter of texts through a store; vocabulary files are those of a project."""
    from ctxc.app.tokenizers import tokenizers

    tokenizer = tokenizers(project.sources, store)

    def count(ref: TokenizerRef, text: str) -> int:
        return tokenizer(ref).count(text)

    return count


def compare_views(
    base: Mapping[str, View],
    head: Mapping[str, View],
    teller: Teller,
    count: Count,
    projects: tuple[Project | None, Project | None],
) -> list[FixtureChange]:
    """Every fixture of two sides, compared by id. ``projects`` are those of base and head, where they were loaded."""
    found = []
    for name in sorted({*base, *head}):
        if name in base and name in head:
            found.append(fixture_change(base[name], head[name], teller, count))
            continue
        is_base = name in base
        view = base[name] if is_base else head[name]
        problems = _unloaded(view, projects[1 if is_base else 0])
        if problems:
            found.append(unloaded_fixture(view, problems, is_base=is_base))
        else:
            found.append(single_fixture(view, "removed" if is_base else "added"))
    return found


def _unloaded(view: View, other: Project | None) -> tuple[str, ...]:
    """What keeps a fixture of one side from being loaded on the other; nothing where it is not there at all."""
    if other is None or not other.broken:
        return ()
    fixture = view.project.fixtures.get(view.fixture_id) if view.project is not None else None
    names = {view.fixture_id, fixture.conversation if fixture is not None else ""} - {""}
    kinds = ("fixture", "conversation", "")
    paths = [
        path
        for path, name in other.broken.items()
        if other.broken_kinds.get(path, "") in kinds and (path == view.path or name in names)
    ]
    if not paths:
        return ()
    read = {*paths, *(fixture.inputs.files if fixture is not None else ())}
    errors = [f for f in other.findings if f.severity is Severity.ERROR and f.location.path in read]
    return tuple(f"{f.location}: {f.code} {f.message}" for f in errors) or (f"{paths[0]} could not be loaded",)


def compare_projects(base: Project, head: Project, *, context: int) -> Change:
    """The change between two loaded projects, everything compiled."""
    from ctxc.app.diff_index import index_of
    from ctxc.tokens import open_store

    store = open_store(None)
    parts = [Part(tree=tree_of(p), settings=p.settings, store=store, project=p, whole=True) for p in (base, head)]
    sides = [
        Side(revision=Revision(rev=name, kind="project", label=name), tree=part.tree, settings=part.settings)
        for name, part in zip(("base", "head"), parts, strict=True)
    ]
    ids = tuple(sorted({*base.fixtures, *head.fixtures}))
    changes = between(sides[0], sides[1])
    indexes = [index_of(p) for p in (base, head)]
    reach = Reach(
        base=parts[0], head=parts[1], changes=tuple(changes), affected=ids, untouched=(),
        base_index=indexes[0], head_index=indexes[1],
    )  # fmt: skip
    request = DiffRequest(context=context, whole=True)
    return Comparison(reach=reach, base=sides[0], head=sides[1], request=request, store=store).compare(ids, ())


def tree_of(project: Project) -> Tree:
    """The tree that a project was loaded from; one without files where it was made in memory."""
    from ctxc.source.memory import MemoryTree

    found: Tree | None = getattr(project.sources, "tree", None)
    return found if found is not None else MemoryTree({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Everything that a comparison of two sides needs."""

    reach: Reach
    base: Side
    head: Side
    request: DiffRequest
    store: CountStore

    def compare(self, affected: Sequence[str], untouched: Sequence[Known]) -> Change:
        """Compile the affected fixtures and tell what differs; the untouched ones are listed as unchanged."""
        request = self.request
        old = Compiled.of(self.reach.base, affected, request.against_provider, request.against_model, self.store)
        new = Compiled.of(self.reach.head, affected, request.provider, request.model, self.store)
        teller = Teller(request.context, old.project.sources, new.project.sources)
        fixtures = compare_views(
            old.views, new.views, teller, count_with(old.project, self.store), (old.project, new.project)
        )
        fixtures += [
            FixtureChange(fixture_id=k.fixture_id, status="unchanged", template=k.template, path=k.path, proof="record")
            for k in untouched
        ]
        fixtures.sort(key=lambda f: f.fixture_id)
        return self._change(fixtures, old, new)

    def _change(self, fixtures: Sequence[FixtureChange], old: Compiled, new: Compiled) -> Change:
        differing = {f.fixture_id for f in fixtures if f.status != "unchanged"}
        sources = source_changes(self.reach.changes, self._radius(old, new), differing)
        objects = {o for s in sources for o in s.objects if not s.line_endings}
        versions = version_changes(
            old.project,
            new.project,
            wanted=lambda kind, name: f"{kind} {name}" in objects,
            moved_prefixes=_moved_prefixes(fixtures, new.views),
        )
        told = edits(fixtures)
        return Change(
            version=__version__,
            base=replace(self.base.revision, errors=errors_of(self.reach.base)),
            head=replace(self.head.revision, errors=errors_of(self.reach.head)),
            sources=sources,
            fixtures=tuple(fixtures),
            versions=versions,
            edits=told,
            settings=_settings(self.base.settings, self.head.settings),
            totals=totals(fixtures, sources, versions, told, compiled=len({*old.views, *new.views})),
            whole=self.request.whole,
        )

    def _radius(self, old: Compiled, new: Compiled) -> Radius:
        """What the files that differ define, and which compiled fixtures were made from them, on either side."""
        paths = {p for c in self.reach.changes for p in (c.path, c.old_path) if p}
        objects: dict[str, list[str]] = {}
        uses: dict[str, set[str]] = {}
        fixtures: dict[str, set[str]] = {}
        template: dict[str, str] = {}
        for part, index, compiled in (
            (self.reach.base, self.reach.base_index, old),
            (self.reach.head, self.reach.head_index, new),
        ):
            entries: Sequence[Entry] = index.entries if index is not None else entries_of(part.project)
            for entry in entries:
                for path in paths.intersection((entry.path, *entry.files)):
                    objects.setdefault(path, []).append(f"{entry.kind} {entry.id}")
                    if entry.kind == "template":
                        uses.setdefault(path, set()).add(entry.id)
            known = index.fixtures if index is not None else known_of(part.project)
            for fixture in known.values():
                for path in paths.intersection((fixture.path, *fixture.inputs)):
                    objects.setdefault(path, []).append(f"fixture {fixture.fixture_id}")
            for name, view in compiled.views.items():
                template[name] = str(view.part("template", "id") or template.get(name, ""))
                for path in paths.intersection(view.package.dependencies if view.package is not None else ()):
                    fixtures.setdefault(path, set()).add(name)
        return Radius(objects=objects, fixtures=fixtures, template=template, uses=uses)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """The affected fixtures of one side, compiled, with the project that they were compiled from."""

    project: Project
    views: Mapping[str, View]

    @classmethod
    def of(cls, part: Part, wanted: Sequence[str], provider: str, model: str, store: CountStore) -> Compiled:
        """Compile; from the whole project where a part of it does not do."""
        options = Options(provider=provider, model=model)
        if wanted and (provider or model):
            check_overrides(part.project, provider, model)
        views = _views(part.project, wanted, options, store)
        if not part.whole and any(v.outcome == "invalid" for v in views.values()):
            # A reason of the fixture's own, or a file that was left out: only the whole project can say which.
            part.complete()
            views = _views(part.project, wanted, options, store)
        return cls(project=part.project, views=views)


def _views(project: Project, wanted: Sequence[str], options: Options, store: CountStore) -> dict[str, View]:
    compiler = compiler_for(project, options, store)
    found = [project.fixtures[i] for i in wanted if i in project.fixtures]
    return {f.id: view_of(compiler.compile(f), project) for f in found}


def _moved_prefixes(fixtures: Sequence[FixtureChange], views: Mapping[str, View]) -> dict[str, list[str]]:
    """For each request profile, the fixtures whose cached prefix is another one for the same model."""
    found: dict[str, list[str]] = {}
    for fixture in fixtures:
        prefix = fixture.prefix
        if prefix is None or prefix.stable or not prefix.base_tokens or "model_changed" in prefix.reasons:
            continue
        profile = views[fixture.fixture_id].part("request_profile", "id")
        if profile:
            found.setdefault(str(profile), []).append(fixture.fixture_id)
    return found


def _settings(base: Settings | None, head: Settings | None) -> tuple[FieldChange, ...]:
    """Settings that decide what is compiled, where they differ."""
    if base is None or head is None:
        return ()
    found = []
    for name in ("templates", "fragments", "policies", "fixtures", "provider", "model"):
        one, other = getattr(base, name), getattr(head, name)
        if one != other:
            found.append(FieldChange(name=name, facet="meta", base=_text(one), head=_text(other)))
    one, other = (s.extra.get("tokenizers") or "none" for s in (base, head))
    if one != other:
        found.append(FieldChange(name="tokenizers", facet="meta", base=_text(one), head=_text(other)))
    return tuple(found)


def _text(value: object) -> str:
    return value or "none" if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
