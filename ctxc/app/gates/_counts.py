"""How much a gate looked at, counted in the same way by several of them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ctxc.compare.versions import objects
from ctxc.rules._ground import ground, items, selected, settings, version_changes
from ctxc.rules.engine import Context

NO_BASE = "there is nothing to compare with"


def bounds(context: Context, step: str, name: str) -> tuple[int, int]:
    """How many bounds of a kind the policies have, and how many comparisons with requests they make."""
    found = comparisons = 0
    for policy, values in settings(context, step):
        for _, bound in items(values.get(name)):
            found += 1
            comparisons += len(selected(context, policy, bound.get("where", {})))
    return found, comparisons


def both_sides(context: Context) -> int:
    """Fixtures that have a request on both sides."""
    base = ground(context).base or {}
    return sum(m.has_request and n in base and base[n].has_request for n, m in ground(context).head.items())


def has(context: Context, step: str, *names: str) -> bool:
    """Whether some policy has one of these parameters of a step."""
    return any(values.get(n) is not None for _, values in settings(context, step) for n in names)


def requests(context: Context) -> int:
    """Fixtures that have a request."""
    return sum(m.has_request for m in ground(context).head.values())


def parameters(context: Context, step: str) -> Any:
    """Whether some policy has parameters for a step."""
    return next((True for _ in settings(context, step)), False)


def compared(context: Context, kinds: Collection[str]) -> int:
    """Versioned objects of these kinds on either side."""
    gone = {(c.kind, c.id) for c in version_changes(context) if c.status == "removed"}
    return len([key for key in objects(context.project).keys() | gone if key[0] in kinds])
