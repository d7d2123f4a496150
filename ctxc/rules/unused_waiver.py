"""A waiver that silences nothing.

Why: What it was about is gone. If it comes back, nobody will see it.

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
      - {rule: CTX201, path: tests/fixtures/gone.yaml, owner: desk, reason: until the split, created: 2026-11-01,
          expires: 2026-12-31}

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
    gates: {budget: {ceilings: [{max_input_tokens: 10}]}}
    waivers:
      - {rule: CTX201, path: tests/fixtures/f.yaml, owner: desk, reason: until the split, created: 2026-11-01,
          expires: 2026-12-31}

Mend: Take it out.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="suppressing")
