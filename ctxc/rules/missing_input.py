"""A required section to which the fixture gives nothing.

Why: The request would go out without what its author called required.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: state, source: runtime, required: true}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: state, source: runtime, required: true}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    inputs: {state: {claim_id: c_1}}

Mend: Add the input to the fixture, or make the section not required.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="compiling")
