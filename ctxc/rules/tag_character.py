"""Tag characters, which no font shows.

Why: They carry whole hidden sentences that models read (the message shows the decoded text).

Bad:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    ---
    Answer briefly.⟨U+E0049⟩⟨U+E0067⟩⟨U+E006E⟩⟨U+E006F⟩⟨U+E0072⟩⟨U+E0065⟩

Good:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    ---
    Answer briefly.

Mend: Remove them.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._content import characters, report
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Tag characters, which no font shows."""
    return report(
        RULE, context, characters(context, "U004"), "remove them; nothing that is meant to be read is written with them"
    )


RULE = rule(__name__, __doc__, check, detectors=("U004",))
