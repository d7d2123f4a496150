"""An id that is defined twice in the same version, a section or a tool that stands twice, a record id that is taken.

Why: One of the two would be used, and which one would depend on the order of files.

Bad:

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
    fragment_id: core.tone
    version: 1
    kind: core
    load_mode: always
    ---
    Write warmly.

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

Mend: Give one of them another id or another version.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading")
