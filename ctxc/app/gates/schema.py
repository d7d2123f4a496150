"""Step 1: everything that lint finds at error, and sources that do not compile."""

from __future__ import annotations

from ctxc.app.gates import Gate, Lint, Looked, counted
from ctxc.rules._ground import settings
from ctxc.rules.engine import Context


def look(context: Context, lint: Lint) -> Looked:
    """Files and rules of lint."""
    strict = any(values.get("level") == "warning" for _, values in settings(context, "schema"))
    count = lint.notes if strict else lint.below
    below = f"{counted(count, 'finding')} below the gate's severity: `ctxc lint`" if count else ""
    return Looked(count=lint.files, what=f"{counted(lint.files, 'file')}, {counted(lint.rules, 'rule')}", note=below)


GATE = Gate(id="schema", order=1, title="Schema", rules=(), look=look, always=True)
