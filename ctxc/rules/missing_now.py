"""A fixture without `now` whose records expire.

Why: Without a clock nobody can say whether they still hold; the machine's clock would give another answer every
day.

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
    now: 2026-11-30T10:00:00Z
    inputs:
      memory:
        - {id: M1, text: Prefers short answers., scope: user, valid_until: "2027-01-31"}

Mend: Add `now:` with an offset to the fixture.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="compiling")
