"""Compatibility: what breaks readers of answers or callers of tools has a major version."""

from __future__ import annotations

from ctxc.app.gates import Gate, Lint, Looked
from ctxc.rules._ground import version_changes
from ctxc.rules.breaking_change import KINDS
from ctxc.rules.engine import Context


def look(context: Context, lint: Lint) -> Looked:
    """Contracts and tool sets that differ from the base."""
    del lint
    changes = [c for c in version_changes(context) if c.kind in KINDS]
    return Looked(count=len(changes), what=f"{len(changes):,} contracts and tool sets that differ from the base")


GATE = Gate(
    id="compatibility",
    order=11,
    title="Compatibility",
    rules=("breaking-change",),
    look=look,
    needs_base=True,
)
