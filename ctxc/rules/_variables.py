"""Which variables make a section of two requests differ."""

from __future__ import annotations

from collections.abc import Mapping

from ctxc.base.errors import CtxcError
from ctxc.compiler.substitute import variables
from ctxc.model.lookup import candidates
from ctxc.model.measured import Measured, MeasuredSection
from ctxc.model.project import Project


def differing_variables(
    before: tuple[Project, Measured], after: tuple[Project, Measured], section: MeasuredSection
) -> tuple[str, ...]:
    """Names of the variables in the text of a section that have another value in the other request."""
    project, measured = after
    old, new = _values(*before), _values(*after)
    return tuple(n for n in variables(_text(project, measured, section)) if old.get(n) != new.get(n))


def by_variables(names: tuple[str, ...]) -> str:
    """The same in words, to stand behind the name of the section; empty where there are none."""
    return f" (variable{'s' if len(names) > 1 else ''} {', '.join(names)})" if names else ""


def _values(project: Project, measured: Measured) -> Mapping[str, str]:
    fixture = project.fixtures.get(measured.fixture)
    found = candidates(project.templates, measured.template)
    route = {k: "+".join(v) for k, v in fixture.route.items()} if fixture is not None else {}
    return {**route, **(found[-1].variables if found else {})}


def _text(project: Project, measured: Measured, section: MeasuredSection) -> str:
    found = candidates(project.templates, measured.template)
    spec = next((s for s in found[-1].sections if s.id == section.slot), None) if found else None
    if spec is not None and spec.source == "literal":
        return spec.text
    try:
        return project.sources.body(section.path)
    except CtxcError:
        return ""
