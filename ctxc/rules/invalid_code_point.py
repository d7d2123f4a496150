"""A code point that is no character: a noncharacter, private use, unassigned.

Why: Nobody can say what it means; models and tools treat it differently.

Bad:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    ---
    Answer briefly.⟨U+FDD0⟩

Good:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    ---
    Answer briefly.

Mend: Remove it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._content import characters, report
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """A code point that is no character: a noncharacter, private use, unassigned."""
    return report(RULE, context, characters(context, "U012"), "remove it, or write the character that is meant")


RULE = rule(__name__, __doc__, check, detectors=("U012",))
