"""Step 3: what a policy forbids, in sources, inputs and requests, and inside encoded values."""

from __future__ import annotations

from ctxc.app.gates import Gate, Lint, Looked, counted
from ctxc.app.gates._counts import requests
from ctxc.rules._forbidden import rules_of
from ctxc.rules._ground import ground
from ctxc.rules.engine import Context


def look(context: Context, lint: Lint) -> Looked:
    """Rules, requests and bytes of them."""
    del lint
    known = ground(context)
    rules = rules_of(known.policies, known.hosts)
    size = sum(m.bytes for m in known.head.values())
    what = f"{counted(len(rules), 'rule')} over {counted(requests(context), 'request')} ({size:,} bytes), "
    return Looked(count=len(rules) * requests(context), what=what + "their inputs and the sources")


GATE = Gate(id="forbidden", order=3, title="Forbidden content", rules=("forbidden-content",), look=look)
