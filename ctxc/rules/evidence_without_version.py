"""Evidence that does not say which version of its source it comes from.

Why: Whether a quotation still holds, and which of two quotations is newer, cannot be told without it.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: evidence, source: retrieval}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    inputs: {evidence: [{id: E1, source: "kb://refunds", locator: "#2", text: Refunds take 30 days.}]}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: evidence, source: retrieval}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    inputs: {evidence: [{id: E1, source: "kb://refunds", version: 3, locator: "#2", text: Refunds take 30 days.}]}

Mend: Add `version:` of the source (a number, a date, a commit).
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.model.fixture import Fixture, Record
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Evidence records without a version."""
    for fixture, record in each_evidence(context):
        if not record.version:
            yield RULE.finding(
                context,
                f"evidence {record.id!r} names no version" + ("" if record.source else " and no source"),
                at=record.origin,
                help="add `version:`" + ("" if record.source else " and `source:`"),
                fixture=fixture.id,
                data={"record": record.id},
            )


def each_evidence(context: Context) -> Iterator[tuple[Fixture, Record]]:
    """Every evidence record once, with the first fixture that has it."""
    seen = set()
    for fixture in context.project.fixtures.values():
        for record in fixture.inputs.evidence:
            if record.origin not in seen:
                seen.add(record.origin)
                yield fixture, record


RULE = rule(__name__, __doc__, check)
