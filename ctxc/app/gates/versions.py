"""Versions: what changed has a new version, and nothing is gone unseen."""

from __future__ import annotations

from ctxc.app.gates import Gate, Lint, Looked, counted
from ctxc.app.gates._counts import compared
from ctxc.compare.versions import KINDS
from ctxc.rules._ground import version_changes
from ctxc.rules.engine import Context


def look(context: Context, lint: Lint) -> Looked:
    """Objects that were compared with the base, and how many of them differ."""
    del lint
    count = compared(context, KINDS)
    return Looked(count=count, what=f"{len(version_changes(context)):,} of {counted(count, 'object')} changed")


GATE = Gate(
    id="versions",
    order=10,
    title="Versions",
    rules=("missing-bump", "removed-object"),
    look=look,
    needs_base=True,
)
