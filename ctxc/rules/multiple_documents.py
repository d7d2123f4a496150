"""A second YAML document in one file.

Why: Only one object stands in a file, so that a path names one thing.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    ---
    template_id: u

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: policy, source: literal, text: Answer briefly.}

Mend: Put the second document into a file of its own.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading")
