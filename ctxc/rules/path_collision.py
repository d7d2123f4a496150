"""Two files whose names differ only in case or Unicode form.

Why: A checkout on a system that ignores case keeps one of them.

Bad:

    # file: fragments/tone.md
    ---
    fragment_id: core.tone
    version: 1
    kind: core
    load_mode: always
    ---
    Write plainly.
    # file: fragments/Tone.md
    ---
    fragment_id: core.voice
    version: 1
    kind: core
    load_mode: always
    ---
    Speak to one reader.

Good:

    # file: fragments/tone.md
    ---
    fragment_id: core.tone
    version: 1
    kind: core
    load_mode: always
    ---
    Write plainly.
    # file: fragments/voice.md
    ---
    fragment_id: core.voice
    version: 1
    kind: core
    load_mode: always
    ---
    Speak to one reader.

Mend: Rename one of them.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading")
