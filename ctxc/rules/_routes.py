"""Routes: which fragments one request can load together, and which keys of a route anybody uses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ctxc.compiler.routing import FragmentIndex
from ctxc.model.fixture import Fixture
from ctxc.model.fragment import Fragment, LoadMode
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


def known_keys(context: Context) -> frozenset[str]:
    """Keys that a route can have: those that a template names and those that a fixture gives."""
    return context.shared(_known_keys)


def _known_keys(context: Context) -> frozenset[str]:
    project = context.project
    keys = {key for versions in project.templates.values() for t in versions for key in t.route}
    keys.update(key for fixture in project.fixtures.values() for key in fixture.route)
    return frozenset(keys | {"files"})
