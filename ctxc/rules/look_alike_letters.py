"""A word of letters that only look like ASCII.

Why: A tool name, a rule or a host that a person reads correctly is another one to the model.

Bad:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    ---
    Call the tool p⟨U+0430⟩yment_status.

Good:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    ---
    Call the tool payment_status.

Mend: Write it in ASCII letters.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._content import characters, report
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """A word of letters that only look like ASCII."""
    return report(RULE, context, characters(context, "U007", "U008"), "write it in ASCII letters")


RULE = rule(__name__, __doc__, check, detectors=("U007", "U008"))
