"""The configured folders hold nothing, or one that the configuration names does.

Why: A check of nothing would pass, and say so.

Bad:

    # file: README.md
    Prompts follow.

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: policy, source: literal, text: Answer briefly.}

Mend: Run `ctxc init`, or name the folders in `ctxc.yaml` or `[tool.ctxc]`.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading")
