"""A contract's schema that is no JSON Schema, or that points outside itself.

Why: Providers refuse it when the request is sent. A remote reference is never fetched.

Bad:

    # file: templates/answer.yaml
    contract_id: answer
    version: 1
    schema: {type: objekt}

Good:

    # file: templates/answer.yaml
    contract_id: answer
    version: 1
    schema: {type: object, properties: {answer: {type: string}}, required: [answer]}

Mend: Correct the keyword that the message names.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading")
