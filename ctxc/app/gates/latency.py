"""Step 8: milliseconds by the linear model that a provider profile declares."""

from __future__ import annotations

from ctxc.app.gates import Gate, Lint, Looked
from ctxc.app.gates._counts import bounds, growth, over
from ctxc.rules.engine import Context


def look(context: Context, lint: Lint) -> Looked:
    """Bounds in milliseconds; it is said that they are held against a model."""
    del lint
    ceilings = bounds(context, "latency", "ceilings")
    grown, note = growth(context, "latency", lambda one, other: None not in (one.latency_cold, other.latency_cold))
    what = over({"ceiling": ceilings, "bound on growth": grown})
    what += ", by a model" if what else ""
    return Looked(count=ceilings.compared + grown.compared, what=what, note=note)


GATE = Gate(
    id="latency",
    order=8,
    title="Latency",
    rules=("latency-ceiling", "latency-growth", "unknown-latency"),
    look=look,
)
