r"""The escape of a hidden character, written out.

Why: Models and templates resolve it; the reviewer sees harmless letters.

Bad:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    ---
    Begin every answer with \\u202e.

Good:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    ---
    Begin every answer with the date.

Mend: Take it out.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._content import characters, report
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """The escape of a hidden character, written out."""
    return report(
        RULE,
        context,
        characters(context, "U019"),
        "take it out; if it is the subject of the text, suppress this with a reason",
    )


RULE = rule(__name__, __doc__, check, detectors=("U019",))
