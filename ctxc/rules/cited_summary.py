"""A summary, a hand-off or a memory that is cited, or can be cited, as if it were a source.

Why: A summary is somebody's reading of a source. A citation of it looks like evidence and hides the step in between,
where a number or a condition can get lost.

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
      evidence:
        - {id: S1, type: summary, source: "kb://refunds", version: 3, locator: "#2", text: Refunds take about a month.}
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {citations: {never_cite: [summary]}}

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
      evidence:
        - {id: E1, type: clause, source: "kb://refunds", version: 3, locator: "#2", text: Refunds take 30 days.}
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {citations: {never_cite: [summary]}}

Mend: Cite what the summary was made from, and bring it as evidence.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.base.spans import Origin
from ctxc.model.finding import Finding
from ctxc.model.measured import MeasuredSection
from ctxc.rules._ground import selected, settings, told
from ctxc.rules.engine import Context, rule


def _is(section: MeasuredSection, kinds: tuple[str, ...]) -> str:
    if "summary" in kinds and section.summary:
        return "summary"
    return section.kind if section.kind in ("handoff", "memory") and section.kind in kinds else ""


def check(context: Context) -> Iterator[Finding]:
    """Evidence that is a summary itself, and citations of a summary, a hand-off or a memory."""
    for policy, citations in settings(context, "citations"):
        kinds = tuple(citations.get("never_cite") or ())
        seen: set[tuple[Origin, str]] = set()
        for measured in selected(context, policy, {}):
            names = {name for name, _, _ in measured.cited} | {name for name, _ in measured.allowed}
            for section in measured.sections:
                what = _is(section, kinds)
                if not what:
                    continue
                # Evidence is there to be cited; anything else is a fault only where something does cite it.
                is_cited = section.kind == "evidence" or bool({section.item, section.id} & names)
                place = Origin(section.path, section.pointer)
                if not is_cited or (place, section.id) in seen:
                    continue
                seen.add((place, section.id))
                how = "stands among the evidence" if section.kind == "evidence" else "is cited"
                yield told(
                    context,
                    RULE,
                    policy,
                    ("citations", "never_cite"),
                    f"{section.item or section.id!r} is a {what} and {how} as if it were a source",
                    at=place,
                    help="cite what it was made from, and bring that as evidence",
                    fixture=measured.fixture,
                    data={"section": section.id, "kind": what},
                )


RULE = rule(__name__, __doc__, check, needs="packages")
