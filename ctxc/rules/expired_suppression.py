"""A suppression whose end has passed.

Why: It was accepted for a while, and the while is over: the finding counts again.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1.10  # ctxc: ignore[CTX019] until=2026-01-31 reason: until the registry is replaced
    sections:
      - {id: policy, source: literal, text: Answer briefly.}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1.10  # ctxc: ignore[CTX019] until=2027-01-31 reason: until the registry is replaced
    sections:
      - {id: policy, source: literal, text: Answer briefly.}

Mend: Mend what it silenced, or decide anew until when it is accepted.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="suppressing")
