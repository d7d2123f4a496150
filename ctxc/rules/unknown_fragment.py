"""A fragment that something requires, conflicts with or names, and that does not exist.

Why: What was meant to be loaded would be missing from the request.

Bad:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    requires: [core.tome]
    ---
    Name the source of each statement.

Good:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    requires: [core.tone]
    ---
    Name the source of each statement.
    # file: fragments/tone.md
    ---
    fragment_id: core.tone
    version: 1
    kind: core
    load_mode: always
    ---
    Write plainly.

Mend: Write the id as it is defined, or define the fragment.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading")
