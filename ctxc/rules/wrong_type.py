"""A value of another type than its key asks for.

Why: YAML 1.1 readers turn `no`, `12:30` and `1e3` into something else; ctxc keeps the text and says what it
expected.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: policy, source: literal, text: Answer briefly., required: yes}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: policy, source: literal, text: Answer briefly., required: true}

Mend: Write a value of the expected type; the message names it.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading")
