"""A key stands twice in one mapping.

Why: Most parsers keep the last one silently, so the file says one thing to its author and another to the model.

Bad:

    # file: fragments/tone.md
    ---
    fragment_id: core.tone
    version: 1
    kind: core
    load_mode: always
    priority: 10
    priority: 90
    ---
    Write plainly.

Good:

    # file: fragments/tone.md
    ---
    fragment_id: core.tone
    version: 1
    kind: core
    load_mode: always
    priority: 90
    ---
    Write plainly.

Mend: Keep one of the two.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading")
