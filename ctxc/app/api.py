"""The public Python API: what a service imports and calls for each request."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxc.app.naming import advice, counted, lost_fixtures, unloadable, unloaded
from ctxc.base.errors import NothingMatched

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ctxc.model.change import Change
    from ctxc.model.fixture import Fixture
    from ctxc.model.package import Package
    from ctxc.model.project import Project
    from ctxc.model.report import Report
    from ctxc.source.tree import Tree


def load(source: str | Path | Tree) -> Project:
    """Load a project from a folder (its configuration is looked for there and above) or from a tree.

    A tree is any object that satisfies ``ctxc.source.tree.Tree``, such as a ``MemoryTree``; its configuration is read
    from ``ctxc.yaml`` in it. What is wrong with the project's files is in ``findings`` of the result; ConfigError is
    raised for a configuration that cannot be used, UnreadableSource for a folder that is not there.
    """
    from ctxc.app.workspace import load_tree, open_workspace

    if isinstance(source, (str, Path)):
        return open_workspace(Path(source), flags={}, environment={}, no_cache=True).project
    return load_tree(source)


def compile(project: Project, fixture: str | Fixture, *, provider: str = "", model: str = "") -> Package:
    """Compile one fixture of a loaded project: an id, or a ``Fixture`` that was made or changed in memory.

    Nothing is read from disk, clock or environment; equal arguments give equal packages. ``provider`` and ``model``
    win over what fixture, template and configuration say. The request is the caller's own: whatever is done to it
    reaches neither the project nor the next request. Raises NothingMatched for an id that is not there, InvalidSource
    for one whose file could not be loaded; other wrong sources are the outcome ``invalid`` with findings.
    """
    from dataclasses import replace

    from ctxc.app.workspace import compiler_for
    from ctxc.compiler.stage import Options

    found = find_fixture(project, fixture) if isinstance(fixture, str) else fixture
    package = compiler_for(project, Options(provider=provider, model=model)).compile(found)
    return package if package.request is None else replace(package, request=_own(package.request))


def _own(value: Any) -> Any:
    """A value of JSON without a part in common with another."""
    if isinstance(value, dict):
        return {key: _own(part) for key, part in value.items()}
    return [_own(part) for part in value] if isinstance(value, (list, tuple)) else value


def diff(base: Project, head: Project, *, context: int = 2) -> Change:
    """What a model will see differently: every fixture of two loaded projects, compiled and compared.

    Load a revision from a ``ctxc.source.commits.CommitTree``, or anything from a ``MemoryTree``. ``context`` is the
    number of equal lines around an edit. Nothing is read from clock or environment; equal projects give an empty one.
    """
    from ctxc.app.diff_compare import compare_projects

    return compare_projects(base, head, context=context)


def gate(
    project: Project,
    base: Project | None = None,
    policies: Iterable[str] = (),
    *,
    only: Iterable[str] = (),
    policy_source: str = "base",
    now: str = "",
) -> Report:
    """Judge a loaded project, and its change from ``base`` if there is one, by its policies.

    ``policies`` are the ids of those that judge (all of them where none is named), ``only`` the gates that run.
    ``policy_source``: ``base`` (its policies, waivers, suppressions and locks judge as well) or ``head``. ``now`` is
    the date by which waivers end (``YYYY-MM-DD``), today in UTC where none is given; nothing else is read from outside.
    Raises CtxcError for what cannot be judged: no fixtures, no policies, nothing that was asked for.
    """
    from datetime import UTC, datetime

    from ctxc.app.gate import GateRequest, gate_projects

    request = GateRequest(policies=tuple(policies), only=tuple(only), policy_source=policy_source)
    return gate_projects(project, base, request, now=now or datetime.now(UTC).date().isoformat()).report


def find_fixture(project: Project, fixture_id: str) -> Fixture:
    """The fixture of an id; raises NothingMatched, naming the nearest, for one that is not there, and InvalidSource,
    naming the first finding, for one that could not be loaded."""
    found = project.fixtures.get(fixture_id)
    if found is not None:
        return found
    lost = [p for p, n in lost_fixtures(project).items() if n == fixture_id or fixture_id.startswith(f"{n}.")]
    error = unloadable(fixture_id, lost, project.findings)
    if error is not None:
        raise error
    broken = unloaded(project.findings)
    told = f"{counted(broken)} from being loaded: `ctxc compile` shows them" if broken else ""
    raise NothingMatched(
        f"there is no fixture {fixture_id!r}",
        help=advice(fixture_id, sorted(project.fixtures), told, "`ctxc list fixtures` shows all", listed=False),
    )
