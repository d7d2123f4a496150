"""The stable prefix of a template, as far as its sources show it: sections, marks, and the models it is sent to."""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.lookup import candidates
from ctxc.model.section import DEFAULTS, Authority, Kind, Zone
from ctxc.model.template import SectionSpec, Template
from ctxc.rules._counts import Target, target_of
from ctxc.rules._texts import authority_of
from ctxc.rules.engine import Context


def zone_of(spec: SectionSpec) -> Zone:
    """Where a section stands in the request."""
    return spec.zone or DEFAULTS[spec.kind].zone


def static_names(context: Context, template: Template) -> frozenset[str]:
    """What the request profile of a template calls static: section ids, kinds and groups of fragments."""
    found = candidates(context.project.profiles, template.request_profile)
    return frozenset(found[-1].static) if found else frozenset()


def is_stable(context: Context, template: Template, spec: SectionSpec) -> bool:
    """Whether a section belongs to the prefix that a provider can cache."""
    static = static_names(context, template)
    named = spec.id in static or spec.kind.value in static or (spec.source == "fragments" and bool(static))
    stable = spec.cacheable if spec.cacheable is not None else named
    return stable and authority_of(spec) <= Authority.T1 and zone_of(spec) in (Zone.SYSTEM, Zone.TOOLS)


def stable_names(context: Context, template: Template, spec: SectionSpec) -> frozenset[str] | None:
    """Of a stable section of fragments: the groups and ids of those that are stable; None: all of them are."""
    static = static_names(context, template)
    whole = spec.cacheable if spec.cacheable is not None else not static.isdisjoint((spec.id, spec.kind.value))
    return None if whole else static


def prefix(context: Context, template: Template) -> tuple[SectionSpec, ...]:
    """The stable sections in the order in which they are sent: tools first, then the template's order."""
    stable = [s for s in template.sections if is_stable(context, template, s)]
    return tuple(sorted(stable, key=lambda s: s.kind is not Kind.TOOLS))


def targets(context: Context, template: Template) -> Iterator[Target]:
    """The models that a template is sent to: its own, and those that fixtures of it name; each once."""
    seen: set[tuple[str, str]] = set()
    for found in _targets(context, template):
        if found is not None and (found.provider.id, found.model) not in seen:
            seen.add((found.provider.id, found.model))
            yield found


def _targets(context: Context, template: Template) -> Iterator[Target | None]:
    yield target_of(context, template)
    for fixture in context.project.fixtures.values():
        if fixture.provider or fixture.model:
            named = candidates(context.project.templates, fixture.template)
            if named and named[-1] is template:
                yield target_of(context, template, fixture)
