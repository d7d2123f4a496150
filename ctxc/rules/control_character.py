"""A control character in YAML or JSON.

Why: YAML does not allow it, terminals obey it, and no reader sees it.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: policy, source: literal, text: "Answer⟨U+0007⟩ briefly."}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: policy, source: literal, text: "Answer briefly."}

Mend: Remove it; where it is meant, write it as an escape in double quotes.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading")
