"""Step 2: ceilings, growth, percentiles, and the ratchet."""

from __future__ import annotations

from ctxc.app.gates import Gate, Lint, Looked, counted
from ctxc.app.gates._counts import NO_BASE, both_sides, bounds, has, requests
from ctxc.rules._ground import ground
from ctxc.rules.budget_lock import ratchets
from ctxc.rules.engine import Context


def look(context: Context, lint: Lint) -> Looked:
    """Ceilings, percentiles and bounds on growth, with the requests that they were held against."""
    del lint
    parts = []
    total = 0
    for name, noun in (("ceilings", "ceiling"), ("percentiles", "percentile"), ("growth", "bound")):
        number, comparisons = bounds(context, "budget", name)
        if number and (name != "growth" or ground(context).base is not None):
            parts.append(f"{counted(number, noun)}{' on growth' if name == 'growth' else ''}")
            total += comparisons if name != "growth" else min(comparisons, both_sides(context))
    if next(ratchets(context), None) is not None:
        parts.append("budgets.lock")
        total += requests(context)
    note = ""
    if has(context, "budget", "growth") and ground(context).base is None:
        note = f"growth is not judged: {NO_BASE}"
    what = f"{', '.join(parts)} over {counted(requests(context), 'request')}" if parts else ""
    return Looked(count=total, what=what, note=note)


GATE = Gate(
    id="budget",
    order=2,
    title="Budget",
    rules=(
        "token-ceiling", "token-growth", "token-percentile", "estimated-ceiling", "incomparable-counts", "budget-lock",
        "budget-slack",
    ),
    codes=("CTX200", "CTX202"),
    look=look,
)  # fmt: skip
