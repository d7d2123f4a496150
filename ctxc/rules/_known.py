"""What is known of a project with mistakes in it: a rule that concludes from an absence must not conclude it from a
name that leads nowhere, or from a file that could not be loaded. Loading says what is wrong with these, once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ctxc.model.lookup import Defined, candidates
from ctxc.model.project import Project
from ctxc.model.template import Template
from ctxc.rules.engine import Context

FIXTURES = ("fixture", "conversation")
"""The kinds that hold requests."""


def all_known(context: Context, *kinds: str) -> bool:
    """Whether every name of some kinds means something, and no broken file may define one more."""
    return context.shared(_unknown).isdisjoint(kinds)


def with_profile(context: Context) -> Iterator[Template]:
    """The templates of which it is known what their request profile says: they have none, or it is there."""
    for versions in context.project.templates.values():
        for template in versions:
            name = template.request_profile
            if not name or candidates(context.project.profiles, name):
                yield template


def _unknown(context: Context) -> frozenset[str]:
    project = context.project
    found = {kind for kind, names in project.lost.items() if names}
    for kind, index, names in _named(project):
        if kind not in found and any(n and not candidates(index, n) for n in names):
            found.add(kind)
    return frozenset(found)


def _named(project: Project) -> Iterator[tuple[str, Mapping[str, tuple[Defined, ...]], Iterable[str]]]:
    templates = [t for versions in project.templates.values() for t in versions]
    profiles = [p for versions in project.profiles.values() for p in versions]
    fragments = [f for versions in project.fragments.values() for f in versions]
    fixtures = project.fixtures.values()
    yield "template", project.templates, {f.template for f in fixtures} | {t.extends for t in templates}
    named = {t.request_profile for t in templates} | {f.request_profile for f in fixtures}
    yield "profile", project.profiles, named
    named = {t.output_contract for t in templates} | {p.output_contract for p in profiles}
    yield "contract", project.contracts, named
    yield "toolset", project.toolsets, {p.toolset for p in profiles}
    needed = {n for f in fragments for n in f.requires}
    yield "fragment", project.fragments, needed | {n for f in fixtures for n in f.inputs.fragments}
