"""A waiver that ends within fourteen days.

Why: The day after it, the gate is red for everybody, whatever they changed.

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
    gates: {budget: {ceilings: [{max_input_tokens: 10}]}}
    waivers:
      - {rule: CTX201, path: tests/fixtures/f.yaml, owner: desk, reason: until the split, created: 2026-11-01,
          expires: 2026-12-03}

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
          expires: 2027-02-28}

Mend: Mend what it is about now, or have it decided anew in time.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="suppressing")
