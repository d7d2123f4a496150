"""Compatibility: what breaks readers of answers or callers of tools has a major version."""

from __future__ import annotations

from ctxc.app.gates import Gate, Lint, Looked
from ctxc.app.gates._counts import compared
from ctxc.rules._ground import version_changes
from ctxc.rules.breaking_change import KINDS
from ctxc.rules.engine import Context


def look(context: Context, lint: Lint) -> Looked:
    """Contracts and tool sets that were compared with the base, and how many of them differ."""
    del lint
    count = compared(context, KINDS)
    changes = [c for c in version_changes(context) if c.kind in KINDS]
    what = f"{len(changes):,} of {count:,} contracts and tool sets changed"
    return Looked(count=count, what=what, applies=count > 0)


GATE = Gate(
    id="compatibility",
    order=11,
    title="Compatibility",
    rules=("breaking-change",),
    look=look,
    needs_base=True,
)
