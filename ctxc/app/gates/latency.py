"""Step 8: milliseconds by the linear model that a provider profile declares."""

from __future__ import annotations

from ctxc.app.gates import Gate, Lint, Looked, counted
from ctxc.app.gates._counts import NO_BASE, bounds, has
from ctxc.rules._ground import ground
from ctxc.rules.engine import Context


def look(context: Context, lint: Lint) -> Looked:
    """Bounds in milliseconds; it is said that they are held against a model."""
    del lint
    ceilings, compared = bounds(context, "latency", "ceilings")
    growth, grown = bounds(context, "latency", "growth")
    base = ground(context).base
    if base is None:
        growth = grown = 0
    parts = [counted(ceilings, "ceiling")] if ceilings else []
    parts += [f"{counted(growth, 'bound')} on growth"] if growth else []
    what = f"{' and '.join(parts)} over {counted(max(compared, grown), 'request')}, by a model" if parts else ""
    note = f"growth is not judged: {NO_BASE}" if has(context, "latency", "growth") and base is None else ""
    return Looked(count=compared + grown, what=what, note=note)


GATE = Gate(
    id="latency",
    order=8,
    title="Latency",
    rules=("latency-ceiling", "latency-growth", "unknown-latency"),
    look=look,
)
