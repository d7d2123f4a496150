"""Fragments that require each other in a circle.

Why: No order could put each of them after what it needs, and none of them can be left out alone.

Bad:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    requires: [core.b]
    ---
    Name the source of each statement.
    # file: fragments/b.md
    ---
    fragment_id: core.b
    version: 1
    kind: core
    load_mode: always
    requires: [core.a]
    ---
    Write plainly.

Good:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    requires: [core.b]
    ---
    Name the source of each statement.
    # file: fragments/b.md
    ---
    fragment_id: core.b
    version: 1
    kind: core
    load_mode: always
    ---
    Write plainly.

Mend: Remove one `requires` of the circle; move what both need into a third fragment.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading")
