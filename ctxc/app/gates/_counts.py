"""How much a gate looked at, counted in the same way by several of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from ctxc.app.gates import counted
from ctxc.base.values import dataclass
from ctxc.compare.versions import objects
from ctxc.model.measured import Measured
from ctxc.rules._ground import ground, items, selected, settings, version_changes
from ctxc.rules.engine import Context

NO_BASE = "there is nothing to compare with"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How many bounds of a kind the policies have, the comparisons that they make, and with which requests."""

    number: int = 0
    compared: int = 0
    requests: frozenset[str] = frozenset()


def bounds(context: Context, step: str, name: str, judged: Callable[[Measured], bool] = lambda m: True) -> Bounds:
    """The bounds of a kind over the requests of which they speak, as far as these can be judged by them."""
    number = compared = 0
    requests: set[str] = set()
    for policy, values in settings(context, step):
        for _, bound in items(values.get(name)):
            number += 1
            here = [m.fixture for m in selected(context, policy, bound.get("where", {})) if judged(m)]
            compared += len(here)
            requests.update(here)
    return Bounds(number=number, compared=compared, requests=frozenset(requests))


def growth(context: Context, step: str, comparable: Callable[[Measured, Measured], bool]) -> tuple[Bounds, str]:
    """The bounds on growth over requests that stand on both sides, and why nothing was judged by them."""
    base = ground(context).base
    if not has(context, step, "growth"):
        return Bounds(), ""
    if base is None:
        return Bounds(), f"growth is not judged: {NO_BASE}"

    def judged(after: Measured) -> bool:
        before = base.get(after.fixture)
        return before is not None and before.has_request and comparable(before, after)

    found = bounds(context, step, "growth", judged)
    return found, "" if found.compared else "growth is not judged: no request of the base can be compared with"


def over(found: Mapping[str, Bounds], *more: str, requests: Iterable[str] = ()) -> str:
    """Bounds by what they are called, and the requests over which they are: ``1 ceiling over 3 requests``."""
    parts = []
    for name, some in found.items():
        noun, _, rest = name.partition(" ")
        if some.number:
            parts.append(f"{counted(some.number, noun)} {rest}".rstrip())
    parts += more
    reach = frozenset(requests).union(*(b.requests for b in found.values()))
    return f"{', '.join(parts)} over {counted(len(reach), 'request')}" if parts else ""


def has(context: Context, step: str, *names: str) -> bool:
    """Whether some policy has one of these parameters of a step."""
    return any(values.get(n) is not None for _, values in settings(context, step) for n in names)


def compared(context: Context, kinds: Collection[str]) -> int:
    """Versioned objects of these kinds on either side."""
    gone = {(c.kind, c.id) for c in version_changes(context) if c.status == "removed"}
    return len([key for key in objects(context.project).keys() | gone if key[0] in kinds])
