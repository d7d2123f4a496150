"""Which model a template or fixture is compiled for, by the compiler's own word, and the room that it leaves."""

from __future__ import annotations

from typing import NamedTuple

from ctxc.compiler.resolve import DEFAULT_MARGIN, DEFAULT_OUTPUT_RESERVE, find_model, find_version
from ctxc.compiler.stage import Options, Refused
from ctxc.model.finding import Finding
from ctxc.model.fixture import Fixture
from ctxc.model.provider import ModelRow, ProviderProfile
from ctxc.model.template import Template
from ctxc.rules.engine import Context


class Target(NamedTuple):
    """A provider profile with the row of one of its models."""

    provider: ProviderProfile
    row: ModelRow
    model: str


def target_of(context: Context, template: Template, fixture: Fixture | None = None) -> Target | None:
    """The provider and model that a fixture is compiled for, or a template where no fixture says otherwise; None
    where there is none."""
    try:
        return Target(*find_model(context.project, template, fixture, Options()))
    except Refused:
        return None


def refusals(context: Context) -> tuple[Finding, ...]:
    """What the compiler says where it finds no model: of each fixture, and of a template's model that none asks for."""
    project = context.project
    fine: set[tuple[str, str, str]] = set()
    used: set[int] = set()
    found: list[Finding] = []
    for fixture in project.fixtures.values():
        template = find_version(project.templates, fixture.template)
        asked = (fixture.template, fixture.provider, fixture.model)
        if template is None or asked in fine:
            continue
        used.add(id(template))
        try:
            find_model(project, template, fixture, Options())
            fine.add(asked)
        except Refused as refused:
            found.extend(refused.findings)
    told = {f.location for f in found}
    for template in (t for versions in project.templates.values() for t in versions):
        if template.model and id(template) not in used:
            try:
                find_model(project, template, None, Options())
            except Refused as refused:
                found.extend(f for f in refused.findings if f.name == "unknown-model" and f.location not in told)
    return tuple(found)


class Room(NamedTuple):
    """A template's budget in tokens, as the compiler takes it; None: nothing says which window there is."""

    window: int | None
    reserve: int
    margin: int
    available: int | None


def room(context: Context, template: Template) -> Room:
    """Window, reserve, margin and what is left for input."""
    budget = template.budget
    found = target_of(context, template)
    window = found.row.window_for(budget.window) if found is not None else budget.window
    reserve = budget.output_reserve
    if reserve is None:
        most = found.row.max_output if found is not None else None
        reserve = min(DEFAULT_OUTPUT_RESERVE, most or DEFAULT_OUTPUT_RESERVE)
    if window is None:
        return Room(None, reserve, 0, budget.ceiling)
    margin = (budget.safety_margin or DEFAULT_MARGIN).of(window)
    inside = found is None or found.row.output_in_window
    left = window - margin - (reserve if inside else 0)
    bounds = [left, budget.ceiling, found.row.max_input if found is not None else None]
    return Room(window, reserve, margin, min(b for b in bounds if b is not None))
