"""Step 2: ceilings, growth, percentiles, and the ratchet."""

from __future__ import annotations

from ctxc.app.gates import Gate, Lint, Looked
from ctxc.app.gates._counts import bounds, growth, over
from ctxc.rules._ground import selected
from ctxc.rules.budget_lock import ratchets
from ctxc.rules.engine import Context
from ctxc.rules.token_growth import comparable


def look(context: Context, lint: Lint) -> Looked:
    """Ceilings, percentiles and bounds on growth, with the requests that they were held against."""
    del lint
    grown, note = growth(context, "budget", comparable)
    found = {
        "ceiling": bounds(context, "budget", "ceilings"),
        "percentile": bounds(context, "budget", "percentiles"),
        "bound on growth": grown,
    }
    locked = [m.fixture for policy, _, _ in ratchets(context) for m in selected(context, policy, {})]
    what = over(found, *(["budgets.lock"] if locked else []), requests=locked)
    return Looked(count=sum(b.compared for b in found.values()) + len(locked), what=what, note=note)


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
