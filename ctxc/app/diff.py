"""``ctxc diff``: compile both sides with this ctxc, as far as the change can reach, and tell what a model will see
differently.

What comes out is kept by the content of both sides, so that asking again compiles nothing: equal trees, settings and
options give an equal change.
"""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from ctxc.app.diff_sides import DiffRequest, Side, Sides, open_sides
from ctxc.base.canonical import canonical
from ctxc.base.errors import NothingMatched

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ctxc.app.diff_index import Known
    from ctxc.app.diff_reach import Reach
    from ctxc.app.workspace import Workspace
    from ctxc.model.change import Change
    from ctxc.model.project import Settings
    from ctxc.model.revision import Revision

_SPACE, _DRAWN = "app.diff.change", "app.diff.drawn"
_KEPT_BYTES = 16 << 20  # a larger change is worked out again: reading it back would take as long
FORMAT = 2


class DiffOutcome(NamedTuple):
    """A change, and for people who asked: what it rests on."""

    change: Change
    notes: tuple[str, ...] = ()


def diff_workspace(workspace: Workspace, request: DiffRequest) -> DiffOutcome:
    """The change that a request asks for. Raises CtxcError for everything that keeps the sides from being compared."""
    sides = open_sides(workspace, request)
    try:
        outcome = diff_sides(workspace, request, sides)
    finally:
        if sides.repository is not None:
            sides.repository.close()
    workspace.close()
    return outcome


class Drawing(NamedTuple):
    """A form in which a change is wanted: the name of a format, and how it may be drawn (``ctxc.report.View``)."""

    format: str
    color: bool = False
    width: int | None = None
    verbosity: int = 0
    stat: bool = False
    facets: tuple[str, ...] = ()


class Drawn(NamedTuple):
    """A change as text, once for each drawing, whether anything differs, and whether head has errors in it."""

    texts: tuple[str, ...]
    differs: bool
    broken: bool
    notes: tuple[str, ...] = ()


def draw_diff(workspace: Workspace, request: DiffRequest, drawings: Sequence[Drawing]) -> Drawn:
    """The change that a request asks for, drawn. What was drawn of the same two trees before is returned as it was."""
    sides = open_sides(workspace, request)
    try:
        drawn = _Diff(workspace, request, sides).drawn(drawings)
    finally:
        if sides.repository is not None:
            sides.repository.close()
    workspace.close()
    return drawn


def diff_sides(workspace: Workspace, request: DiffRequest, sides: Sides) -> DiffOutcome:
    """The change between two sides that are open already; they and the workspace stay open."""
    return _Diff(workspace, request, sides).run()


class _Diff:
    def __init__(self, workspace: Workspace, request: DiffRequest, sides: Sides) -> None:
        self.workspace = workspace
        self.request = request
        self.sides = sides
        self.store = workspace.store
        self.notes = list(sides.notes)

    def run(self) -> DiffOutcome:
        base, head = self.sides.base, self.sides.head
        if base.snapshot:
            from ctxc.app.snapshots import diff_snapshot

            return DiffOutcome(change=diff_snapshot(self.workspace, self.request, base, head), notes=tuple(self.notes))
        if self._is_same_tree(base, head):
            self.notes.append("both sides are the same tree")
            return self._outcome(_nothing(base.revision, head.revision))
        key = self._key(base.root_id, head.root_id) if base.root_id and head.root_id else None
        known = self._stored(key)
        if known is not None:
            self.notes.append("from the cache: these two trees were compared before")
            return self._outcome(replace(known, base=_told(base, known.base), head=_told(head, known.head)))
        change = self._compare(base, head)
        self._store(key, change)
        return self._outcome(change)

    def drawn(self, drawings: Sequence[Drawing]) -> Drawn:
        """The change as text; from the cache where these two trees were drawn like this before."""
        base, head = self.sides.base, self.sides.head
        keys = []
        if base.root_id and head.root_id and self.workspace.cache is not None:
            trees = self._key(base.root_id, head.root_id)
            keys = [self._drawn_key(trees, d) for d in drawings]
            known = _texts_of([self.store.get_blobs(_DRAWN, keys).get(k) for k in keys])
            if known is not None:
                self.notes.append("from the cache: these two trees were compared before")
                return Drawn(texts=known[0], differs=known[1], broken=known[2], notes=tuple(self.notes))
        change = self.run().change
        texts = tuple(_draw(change, d) for d in drawings)
        differs = not change.is_empty
        broken = change.head.errors > 0 or any(f.head_outcome == "invalid" for f in change.fixtures)
        for key, text in zip(keys, texts, strict=True) if keys else ():
            if len(text) <= _KEPT_BYTES:
                data = json.dumps([differs, broken, text], ensure_ascii=False).encode("utf-8", "surrogatepass")
                self.store.put_blobs(_DRAWN, {key: data})
        return Drawn(texts=texts, differs=differs, broken=broken, notes=tuple(self.notes))

    def _drawn_key(self, trees: bytes, drawing: Drawing) -> bytes:
        names = [
            [r.rev, r.kind, r.commit, r.label, r.how, r.provider, r.model]
            for r in (self.sides.base.revision, self.sides.head.revision)
        ]
        how = [drawing.format, drawing.color, drawing.width, drawing.verbosity, drawing.stat, list(drawing.facets)]
        return sha256(trees + canonical([names, how]).encode("utf-8", "surrogatepass")).digest()

    def _is_same_tree(self, base: Side, head: Side) -> bool:
        """Whether nothing can differ: one tree, one configuration, one model."""
        same = bool(base.root_id) and base.root_id == head.root_id
        return same and not self.request.compares_models and not self.request.whole

    def _compare(self, base: Side, head: Side) -> Change:
        from ctxc.app.diff_compare import Comparison
        from ctxc.app.diff_reach import Reacher
        from ctxc.app.identity import identity

        request = self.request
        reach = Reacher(
            base=base,
            head=head,
            store=self.store,
            scope=(identity(), _plain(base.settings)),
            everything=request.whole or request.compares_models,
        ).reach()
        self.notes.extend(reach.notes)
        affected, untouched = self._selected(reach)
        job = Comparison(reach=reach, base=base, head=head, request=request, store=self.store)
        return job.compare(affected, untouched)

    # --- selection ------------------------------------------------------------------------------------------------

    def _selected(self, reach: Reach) -> tuple[tuple[str, ...], tuple[Known, ...]]:
        """What of the affected and the untouched fixtures was asked for; raises NothingMatched where nothing is."""
        request = self.request
        if not request.fixtures and not request.templates:
            if not reach.affected and not reach.untouched and not reach.changes:
                raise NothingMatched(
                    "neither side has a fixture: nothing was compared",
                    help=f"add one under {self.workspace.settings.fixtures[0]}/ (`ctxc init` writes an example)",
                )
            return reach.affected, reach.untouched
        from ctxc.app.diff_index import known_of
        from ctxc.app.naming import lost_fixtures
        from ctxc.app.selection import Selection

        known: dict[str, Known] = {}
        for part, index in ((reach.base, reach.base_index), (reach.head, reach.head_index)):
            known |= dict(index.fixtures) if index is not None else known_of(part.project)
        selection = Selection(fixtures=request.fixtures, templates=request.templates)
        head = reach.head.project
        selection.check(
            list(known.values()), head.findings, self.workspace.settings.fixtures[0], lost=lost_fixtures(head)
        )
        return (
            tuple(i for i in reach.affected if i in known and selection.holds(known[i])),
            tuple(k for k in reach.untouched if selection.holds(k)),
        )

    # --- what is kept ---------------------------------------------------------------------------------------------

    def _key(self, base: str, head: str) -> bytes:
        from ctxc.app.identity import identity

        request = self.request
        value = [
            FORMAT,
            identity(),
            base,
            head,
            _plain(self.sides.base.settings),
            _plain(self.sides.head.settings),
            [request.provider, request.model, request.against_provider, request.against_model],
            [list(request.fixtures), list(request.templates), request.context, request.whole],
        ]
        return sha256(canonical(value).encode("utf-8", "surrogatepass")).digest()

    def _stored(self, key: bytes | None) -> Change | None:
        if key is None or self.workspace.cache is None:
            return None
        data = self.store.get_blobs(_SPACE, [key]).get(key)
        if data is None:
            return None
        from ctxc.compare.codec import decode
        from ctxc.model.change import Change

        try:
            return decode(Change, json.loads(data))
        except (ValueError, TypeError, RecursionError):
            return None

    def _store(self, key: bytes | None, change: Change) -> None:
        if key is None or self.workspace.cache is None:
            return
        from ctxc.compare.codec import compact

        data = canonical(compact(change)).encode("utf-8", "surrogatepass")
        if len(data) <= _KEPT_BYTES:
            self.store.put_blobs(_SPACE, {key: data})

    def _outcome(self, change: Change) -> DiffOutcome:
        return DiffOutcome(change=change, notes=tuple(self.notes))


def _plain(settings: Settings | None) -> list[object]:
    """What of the settings a compile depends on."""
    if settings is None:
        return []
    lists = (settings.templates, settings.fragments, settings.policies, settings.fixtures)
    return [*(list(x) for x in lists), settings.provider, settings.model, settings.extra.get("tokenizers", {})]


def _draw(change: Change, drawing: Drawing) -> str:
    from ctxc.compare.narrow import only
    from ctxc.report import View
    from ctxc.report.diffs import DiffView, render

    view = View(color=drawing.color, width=drawing.width, verbosity=drawing.verbosity)
    return render(drawing.format, only(change, drawing.facets), DiffView(view=view, stat=drawing.stat))


def _texts_of(blobs: Sequence[bytes | None]) -> tuple[tuple[str, ...], bool, bool] | None:
    """Texts, whether anything differs and whether head is broken, as they were kept; None where one is not there or is
    something else."""
    texts, differs, broken = [], False, False
    for blob in blobs:
        try:
            differs, broken, text = json.loads(blob or b"")
        except (ValueError, TypeError, RecursionError):
            return None
        if type(differs) is not bool or type(broken) is not bool or not isinstance(text, str):
            return None
        texts.append(text)
    return tuple(texts), differs, broken


def _told(side: Side, known: Revision) -> Revision:
    """What this command calls a side, with what was found out about it before."""
    return replace(side.revision, errors=known.errors)


def _nothing(base: Revision, head: Revision) -> Change:
    from ctxc import __version__
    from ctxc.model.change import Change

    return Change(version=__version__, base=base, head=head)
