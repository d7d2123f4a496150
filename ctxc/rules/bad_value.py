"""A value that its key may not have.

Why: A closed set is closed so that a misspelt word cannot choose a default.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: policy, source: literal, text: Answer briefly., tier: P7}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: policy, source: literal, text: Answer briefly., tier: P0}

Mend: Write one of the values that the message lists.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading")
