"""Versions: what changed has a new version, and nothing is gone unseen."""

from __future__ import annotations

from ctxc.app.gates import Gate, Lint, Looked, counted
from ctxc.rules._ground import version_changes
from ctxc.rules.engine import Context


def look(context: Context, lint: Lint) -> Looked:
    """Objects that differ from the base."""
    del lint
    changes = version_changes(context)
    return Looked(count=len(changes), what=f"{counted(len(changes), 'object')} that differ from the base")


GATE = Gate(
    id="versions",
    order=10,
    title="Versions",
    rules=("missing-bump", "removed-object"),
    look=look,
    needs_base=True,
)
