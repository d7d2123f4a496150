"""Step 7: dollars a request and a thousand requests, from dated prices."""

from __future__ import annotations

from ctxc.app.gates import Gate, Lint, Looked, counted
from ctxc.app.gates._counts import NO_BASE, bounds, has
from ctxc.rules._ground import ground
from ctxc.rules.engine import Context


def look(context: Context, lint: Lint) -> Looked:
    """Bounds in dollars, and where the prices are from."""
    del lint
    ceilings, compared = bounds(context, "cost", "ceilings")
    growth, grown = bounds(context, "cost", "growth")
    known = ground(context)
    if known.base is None:
        growth = grown = 0
    parts = [counted(ceilings, "ceiling")] if ceilings else []
    parts += [f"{counted(growth, 'bound')} on growth"] if growth else []
    prices = sorted({m.price for m in known.head.values() if m.price})
    what = f"{' and '.join(parts)} over {counted(max(compared, grown), 'request')}" if parts else ""
    if what and prices:
        what += f"; prices: {'; '.join(prices)}"
    note = f"growth is not judged: {NO_BASE}" if has(context, "cost", "growth") and known.base is None else ""
    return Looked(count=compared + grown, what=what, note=note)


GATE = Gate(id="cost", order=7, title="Cost", rules=("cost-ceiling", "cost-growth", "unknown-price"), look=look)
