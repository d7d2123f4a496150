"""What no gate has seen: fixtures and policies that were not loaded, fixtures without the request that they expect."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ctxc.app.gates._side import GateSide
from ctxc.app.masking import mask_messages
from ctxc.app.naming import lost_fixtures
from ctxc.model.finding import Finding, Severity
from ctxc.model.project import Project


def unseen_fixtures(head: GateSide) -> tuple[str, ...]:
    """Fixtures that were not loaded, not compiled, or refused unexpectedly, by id, or by file where there is none or
    another one has it; sorted."""
    twice = (f.location.path for f in _twice(head.project, *_FIXTURES))
    return tuple(sorted({*_invalid(head), *refused(head), *lost_fixtures(head.project).values(), *twice}))


def _invalid(head: GateSide) -> frozenset[str]:
    return frozenset(name for name, measured in head.measured.items() if measured.outcome == "invalid")


def refused(head: GateSide) -> frozenset[str]:
    """Fixtures that have no request and expect one."""
    found = (n for n, m in head.measured.items() if not m.has_request and m.outcome != m.expected)
    return frozenset(found) - _invalid(head)


def why_fixtures(head: GateSide) -> Iterator[Finding]:
    """The errors that say why fixtures were not loaded or compiled."""
    yield from _errors_in(head.project, lost_fixtures(head.project))
    yield from _twice(head.project, *_FIXTURES)
    yield from errors_of(head, _invalid(head))


def errors_of(head: GateSide, fixtures: Collection[str]) -> Iterator[Finding]:
    """The errors of compiling some fixtures."""
    yield from (f for f in head.findings() if f.fixture in fixtures and f.severity is Severity.ERROR)


def why_policies(project: Project) -> Iterator[Finding]:
    """The errors that say why policies were not loaded: what they ask was asked by nobody."""
    yield from _errors_in(project, {path for path in project.broken if _may_be_policy(project, path)})
    yield from _twice(project, "policy_id")


def _may_be_policy(project: Project, path: str) -> bool:
    kind = project.broken_kinds.get(path)
    return kind == "policy" or (not kind and any(path.startswith(f"{f}/") for f in project.settings.policies))


_FIXTURES = ("fixture_id", "conversation_id")


def _twice(project: Project, *keys: str) -> Iterator[Finding]:
    """Definitions under an id that another one has: only the first is used."""
    found = (f for f in project.findings if f.name == "duplicate-id")
    yield from mask_messages(f for f in found if f.location.pointer.rpartition("/")[2] in keys)


def _errors_in(project: Project, paths: Collection[str]) -> Iterator[Finding]:
    found = (f for f in project.findings if f.severity is Severity.ERROR and f.location.path in paths)
    yield from mask_messages(found)
