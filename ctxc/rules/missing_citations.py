"""An output contract without a citation format, for a template that shows evidence.

Why: The answer then cannot be checked against what the model was shown.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    output_contract: answer
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: evidence, source: retrieval}
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
      - {id: evidence, source: retrieval}
    # file: templates/answer.yaml
    contract_id: answer
    version: 1
    schema: {type: object, properties: {answer: {type: string}, citations: {type: array, items: {type: string}}}}
    refusal: {field: answer, text: cannot be confirmed}
    citations: {field: citations, must_exist: true}

Mend: Add a field for ids to the schema and `citations: {field: ..., must_exist: true}`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.model.lookup import candidates
from ctxc.model.section import Kind
from ctxc.rules._texts import templates
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Contracts of templates with an evidence section, and of their request profiles."""
    project = context.project
    told = set()
    for template in templates(context):
        if not any(s.kind is Kind.EVIDENCE for s in template.sections):
            continue
        names = [template.output_contract]
        names += [p.output_contract for p in candidates(project.profiles, template.request_profile)[-1:]]
        for contract in (c for n in names for c in candidates(project.contracts, n)[-1:]):
            if not contract.citations and contract.origin not in told:
                told.add(contract.origin)
                yield RULE.finding(
                    context,
                    f"template {template.id!r} shows evidence, and its contract {contract.id!r} asks for no citations",
                    at=contract.origin.child("contract_id"),
                    help="add `citations: {field: citations, must_exist: true}` and the field",
                    related=[(template.at("template_id"), f"template {template.id}")],
                )


RULE = rule(__name__, __doc__, check)
