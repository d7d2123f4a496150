"""A file begins with a byte order mark.

Why: Other tools take it for text: front matter is then not recognised, and the file's own rules are lost. ctxc
reads it as if it were not there.

Bad:

    # file: fragments/tone.md
    ⟨U+FEFF⟩---
    fragment_id: core.tone
    version: 1
    kind: core
    load_mode: always
    ---
    Write plainly.

Good:

    # file: fragments/tone.md
    ---
    fragment_id: core.tone
    version: 1
    kind: core
    load_mode: always
    ---
    Write plainly.

Mend: Save the file as UTF-8 without a signature.
"""

from __future__ import annotations

from ctxc.base.spans import Span
from ctxc.model.finding import Edit, Finding, Fix
from ctxc.rules.engine import Context, rule


def mend(context: Context, finding: Finding) -> Fix | None:
    """Remove the mark: column 0 of line 1 is the place before it."""
    edit = Edit(location=finding.location._replace(span=Span(1, 0, 1, 1)), text="")
    return Fix(title="remove the byte order mark", edits=(edit,), safe=True)


RULE = rule(__name__, __doc__, emitter="loading", fix=mend, fixable="safe")
