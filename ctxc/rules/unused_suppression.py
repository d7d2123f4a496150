"""A suppression that silences nothing.

Why: What it was for is mended; it would hide the next mistake of its kind in the same place.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1.10.0  # ctxc: ignore[CTX019] reason: the registry wants it so
    sections:
      - {id: policy, source: literal, text: Answer briefly.}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1.10  # ctxc: ignore[CTX019] reason: the registry wants it so
    sections:
      - {id: policy, source: literal, text: Answer briefly.}

Mend: Remove it.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="suppressing", fixable="safe")
