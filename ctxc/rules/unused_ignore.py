"""An entry of `per-file-ignores` that silences nothing.

Why: It would hide the next mistake of its kind in these files.

Bad:

    # file: ctxc.yaml
    per-file-ignores: {"templates/old/*": [CTX019]}
    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: policy, source: literal, text: Answer briefly.}

Good:

    # file: ctxc.yaml
    per-file-ignores: {"templates/*": [CTX019]}
    # file: templates/t.yaml
    template_id: t
    version: 1.10
    sections:
      - {id: policy, source: literal, text: Answer briefly.}

Mend: Remove it, or correct the pattern.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="suppressing")
