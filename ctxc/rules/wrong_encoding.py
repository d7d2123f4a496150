"""Bytes that are not UTF-8.

Why: Two readers would see two texts.

Bad:

    # file: fragments/tone.md
    ---
    fragment_id: core.tone
    version: 1
    kind: core
    load_mode: always
    ---
    Write like a caf⟨0xE9⟩ menu.

Good:

    # file: fragments/tone.md
    ---
    fragment_id: core.tone
    version: 1
    kind: core
    load_mode: always
    ---
    Write like a café menu.

Mend: Convert it: `iconv -f WINDOWS-1252 -t UTF-8 FILE`.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading")
