"""Step 6: what may be cited is there, says where it is from, and is no summary."""

from __future__ import annotations

from ctxc.app.gates import Gate, Lint, Looked, counted
from ctxc.rules._ground import selected, settings
from ctxc.rules.engine import Context


def look(context: Context, lint: Lint) -> Looked:
    """Evidence that can be cited, and citations that are there already."""
    del lint
    fixtures = {m.fixture: m for policy, _ in settings(context, "citations") for m in selected(context, policy, {})}
    sources = sum(s.kind == "evidence" for m in fixtures.values() for s in m.sections)
    cited = sum(len(m.cited) + len(m.allowed) for m in fixtures.values())
    what = f"{counted(sources, 'source')} in {counted(len(fixtures), 'request')}, {counted(cited, 'citation')}"
    return Looked(count=sources + cited, what=what, applies=bool(fixtures))


GATE = Gate(
    id="citations",
    order=6,
    title="Citations",
    rules=("citation-without-source", "source-without-place", "cited-summary"),
    look=look,
)
