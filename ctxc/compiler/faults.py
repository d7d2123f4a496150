"""Findings that the compiler itself makes: what stops a fixture from compiling, with its place and its mend."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from ctxc.base.spans import Origin
from ctxc.model.codes import code_of, severity_of
from ctxc.model.finding import Finding, Related, Severity
from ctxc.model.project import Project


def fault(
    project: Project,
    name: str,
    message: str,
    *,
    at: Origin,
    help: str = "",
    fixture: str = "",
    key: bool = False,
    data: Mapping[str, Any] | None = None,
    related: Iterable[tuple[Origin, str]] = (),
) -> Finding:
    """A finding of a known name at the place of a loaded value."""
    return Finding(
        code=code_of(name),
        name=name,
        severity=severity_of(name),
        message=message,
        help=help,
        location=project.sources.locate(at, key=key),
        fixture=fixture,
        data=data or {},
        related=tuple(Related(location=project.sources.locate(o), message=m) for o, m in related),
    )


def broken_at(project: Project, path: str) -> list[str]:
    """The files that keep a definition from being loaded, the one with the findings first: its own, or its tools, or
    the template that tells of the circle it is in."""
    other = project.broken_with.get(path, "")
    places = [path, other] if other else [path]
    reported = {f.location.path for f in project.findings if f.severity is Severity.ERROR}
    return sorted(places, key=lambda p: p not in reported)


def did_you_mean(wrong: str, known: Iterable[str]) -> str:
    """`` Did you mean 'x'?`` or nothing."""
    near = get_close_matches(wrong, sorted(known), n=1, cutoff=0.6)
    return f" Did you mean {near[0]!r}?" if near else ""
