"""A fragment without a summary whose summary is all that a model sees of it at first.

Why: A reference, a candidate and a sub-task are chosen by their summary. Without one the model cannot know what it
would get, and does not ask for it.

Bad:

    # file: fragments/a.md
    ---
    fragment_id: capability.wording
    version: 1
    kind: capability
    load_mode: auto_candidate
    applies_when: {task: [review]}
    ---
    4.1 Damage by collision is covered.

Good:

    # file: fragments/a.md
    ---
    fragment_id: capability.wording
    version: 1
    kind: capability
    load_mode: auto_candidate
    applies_when: {task: [review]}
    summary: Clauses of the policy wording, by number.
    ---
    4.1 Damage by collision is covered.

Mend: Add `summary:`, one line that says what the text holds and when it is worth reading.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.model.fragment import LoadMode
from ctxc.rules._routes import newest
from ctxc.rules.engine import Context, rule

_CHOSEN_BY_SUMMARY = (LoadMode.REFERENCE, LoadMode.AUTO_CANDIDATE, LoadMode.ISOLATED)


def check(context: Context) -> Iterator[Finding]:
    """Fragments of these load modes without a summary."""
    for fragment in newest(context).values():
        if fragment.load_mode in _CHOSEN_BY_SUMMARY and not fragment.summary.strip():
            yield RULE.finding(
                context,
                f"fragment {fragment.id!r} is loaded as {fragment.load_mode.value} and has no summary to be chosen by",
                at=fragment.origin.child("load_mode"),
                help="add `summary:` with one line that says what the text holds",
            )


RULE = rule(__name__, __doc__, check)
