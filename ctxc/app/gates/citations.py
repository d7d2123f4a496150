"""Step 6: what may be cited is there, says where it is from, and is no summary."""

from __future__ import annotations

from ctxc.app.gates import Gate, Lint, Looked, counted
from ctxc.model.measured import Measured
from ctxc.rules._ground import selected, settings
from ctxc.rules.engine import Context


def look(context: Context, lint: Lint) -> Looked:
    """Evidence that can be cited, and citations that are there already."""
    del lint
    fixtures: dict[str, Measured] = {}
    asked: set[str] = set()  # fixtures of whose sources something is asked
    for policy, citations in settings(context, "citations"):
        chosen = {m.fixture: m for m in selected(context, policy, {})}
        fixtures |= chosen
        asked |= chosen.keys() if citations.get("require") or citations.get("never_cite") else set()
    sources = {n: sum(s.kind == "evidence" for s in m.sections) for n, m in fixtures.items()}
    cited = sum(len(m.cited) + len(m.allowed) for m in fixtures.values())
    what = (
        f"{counted(sum(sources.values()), 'source')} in {counted(len(fixtures), 'request')}, "
        f"{counted(cited, 'citation')}"
    )
    return Looked(count=sum(sources[n] for n in asked) + cited, what=what)


GATE = Gate(
    id="citations",
    order=6,
    title="Citations",
    rules=("citation-without-source", "source-without-place", "cited-summary"),
    look=look,
)
