"""Step 3: what a policy forbids, in sources, inputs and requests, and inside encoded values."""

from __future__ import annotations

from ctxc.app.gates import Gate, Lint, Looked, counted
from ctxc.rules._forbidden import rules_of
from ctxc.rules._ground import ground, selected
from ctxc.rules.engine import Context


def look(context: Context, lint: Lint) -> Looked:
    """Rules, requests and bytes of them."""
    del lint
    known = ground(context)
    rules = rules_of(known.policies, known.hosts)
    searched = [selected(context, r.policy, r.where) for r in rules]
    size = sum(m.bytes for m in {m.fixture: m for found in searched for m in found}.values())
    requests = len({m.fixture for found in searched for m in found})
    what = f"{counted(len(rules), 'rule')} over {counted(requests, 'request')} ({size:,} bytes), "
    return Looked(count=sum(map(len, searched)), what=what + "their inputs and the sources")


GATE = Gate(id="forbidden", order=3, title="Forbidden content", rules=("forbidden-content",), look=look)
