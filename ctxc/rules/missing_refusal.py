"""An output contract that does not say how the model says that it cannot answer.

Why: Without a way out every question gets an answer, also the one for which there is no evidence.

Bad:

    # file: templates/answer.yaml
    contract_id: answer
    version: 1
    schema: {type: object, properties: {answer: {type: string}}}

Good:

    # file: templates/answer.yaml
    contract_id: answer
    version: 1
    schema: {type: object, properties: {answer: {type: string}}}
    refusal: {field: answer, text: cannot be confirmed}

Mend: Add `refusal: {field: ..., text: ...}`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Contracts without a refusal."""
    for contract in (c for versions in context.project.contracts.values() for c in versions):
        if not contract.refusal:
            yield RULE.finding(
                context,
                f"contract {contract.id!r} does not say how a refusal looks",
                at=contract.origin.child("contract_id"),
                help='add `refusal: {field: answer, text: "cannot be confirmed"}`',
            )


RULE = rule(__name__, __doc__, check)
