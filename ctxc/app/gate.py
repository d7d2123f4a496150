"""``ctxc gate``: judge a project, and what changed in it, by its policies, and say what was looked at.

Head's own policies judge, and with ``policy_source: base`` the base's as well, each with its own waivers, suppressions,
baseline and locks: a finding that one of the two does not silence counts. What does not depend on policies (compiling,
searching, the injection trials) is done once.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ctxc.app.gates import Gate, gate_ids, gates
from ctxc.app.gates._files import sources
from ctxc.app.gates._kept import GateStore
from ctxc.app.gates._request import GateRequest, in_ci
from ctxc.app.gates._side import GateSide
from ctxc.app.gates._sides import GateSides, open_gate_sides
from ctxc.base.errors import UsageError
from ctxc.base.values import dataclass

if TYPE_CHECKING:
    from ctxc.app.masking import Sources
    from ctxc.app.workspace import Workspace
    from ctxc.model.change import Change
    from ctxc.model.project import Project
    from ctxc.model.release import Release
    from ctxc.model.report import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRun:
    """What came out: the release with its report, what it rests on, notes for who asked, and warnings for everybody.

    ``change`` is None where there is no base, and where everything is from the cache.
    """

    release: Release
    head: GateSide
    base: GateSide | None
    change: Change | None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def report(self) -> Report:
        """The findings and the gates."""
        return self.release.report

    def sources(self) -> Sources:
        """Texts of judged files for code frames, without the secrets in them."""
        return sources(self.head.tree)


def gate_workspace(workspace: Workspace, request: GateRequest, *, now: str) -> GateRun:
    """Run the gates. Raises CtxcError for everything that keeps them from judging: no fixtures, no policies, nothing
    that was asked for, a vocabulary or a file that cannot be read, a base that was asked for and is not there."""
    _check_names(request.only)
    sides = open_gate_sides(workspace, request.as_diff())
    try:
        found = _over_sides(workspace, request, sides, now)
    finally:
        sides.close()
    workspace.close()
    return found


def _over_sides(workspace: Workspace, request: GateRequest, sides: GateSides, now: str) -> GateRun:
    """The run over two trees, from the cache where everything was judged before."""
    kept = workspace.cache is not None
    assert sides.head.tree is not None and sides.head.settings is not None
    head = GateSide(sides.head.tree, sides.head.settings, workspace.store, kept=kept)
    base: GateSide | None = None
    same = sides.same and not request.against
    if sides.base is not None and sides.base.tree is not None and sides.base.settings is not None and not same:
        base = GateSide(sides.base.tree, sides.base.settings, workspace.store, kept=kept)
        base.decoded = head.decoded
    store: GateStore | None = None
    if kept and GateStore.takes(sides):
        ci = in_ci(workspace.environment)
        store = GateStore(workspace.store, sides, request, in_ci=ci, config=workspace.config.path, now=now)
        known = store.get(head)
        if known is not None:
            note = "nothing changed: this is what the last run said"
            return GateRun(release=known[0], head=head, base=base, change=None, notes=(*known[1], note))
    from ctxc.app.diff import diff_sides
    from ctxc.app.gates._linted import quiet
    from ctxc.app.gates._run import Gates

    run = Gates(
        workspace,
        request,
        sides,
        head=head,
        base=base,
        find_change=lambda: diff_sides(quiet(workspace), request.as_diff(), sides.compared()).change,
        now=now,
    ).run(_chosen(request.only))
    if head.clean is not None:
        head.clean.write()
    if store is not None:
        store.put(head, run.release, run.notes)
    return GateRun(release=run.release, head=head, base=base, change=run.change, notes=run.notes, warnings=run.warnings)


def gate_projects(project: Project, base: Project | None, request: GateRequest, *, now: str) -> GateRun:
    """The same for projects that are loaded already; nothing is read from disk, clock or environment."""
    from ctxc.app.config import Config
    from ctxc.app.diff_compare import compare_projects
    from ctxc.app.diff_sides import Side
    from ctxc.app.gates._run import Gates
    from ctxc.app.workspace import Workspace
    from ctxc.model.revision import Revision
    from ctxc.tokens import open_store

    _check_names(request.only)
    store = open_store(None)
    sides = [GateSide.of(p, store) for p in (project, base) if p is not None]
    named = [
        Side(revision=Revision(rev=name, kind="project", label=name), tree=side.tree, settings=side.settings)
        for name, side in zip(("head", "base"), sides, strict=False)
    ]
    workspace = Workspace(
        root=Path(),
        config=Config(root=Path(), path="", values=(), settings=project.settings),
        cache=None,
        store=store,
        _tree=sides[0].tree,
    )
    run = Gates(
        workspace,
        request,
        GateSides(head=named[0], base=named[1] if base is not None else None, repository=None, why="there is no base"),
        head=sides[0],
        base=sides[1] if base is not None else None,
        find_change=lambda: compare_projects(base or project, project, context=2),
        now=now,
    ).run(_chosen(request.only))
    return GateRun(
        release=run.release,
        head=sides[0],
        base=sides[1] if base is not None else None,
        change=run.change,
        notes=run.notes,
    )


def _check_names(only: Sequence[str]) -> None:
    for name in only:
        if name not in gate_ids():
            from ctxc.app.naming import advice

            raise UsageError(f"there is no gate {name!r}", help=advice(name, gate_ids()))


def _chosen(only: Sequence[str]) -> tuple[Gate, ...]:
    return tuple(g for g in gates() if not only or g.id in only)


__all__ = ["GateRequest", "GateRun", "gate_projects", "gate_workspace"]
