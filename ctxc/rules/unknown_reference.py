"""A name of a template, contract, tool set, request profile or provider that nothing has.

Why: The fixture cannot be compiled, and a request without its contract or its tools is another request.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    output_contract: anwser
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: templates/answer.yaml
    contract_id: answer
    version: 1
    schema: {type: object}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    output_contract: answer
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: templates/answer.yaml
    contract_id: answer
    version: 1
    schema: {type: object}

Mend: Write the name as it is defined; `ctxc list` shows what there is.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading")
