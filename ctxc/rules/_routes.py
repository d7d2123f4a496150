"""Routes: which fragments one request can load together, and which keys of a route anybody uses."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from ctxc.base.spans import Origin
from ctxc.compiler.routing import FILES, FragmentIndex
from ctxc.model.fixture import Fixture
from ctxc.model.fragment import Fragment, LoadMode
from ctxc.model.lookup import candidates
from ctxc.model.template import Template
from ctxc.rules.engine import Context

Conditions = Mapping[str, tuple[str, ...]]


def newest(context: Context) -> Mapping[str, Fragment]:
    """The fragments that a request can load: of each id the last version."""
    return context.shared(_index).newest


def index(context: Context) -> FragmentIndex:
    """The compiler's own index of fragments by route."""
    return context.shared(_index)


def _index(context: Context) -> FragmentIndex:
    return FragmentIndex(context.project)


def required(context: Context, start: Fragment) -> Iterator[tuple[str, ...]]:
    """Chains of ids, from ``start`` to each fragment that it requires, directly or not; each fragment once."""
    known = newest(context)
    seen = {start.id}
    pending: list[tuple[str, ...]] = [(start.id,)]
    while pending:
        chain = pending.pop(0)
        fragment = known.get(chain[-1])
        if fragment is None or fragment.load_mode is LoadMode.ISOLATED:
            continue
        for name in ids(context, fragment.requires):
            if name not in seen:
                seen.add(name)
                pending.append((*chain, name))
                yield (*chain, name)


def ids(context: Context, names: Iterable[str]) -> tuple[str, ...]:
    """The ids of the fragments that references mean (``id``, ``id@version``); a name that leads nowhere stays."""
    known = index(context)
    return tuple(found.id if (found := known.named(name)) else name for name in names)


def implies(narrow: Conditions, wide: Conditions) -> bool:
    """Whether every route that meets the narrow conditions meets the wide ones."""
    return all(key in narrow and set(narrow[key]) <= set(values) for key, values in wide.items())


def fixtures_by_route(context: Context) -> Mapping[tuple[tuple[str, tuple[str, ...]], ...], Fixture]:
    """One fixture for each different route."""
    return context.shared(_by_route)


def _by_route(context: Context) -> dict[tuple[tuple[str, tuple[str, ...]], ...], Fixture]:
    found: dict[tuple[tuple[str, tuple[str, ...]], ...], Fixture] = {}
    for fixture in context.project.fixtures.values():
        found.setdefault(tuple(sorted(fixture.route.items())), fixture)
    return found


def fixtures_of(context: Context, template: Template) -> Sequence[Fixture]:
    """The fixtures of a template in this very version."""
    return context.shared(_by_template).get(template.origin, ())


def _by_template(context: Context) -> dict[Origin, list[Fixture]]:
    found: dict[Origin, list[Fixture]] = {}
    named: dict[str, tuple[Template, ...]] = {}
    for fixture in context.project.fixtures.values():
        if fixture.template not in named:
            named[fixture.template] = candidates(context.project.templates, fixture.template)[-1:]
        for template in named[fixture.template]:
            found.setdefault(template.origin, []).append(fixture)
    return found


def loadable(context: Context, template: Template, named: Iterable[str] = ()) -> tuple[Fragment, ...]:
    """The fragments that requests of a template can load: by a route with the keys that the template and its fixtures
    have, whatever their values; those that any request may name; ``named`` ones; and what these require."""
    known = index(context)
    keys = {FILES, *template.route, *(key for f in fixtures_of(context, template) for key in f.route)}
    pending = [f for f in known.newest.values() if _may_load(f, keys)]
    pending += [f for name in named if (f := known.named(name)) is not None]
    found: dict[Origin, Fragment] = {}
    while pending:
        fragment = pending.pop()
        if fragment.origin not in found:
            found[fragment.origin] = fragment
            pending += [f for name in fragment.requires if (f := known.named(name)) is not None]
    return tuple(found.values())


def _may_load(fragment: Fragment, keys: Collection[str]) -> bool:
    if fragment.load_mode in (LoadMode.ALWAYS, LoadMode.EXPLICIT):
        return True
    wanted = fragment.applies_when
    return all(key in keys for key in wanted) and (bool(wanted) or fragment.load_mode is not LoadMode.ROUTE_MATCH)


def known_keys(context: Context) -> frozenset[str]:
    """Keys that a route can have: those that a template names and those that a fixture gives."""
    return context.shared(_known_keys)


def _known_keys(context: Context) -> frozenset[str]:
    project = context.project
    keys = {key for versions in project.templates.values() for t in versions for key in t.route}
    keys.update(key for fixture in project.fixtures.values() for key in fixture.route)
    return frozenset(keys | {FILES})
