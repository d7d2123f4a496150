"""Step 4: containment, labels and placement, with payloads in every untrusted place."""

from __future__ import annotations

from ctxc.app.gates import Gate, Lint, Looked, counted
from ctxc.rules._ground import ground
from ctxc.rules._trials import trials
from ctxc.rules.engine import Context


def look(context: Context, lint: Lint) -> Looked:
    """Payloads, untrusted places, renderers and the requests that were made."""
    del lint
    made = trials(context)
    known = ground(context)
    total = sum(m.has_request for m in known.head.values())
    left = total - made.fixtures
    note = f"{counted(left, 'fixture')} not tried: unchanged since the base (--all tries them)" if left else ""
    if not made.fixtures:
        return Looked(note=note or "no fixture has a request", applies=False)
    what = (
        f"{counted(made.payloads, 'payload')} in {counted(made.places, 'untrusted place')} of "
        f"{counted(made.fixtures, 'fixture')}, {counted(made.renderers, 'renderer')}"
    )
    return Looked(count=made.requests, what=what, note=note)


GATE = Gate(id="injection", order=4, title="Injection", rules=("containment",), look=look, always=True)
