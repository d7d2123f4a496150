"""Tool sets, who uses them, and the models to which they are sent."""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.contract import ToolSet
from ctxc.model.lookup import candidates
from ctxc.model.template import Template
from ctxc.rules._counts import Target
from ctxc.rules._prefix import targets
from ctxc.rules._texts import templates
from ctxc.rules.engine import Context


def toolsets(context: Context) -> tuple[ToolSet, ...]:
    """Every tool set once, also a tools file that a section names by path."""
    return context.shared(_toolsets)


def _toolsets(context: Context) -> tuple[ToolSet, ...]:
    return tuple({t.origin: t for versions in context.project.toolsets.values() for t in versions}.values())


def used(context: Context, template: Template) -> Iterator[ToolSet]:
    """The tool sets that requests of a template can have: of its sections, and of its profiles."""
    project = context.project
    names = [s.source for s in template.sections if s.kind.value == "tools"]
    profiles = {template.request_profile}
    for fixture in project.fixtures.values():
        if fixture.request_profile:
            named = candidates(project.templates, fixture.template)
            if named and named[-1] is template:
                profiles.add(fixture.request_profile)
    names.extend(p.toolset for n in sorted(profiles) for p in candidates(project.profiles, n)[-1:])
    for name in names:
        yield from candidates(project.toolsets, name)[-1:]


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
