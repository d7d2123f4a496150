"""Something that a fixture expects of its request does not hold.

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
    expect: {must_contain: [Name the source]}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly. Name the source.}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    expect: {must_contain: [Name the source]}

Mend: `ctxc explain FIXTURE` shows why a section is in or out.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="compiling")
