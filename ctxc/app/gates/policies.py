"""Policies and waivers: what judges says what it means, does not change unseen, and exceptions end."""

from __future__ import annotations

from ctxc.app.gates import Gate, Lint, Looked, counted
from ctxc.rules._ground import ground
from ctxc.rules.engine import Context


def look(context: Context, lint: Lint) -> Looked:
    """Policies and waivers."""
    del lint
    policies = ground(context).policies
    waivers = sum(len(p.waivers) for p in policies)
    count = counted(len(policies), "policy")
    return Looked(count=len(policies) + waivers, what=f"{count}, {counted(waivers, 'waiver')}")


GATE = Gate(
    id="policies",
    order=14,
    title="Policies and waivers",
    rules=("policy-changed", "added-exemption", "measure-changed", "idle-selector", "idle-bound"),
    codes=("CTX912", "CTX913", "CTX914", "CTX915", "CTX916", "CTX922"),
    look=look,
    always=True,
)
