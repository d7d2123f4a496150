"""Step 7: dollars a request and a thousand requests, from dated prices."""

from __future__ import annotations

from ctxc.app.gates import Gate, Lint, Looked
from ctxc.app.gates._counts import bounds, growth, over
from ctxc.rules._ground import ground
from ctxc.rules.engine import Context


def look(context: Context, lint: Lint) -> Looked:
    """Bounds in dollars, and where the prices are from."""
    del lint
    ceilings = bounds(context, "cost", "ceilings")
    grown, note = growth(context, "cost", lambda one, other: bool(one.cold and other.cold))
    what = over({"ceiling": ceilings, "bound on growth": grown})
    prices = sorted({m.price for m in ground(context).head.values() if m.price})
    if what and prices:
        what += f"; prices: {'; '.join(prices)}"
    return Looked(count=ceilings.compared + grown.compared, what=what, note=note)


GATE = Gate(id="cost", order=7, title="Cost", rules=("cost-ceiling", "cost-growth", "unknown-price"), look=look)
