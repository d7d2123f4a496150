"""A conflict that only one of its two fragments declares.

Why: Either declaration is enough for the compiler; a reader of the other fragment does not see it.

Bad:

    # file: fragments/motor.md
    ---
    fragment_id: family.motor
    version: 1
    kind: family
    load_mode: route_match
    applies_when: {product_family: [motor]}
    conflicts_with: [family.home]
    ---
    A motor claim is about one vehicle.
    # file: fragments/home.md
    ---
    fragment_id: family.home
    version: 1
    kind: family
    load_mode: route_match
    applies_when: {product_family: [home]}
    ---
    A buildings claim is about what is fixed.

Good:

    # file: fragments/motor.md
    ---
    fragment_id: family.motor
    version: 1
    kind: family
    load_mode: route_match
    applies_when: {product_family: [motor]}
    conflicts_with: [family.home]
    ---
    A motor claim is about one vehicle.
    # file: fragments/home.md
    ---
    fragment_id: family.home
    version: 1
    kind: family
    load_mode: route_match
    applies_when: {product_family: [home]}
    conflicts_with: [family.motor]
    ---
    A buildings claim is about what is fixed.

Mend: Add the other side's `conflicts_with`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._routes import ids, newest
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Each declaration whose other side is silent."""
    known = newest(context)
    for fragment in known.values():
        for number, name in enumerate(ids(context, fragment.conflicts_with)):
            other = known.get(name)
            if other is not None and fragment.id not in ids(context, other.conflicts_with):
                yield RULE.finding(
                    context,
                    f"fragment {fragment.id!r} conflicts with {name!r}, which does not say so",
                    at=fragment.origin.child("conflicts_with", number),
                    help=f"add `conflicts_with: [{fragment.id}]` to {name}",
                    related=[(other.origin.child("fragment_id"), f"fragment {name}")],
                )


RULE = rule(__name__, __doc__, check, tier="strict")
