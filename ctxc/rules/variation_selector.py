"""A variation selector where it selects nothing.

Why: A run of them encodes bytes behind an ordinary letter: 256 values a character, none of them shown.

Bad:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    ---
    Answer briefly.⟨U+FE01⟩⟨U+FE02⟩⟨U+FE03⟩

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
    """A variation selector where it selects nothing."""
    return report(RULE, context, characters(context, "U006"), "remove it")


RULE = rule(__name__, __doc__, check, detectors=("U006",))
