"""Five or more combining marks on one letter.

Why: The text covers its neighbours, and each mark is a token.

Bad:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    ---
    Answer b⟨U+0300⟩⟨U+0301⟩⟨U+0302⟩⟨U+0303⟩⟨U+0304⟩⟨U+0305⟩riefly.

Good:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    ---
    Answer briefly.

Mend: Remove the marks.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._content import characters, report
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Five or more combining marks on one letter."""
    return report(RULE, context, characters(context, "U014"), "remove them")


RULE = rule(__name__, __doc__, check, detectors=("U014",))
