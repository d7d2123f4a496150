"""Lines that a merge left behind.

Why: Both sides of the conflict, and the marks, would reach the model.

Bad:

    # file: fragments/tone.md
    ---
    fragment_id: core.tone
    version: 1
    kind: core
    load_mode: always
    ---
    <<<<<<< HEAD
    Write plainly.
    =======
    Write formally.
    >>>>>>> feature

Good:

    # file: fragments/tone.md
    ---
    fragment_id: core.tone
    version: 1
    kind: core
    load_mode: always
    ---
    Write plainly.

Mend: Settle the conflict and remove the three marks.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading")
