"""Step 5: expectations, recall and precision of the context, drops, facts lost in a cut, results of evaluations."""

from __future__ import annotations

from ctxc.app.gates import Gate, Lint, Looked, counted
from ctxc.rules._ground import ground, items, settings
from ctxc.rules.engine import Context


def look(context: Context, lint: Lint) -> Looked:
    """Expectations that fixtures state, labelled pieces, cuts, and files of results."""
    del lint
    known = ground(context)
    stated = sum(m.stated for m in known.head.values())
    labelled = sum(len(m.labelled) for m in known.head.values())
    cuts = sum(len(m.cuts) for m in known.head.values())
    results = sum(len(items(values.get("results"))) for _, values in settings(context, "regression"))
    parts = [f"{counted(stated, 'expectation')} of {counted(len(known.head), 'fixture')}"]
    for number, noun in ((labelled, "labelled piece"), (cuts, "cut"), (results, "file")):
        if number:
            parts.append(counted(number, noun) + (" of results" if noun == "file" else ""))
    # Every fixture expects an outcome, said or not.
    return Looked(count=stated + len(known.head) + results, what=", ".join(parts))


GATE = Gate(
    id="regression",
    order=5,
    title="Regression",
    rules=(
        "base-expectation", "removed-expectation", "removed-fixture", "context-recall", "context-precision",
        "drop-rate", "lost-fact", "evaluation-results",
    ),
    codes=("CTX800", "CTX801"),
    look=look,
    always=True,
)  # fmt: skip
