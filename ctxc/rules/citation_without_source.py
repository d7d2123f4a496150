"""An id that the contract or an example allows to be cited, and that the request does not hold.

Why: A model that is shown how to cite `E9` cites `E9`. What may be cited has to be there, or the answer points at
nothing and looks all the more certain.

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
    schema:
      type: object
      required: [citations]
      properties: {citations: {type: array, items: {type: string, enum: [E1, E9]}}}
    citations: {field: citations, must_exist: true}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    inputs:
      evidence: [{id: E1, source: "kb://refunds", version: 3, locator: "#2", text: Refunds take 30 days.}]
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {citations: {must_exist: true}}

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
    schema:
      type: object
      required: [citations]
      properties: {citations: {type: array, items: {type: string}}}
    citations: {field: citations, must_exist: true}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    inputs:
      evidence: [{id: E1, source: "kb://refunds", version: 3, locator: "#2", text: Refunds take 30 days.}]
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {citations: {must_exist: true}}

Mend: Take the id out of the contract or the example, or bring the evidence. An example may bring evidence of its own,
named in brackets.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.base.spans import Origin
from ctxc.model.finding import Finding
from ctxc.model.measured import Measured
from ctxc.rules._ground import origin_of, selected, settings, told
from ctxc.rules.engine import Context, rule


def ids_of(measured: Measured) -> frozenset[str]:
    """Ids by which something in the request can be cited."""
    return frozenset(n for s in measured.sections for n in (s.item, s.id, s.source) if n)


def check(context: Context) -> Iterator[Finding]:
    """Cited and allowed ids that name nothing in the package; each once a fixture."""
    for policy, citations in settings(context, "citations"):
        if not citations.get("must_exist", True):
            continue
        for measured in selected(context, policy, {}):
            known = ids_of(measured)
            for name, path in measured.allowed:
                if name not in known:
                    yield told(
                        context,
                        RULE,
                        policy,
                        ("citations", "must_exist"),
                        f"the contract {measured.contract!r} allows {name!r} to be cited, which is not in the request",
                        at=Origin(path),
                        help="take the id out of the contract, or bring the evidence",
                        fixture=measured.fixture,
                        data={"id": name},
                    )
            for name, section, pointer in dict.fromkeys(measured.cited):
                if name not in known:
                    here = next((s.path for s in measured.sections if s.id == section), "")
                    yield told(
                        context,
                        RULE,
                        policy,
                        ("citations", "must_exist"),
                        f"section {section!r} cites {name!r}, which is not in the request",
                        at=Origin(here, pointer) if here else origin_of(context, measured.fixture),
                        help="correct the id, or bring the evidence",
                        fixture=measured.fixture,
                        data={"id": name, "section": section},
                    )


RULE = rule(__name__, __doc__, check, needs="packages")
