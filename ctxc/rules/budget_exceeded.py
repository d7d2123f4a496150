"""What is required does not fit (CONTEXT_BUDGET_EXCEEDED).

Why: Cutting it would send a request without its policy or its facts; ctxc refuses and says what is over, by how
much, and what can be done.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    budget: {window: 4000, output_reserve: 1000, safety_margin: 5%, ceiling: 20}
    sections:
      - {id: policy, source: literal,
          text: "Answer briefly, name the source of every statement, and say what is missing when the evidence
          does not carry an answer."}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    budget: {window: 4000, output_reserve: 1000, safety_margin: 5%, ceiling: 2000}
    sections:
      - {id: policy, source: literal,
          text: "Answer briefly, name the source of every statement, and say what is missing when the evidence
          does not carry an answer."}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t

Mend: Follow one of the remedies that the outcome names, or expect it: `expect: {outcome: budget_exceeded}`.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="compiling")
