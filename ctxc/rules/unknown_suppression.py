"""A suppression that names a rule which does not exist.

Why: It silences nothing, and whoever reads it believes that it does.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: "1.10"  # ctxc: ignore[CTX0199] reason: the registry wants it so
    sections:
      - {id: policy, source: literal, text: Answer briefly.}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1.10  # ctxc: ignore[CTX019] reason: the registry wants it so
    sections:
      - {id: policy, source: literal, text: Answer briefly.}

Mend: Write the code or the name of a rule; `ctxc rule --all` lists them.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="suppressing")
