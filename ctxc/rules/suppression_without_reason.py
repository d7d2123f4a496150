"""A suppression that does not say why.

Why: In a year nobody knows whether it may go.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1.10  # ctxc: ignore[CTX019]
    sections:
      - {id: policy, source: literal, text: Answer briefly.}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1.10  # ctxc: ignore[CTX019] reason: the registry wants it so
    sections:
      - {id: policy, source: literal, text: Answer briefly.}

Mend: Add `reason: why`.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="suppressing")
