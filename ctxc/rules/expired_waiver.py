"""A waiver that has ended.

Why: What was accepted until a day is not accepted after it. The finding that it silenced counts again.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    # file: policies/p.yaml
    policy_id: p
    version: 1
    waivers:
      - {rule: CTX201, path: tests/fixtures/f.yaml, owner: desk, reason: until the split, created: 2026-05-01,
          expires: 2026-08-31}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    # file: policies/p.yaml
    policy_id: p
    version: 1
    waivers:
      - {rule: CTX201, path: tests/fixtures/f.yaml, owner: desk, reason: until the split, created: 2026-11-01,
          expires: 2026-12-31}

Mend: Mend what it was about and take it out, or decide anew until when it is accepted.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="suppressing")
