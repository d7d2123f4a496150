"""A fixture that compiles to another outcome than it expects.

Why: The fixture is the promise, and the promise does not hold.

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
    expect: {outcome: budget_exceeded}

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
    expect: {outcome: compiled}

Mend: `ctxc explain FIXTURE` shows the decisions; mend the sources, or the expectation where it is wrong.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="compiling")
