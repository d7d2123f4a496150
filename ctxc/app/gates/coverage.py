"""Coverage: every template, request profile, route and fragment is shown by some fixture."""

from __future__ import annotations

from ctxc.app.gates import Gate, Lint, Looked, counted
from ctxc.rules.engine import Context
from ctxc.rules.uncovered import asked, reached


def look(context: Context, lint: Lint) -> Looked:
    """How much there is to reach, and how much of it is reached."""
    del lint
    all_things = list(dict.fromkeys((kind, name) for _, (kind, name, _) in asked(context)))
    there = reached(context)
    what = f"{sum(t in there for t in all_things):,} of {counted(len(all_things), 'object')} reached"
    return Looked(count=len(all_things), what=what)


GATE = Gate(id="coverage", order=13, title="Coverage", rules=("uncovered",), look=look)
