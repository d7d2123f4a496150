"""Front matter that does not close, or holds no keys.

Why: Taken as text, the metadata would reach the model and the file's own rules would be lost.

Bad:

    # file: fragments/tone.md
    ---
    fragment_id: core.tone
    version: 1
    kind: core
    load_mode: always
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

Mend: Close it with a line `---`. A horizontal rule at the top is written `***`.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading")
