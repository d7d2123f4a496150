"""Tool sets, who uses them, and the models to which they are sent."""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.contract import RequestProfile, ToolSet
from ctxc.model.lookup import candidates
from ctxc.model.template import Template
from ctxc.rules._counts import Target
from ctxc.rules._prefix import targets
from ctxc.rules._routes import fixtures_of
from ctxc.rules._texts import templates
from ctxc.rules.engine import Context


def toolsets(context: Context) -> tuple[ToolSet, ...]:
    """Every tool set once, also a tools file that a section names by path."""
    return context.shared(_toolsets)


def _toolsets(context: Context) -> tuple[ToolSet, ...]:
    return tuple({t.origin: t for versions in context.project.toolsets.values() for t in versions}.values())


def profiles_of(context: Context, template: Template) -> tuple[RequestProfile, ...]:
    """The request profiles that requests of a template can have: its own, and those that fixtures of it name."""
    names = {template.request_profile, *(f.request_profile for f in fixtures_of(context, template))}
    return tuple(p for n in sorted(names) for p in candidates(context.project.profiles, n)[-1:])


def used(context: Context, template: Template) -> Iterator[ToolSet]:
    """The tool sets that requests of a template can have: of its sections, and of its profiles."""
    names = [s.source for s in template.sections if s.kind.value == "tools"]
    for name in (*names, *(p.toolset for p in profiles_of(context, template))):
        yield from candidates(context.project.toolsets, name)[-1:]


def targets_of(context: Context, toolset: ToolSet) -> tuple[Target, ...]:
    """The models to which a tool set is sent."""
    return context.shared(_targets).get(toolset.origin.path, ())


def _targets(context: Context) -> dict[str, tuple[Target, ...]]:
    found: dict[str, dict[tuple[str, str], Target]] = {}
    for template in templates(context):
        for toolset in used(context, template):
            for target in targets(context, template):
                found.setdefault(toolset.origin.path, {})[target.provider.id, target.model] = target
    return {path: tuple(those.values()) for path, those in found.items()}
