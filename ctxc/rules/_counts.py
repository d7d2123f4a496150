"""Which model a template is written for, and tokens counted with its vocabulary."""

from __future__ import annotations

from typing import NamedTuple

from ctxc.compiler.resolve import DEFAULT_MARGIN, DEFAULT_OUTPUT_RESERVE
from ctxc.model.provider import ModelRow, ProviderProfile
from ctxc.model.template import Template
from ctxc.providers import find_row
from ctxc.rules.engine import Context


class Target(NamedTuple):
    """A provider profile with the row of one of its models."""

    provider: ProviderProfile
    row: ModelRow
    model: str


def target(context: Context, provider: str = "", model: str = "") -> Target | None:
    """The provider and model of these names, each empty for the configuration's; None where there is none."""
    settings = context.project.settings
    profile = context.project.providers.get(provider or settings.provider)
    if profile is None:
        return None
    own = not provider or provider == settings.provider
    name = model or (settings.model if own else "") or profile.default_model
    row = find_row(profile, name)
    return Target(profile, row, name) if row is not None else None


def target_of(context: Context, template: Template) -> Target | None:
    """The provider and model that a template is compiled for, unless a fixture says otherwise."""
    return target(context, template.provider, template.model)


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
