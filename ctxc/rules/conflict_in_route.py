"""Two fragments that conflict with each other and that one route loads together.

Why: Every request with this route is refused, or, if nobody had declared the conflict, would hold two sets of rules
that exclude each other.

Bad:

    # file: fragments/formal.md
    ---
    fragment_id: core.formal
    version: 1
    kind: core
    load_mode: always
    conflicts_with: [task.chat]
    ---
    Use full sentences and titles.
    # file: fragments/chat.md
    ---
    fragment_id: task.chat
    version: 1
    kind: task
    load_mode: route_match
    applies_when: {task: [chat]}
    ---
    Write as a friend would.

Good:

    # file: fragments/formal.md
    ---
    fragment_id: core.formal
    version: 1
    kind: core
    load_mode: route_match
    applies_when: {task: [letter]}
    conflicts_with: [task.chat]
    ---
    Use full sentences and titles.
    # file: fragments/chat.md
    ---
    fragment_id: task.chat
    version: 1
    kind: task
    load_mode: route_match
    applies_when: {task: [chat]}
    ---
    Write as a friend would.

Mend: Narrow `applies_when` of one of the two, take the one out of what the other requires, or remove the conflict.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.model.fragment import Fragment, LoadMode
from ctxc.rules._routes import fixtures_by_route, ids, implies, index, newest, required
from ctxc.rules.engine import Context, rule

_BY_ROUTE = (LoadMode.ALWAYS, LoadMode.ROUTE_MATCH, LoadMode.COMPACTED, LoadMode.REFERENCE)


def check(context: Context) -> Iterator[Finding]:
    """Conflicts that conditions or requirements make certain, and those that a fixture's route brings about."""
    known = newest(context)
    conflicts = {
        frozenset((f.id, other)) for f in known.values() for other in ids(context, f.conflicts_with) if other in known
    }
    if not conflicts:
        return
    told: set[frozenset[str]] = set()
    for fragment in known.values():
        for chain in required(context, fragment):
            for pair in sorted(conflicts, key=sorted):
                if {fragment.id, chain[-1]} == pair and pair not in told:
                    told.add(pair)
                    yield _required_too(context, fragment, chain)
    for pair in sorted(conflicts - told, key=sorted):
        one, other = (known[name] for name in sorted(pair))
        for narrow, wide in ((one, other), (other, one)):
            if pair not in told and _loads_with(narrow, wide):
                told.add(pair)
                yield _together(context, narrow, wide)
    yield from _in_fixtures(context, conflicts - told)


def _loads_with(narrow: Fragment, wide: Fragment) -> bool:
    """Whether every route that loads the first loads the second as well."""
    if narrow.load_mode not in _BY_ROUTE or wide.load_mode not in _BY_ROUTE:
        return False
    if wide.load_mode is LoadMode.ALWAYS:
        return True
    return bool(narrow.applies_when) and bool(wide.applies_when) and implies(narrow.applies_when, wide.applies_when)


def _place(context: Context, fragment: Fragment, other: str) -> tuple[Fragment, str]:
    return fragment, "conflicts_with" if other in ids(context, fragment.conflicts_with) else "fragment_id"


def _required_too(context: Context, fragment: Fragment, chain: tuple[str, ...]) -> Finding:
    return RULE.finding(
        context,
        f"fragment {fragment.id!r} requires {chain[-1]!r} and conflicts with it ({' -> '.join(chain)})",
        at=fragment.origin.child("requires", ids(context, fragment.requires).index(chain[1])),
        help="remove the requirement or the conflict",
        data={"chain": list(chain)},
    )


def _together(context: Context, narrow: Fragment, wide: Fragment) -> Finding:
    owner, key = _place(context, narrow, wide.id)
    if key != "conflicts_with":
        owner, key = _place(context, wide, narrow.id)
    other = wide if owner is narrow else narrow
    return RULE.finding(
        context,
        f"fragments {narrow.id!r} and {wide.id!r} conflict, and every route that loads {narrow.id!r} loads both",
        at=owner.origin.child(key, ids(context, owner.conflicts_with).index(other.id)),
        help="narrow `applies_when` of one of them, or remove the conflict",
        related=[(other.origin.child("fragment_id"), f"fragment {other.id}")],
        data={"fragments": sorted((narrow.id, wide.id))},
    )


def _in_fixtures(context: Context, conflicts: set[frozenset[str]]) -> Iterator[Finding]:
    known = newest(context)
    for fixture in fixtures_by_route(context).values():
        loaded = {f.id for f in index(context).candidates(fixture.route) if f.load_mode in _BY_ROUTE}
        if fixture.expect.outcome != "compiled" or len(loaded) < 2:
            continue
        for pair in sorted((p for p in conflicts if p <= loaded), key=sorted):
            one, other = sorted(
                pair, key=lambda name: (not set(pair) & set(ids(context, known[name].conflicts_with)), name)
            )
            yield RULE.finding(
                context,
                f"the route of this fixture loads {one!r} and {other!r}, which conflict",
                at=fixture.origin.child("route"),
                help="narrow `applies_when` of one of them, or correct the route",
                fixture=fixture.id,
                related=[(known[one].origin.child("conflicts_with"), f"fragment {one}")],
                data={"fragments": sorted(pair)},
            )


RULE = rule(__name__, __doc__, check)
