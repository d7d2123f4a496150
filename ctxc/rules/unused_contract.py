"""An output contract that no template and no request profile names.

Why: Nothing has to meet it, and a change to it passes every check unseen.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: templates/answer.yaml
    contract_id: answer
    version: 1
    schema: {type: object, properties: {answer: {type: string}}}
    refusal: {field: answer, text: cannot be confirmed}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    output_contract: answer
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: templates/answer.yaml
    contract_id: answer
    version: 1
    schema: {type: object, properties: {answer: {type: string}}}
    refusal: {field: answer, text: cannot be confirmed}

Mend: Name it as `output_contract`, or remove it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.model.lookup import candidates
from ctxc.rules._known import all_known
from ctxc.rules._texts import templates
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Contracts to which no reference leads."""
    project = context.project
    if not project.templates or not all_known(context, "template", "profile"):
        return
    names = [t.output_contract for t in templates(context)]
    names += [p.output_contract for versions in project.profiles.values() for p in versions]
    reached = {c.origin for n in names for c in candidates(project.contracts, n)}
    for contract in (c for versions in project.contracts.values() for c in versions):
        if contract.origin not in reached:
            yield RULE.finding(
                context,
                f"no template and no request profile names contract {contract.id!r}",
                at=contract.origin.child("contract_id"),
                help="name it as `output_contract`, or remove it",
            )


RULE = rule(__name__, __doc__, check)
