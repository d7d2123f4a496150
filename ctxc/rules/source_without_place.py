"""Evidence in a request that can be cited and does not say where it is from: no locator, or no version.

Why: A citation is worth what a reader can look up. Without a version the source says something else tomorrow; without a
locator nobody finds the line.

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
    schema: {type: object, required: [citations], properties: {citations: {type: array, items: {type: string}}}}
    citations: {field: citations, must_exist: true}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    inputs:
      evidence: [{id: E1, source: "kb://refunds", text: Refunds take 30 days.}]
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {citations: {require: [locator, version]}}

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
    schema: {type: object, required: [citations], properties: {citations: {type: array, items: {type: string}}}}
    citations: {field: citations, must_exist: true}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    inputs:
      evidence: [{id: E1, source: "kb://refunds", version: 3, locator: "#2", text: Refunds take 30 days.}]
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {citations: {require: [locator, version]}}

Mend: Let the retriever hand over `locator` and `version` with each record.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.base.spans import Origin
from ctxc.model.finding import Finding
from ctxc.rules._ground import selected, settings, told
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Evidence without what the policy requires of sources; each record once, however many fixtures show it."""
    for policy, citations in settings(context, "citations"):
        required = citations.get("require") or ()
        seen: set[Origin] = set()
        for measured in selected(context, policy, {}):
            for section in measured.sections:
                if section.kind != "evidence":
                    continue
                place = Origin(section.path, section.pointer)
                if place in seen:
                    continue
                seen.add(place)
                missing = [name for name in required if not getattr(section, name)]
                if missing:
                    yield told(
                        context,
                        RULE,
                        policy,
                        ("citations", "require"),
                        f"evidence {section.item or section.id!r} can be cited and has no {' and no '.join(missing)}",
                        at=place,
                        help="let the retriever hand it over with the record",
                        fixture=measured.fixture,
                        data={"section": section.id, "missing": missing},
                    )


RULE = rule(__name__, __doc__, check, needs="packages")
