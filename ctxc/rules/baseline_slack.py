"""A baseline that accepts more than there is.

Why: The next finding of the kind in the same file would be silenced.

Bad:

    # file: .ctxc/baseline.jsonl
    {"code":"CTX019","count":1,"key":"0000000000000000","name":"float-like-version","path":"templates/t.yaml","reason":""}
    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: policy, source: literal, text: Answer briefly.}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: policy, source: literal, text: Answer briefly.}

Mend: `ctxc lint --update-baseline` takes it out.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="suppressing")
