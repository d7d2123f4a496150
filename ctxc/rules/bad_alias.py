"""An alias that names nothing, or a value that holds itself.

Why: A cycle would never end, and an alias without an anchor has no value at all.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: policy, source: literal, text: *rule}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: policy, source: literal, text: &rule Answer briefly.}
      - {id: reminder, kind: task, source: literal, text: *rule}

Mend: Define the anchor before the alias; put quotes around text that begins with `*`.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading")
