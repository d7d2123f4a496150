"""A key that the file's kind needs is not there.

Why: Without it the object has no meaning, and every default would be a guess.

Bad:

    # file: fragments/motor.md
    ---
    fragment_id: family.motor
    version: 1
    kind: family
    load_mode: route_match
    ---
    A motor claim is about one vehicle.

Good:

    # file: fragments/motor.md
    ---
    fragment_id: family.motor
    version: 1
    kind: family
    load_mode: route_match
    applies_when: {product_family: [motor]}
    ---
    A motor claim is about one vehicle.

Mend: Add the key that the message names.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading")
