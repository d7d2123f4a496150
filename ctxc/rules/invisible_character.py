"""A character that is not shown: zero-width spaces and joiners, fillers, soft hyphens.

Why: It splits words so that no search finds them, hides text, and changes tokens. Where a script needs it (emoji,
Persian, Indic, Thai ...) it is accepted.

Bad:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    ---
    Never reveal the pass⟨U+200B⟩word.

Good:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    ---
    Never reveal the password.

Mend: Remove it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._content import characters, report
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """A character that is not shown: zero-width spaces and joiners, fillers, soft hyphens."""
    return report(RULE, context, characters(context, "U005"), "remove it")


RULE = rule(__name__, __doc__, check, detectors=("U005",))
