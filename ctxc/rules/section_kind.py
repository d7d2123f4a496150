"""A section whose kind cannot be told.

Why: The kind decides whose instructions count, where the section stands, and what happens when it does not fit.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: house_rules, source: literal, text: Answer briefly.}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: house_rules, kind: policy, source: literal, text: Answer briefly.}

Mend: Add `kind:`, or give the section the name of a kind as its id.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading")
