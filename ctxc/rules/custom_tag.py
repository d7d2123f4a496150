"""A YAML tag that is not one of the core schema's.

Why: Tags such as `!!python/object` make other readers run code; in a manifest they have no meaning.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: policy, source: literal, text: !env POLICY_TEXT}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: policy, source: literal, text: Answer briefly.}

Mend: Remove the tag; put quotes around text that begins with `!`.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading")
