"""A file is not what its name says: YAML, JSON or JSON Lines that cannot be parsed.

Why: Nothing of the file can be used, and guessing what was meant would change what a model is shown.

Bad:

    # file: templates/t.yaml
    template_id: t
    sections: [

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: policy, source: literal, text: Answer in one sentence.}

Mend: Go to the line and column and close what is open: a bracket, a quote, an indentation.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading")
