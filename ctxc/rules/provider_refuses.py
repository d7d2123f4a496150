"""A request that its provider would refuse.

Why: The first to notice would be the server, in production.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: anthropic
    model: claude-sonnet-4-5
    checkpoints: [one, two, three, four, five]
    sections:
      - {id: one, kind: policy, source: literal, text: Answer briefly., cacheable: true}
      - {id: two, kind: policy, source: literal, text: Name the source., cacheable: true}
      - {id: three, kind: policy, source: literal, text: Say what is missing., cacheable: true}
      - {id: four, kind: policy, source: literal, text: Promise no dates., cacheable: true}
      - {id: five, kind: policy, source: literal, text: Give no legal advice., cacheable: true}
      - {id: user, source: runtime}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    inputs: {user: What is the state of claim 7?}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: anthropic
    model: claude-sonnet-4-5
    checkpoints: [two]
    sections:
      - {id: one, kind: policy, source: literal, text: Answer briefly., cacheable: true}
      - {id: two, kind: policy, source: literal, text: Name the source., cacheable: true}
      - {id: user, source: runtime}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    inputs: {user: What is the state of claim 7?}

Mend: Do as the message says; it names the place in the request.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="compiling", detectors=("R9",))
