"""A budget that leaves nothing for input.

Why: Reserve and margin take the whole window, so no request can be made.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    budget: {window: 4000, output_reserve: 3900, safety_margin: 5%}
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    budget: {window: 4000, output_reserve: 1000, safety_margin: 5%}
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t

Mend: Raise `budget.window` or lower `output_reserve` and `safety_margin`.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="compiling")
