"""A manifest with two of the keys which say what a file is.

Why: It would be loaded as one of the two, and nobody could say which.

Bad:

    # file: templates/t.yaml
    template_id: t
    contract_id: answer
    version: 1

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: policy, source: literal, text: Answer briefly.}

Mend: Write one object a file.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading")
