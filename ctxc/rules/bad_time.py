"""A time that cannot be compared with the fixture's clock.

Why: A record that may have expired would be shown, or one that holds would be dropped.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: memory, source: runtime}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    now: 2026-13-30T10:00:00Z
    inputs:
      memory:
        - {id: M1, text: Prefers short answers., scope: user, valid_until: "2027-01-31"}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: memory, source: runtime}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    now: 2026-12-30T10:00:00Z
    inputs:
      memory:
        - {id: M1, text: Prefers short answers., scope: user, valid_until: "2027-01-31"}

Mend: Write a date and time with an offset, such as 2026-10-31T10:00:00Z.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading")
