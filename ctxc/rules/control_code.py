"""A control code or a terminal escape sequence.

Why: It changes what a terminal shows of the prompt, of a diff and of a log.

Bad:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    ---
    Answer⟨U+001B⟩[2J briefly.

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
    """A control code or a terminal escape sequence."""
    return report(RULE, context, characters(context, "U009", "U010", "U011"), "remove it")


RULE = rule(__name__, __doc__, check, detectors=("U009", "U010", "U011"))
