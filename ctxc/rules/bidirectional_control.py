"""A control that turns the direction of writing.

Why: What a person reads is not what the model reads: text after it is shown in another order.

Bad:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    ---
    Open invoice⟨U+202E⟩fdp.exe first.

Good:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    ---
    Open invoice.pdf first.

Mend: Remove it. In text that is written from right to left, balanced isolates are accepted.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._content import characters, report
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """A control that turns the direction of writing."""
    return report(
        RULE,
        context,
        characters(context, "U001", "U002", "U003"),
        "remove it; text from right to left needs none, or balanced isolates",
    )


RULE = rule(__name__, __doc__, check, detectors=("U001", "U002", "U003"))
