"""Evidence that does not say where in its source it stands.

Why: A citation that leads to a document of two hundred pages cannot be checked by anybody.

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
    inputs: {evidence: [{id: E1, source: "kb://refunds", version: 3, text: Refunds take 30 days.}]}

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

Mend: Add `locator:` (a page, a section, a line, a row).
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules.engine import Context, rule
from ctxc.rules.evidence_without_version import each_evidence


def check(context: Context) -> Iterator[Finding]:
    """Evidence records without a locator; a source that points into a document has one."""
    for fixture, record in each_evidence(context):
        if not record.locator and "#" not in record.source and not record.artifact_ref:
            yield RULE.finding(
                context,
                f"evidence {record.id!r} does not say where in its source it stands",
                at=record.origin,
                help="add `locator:`, such as p. 12, #refunds or L40-L52",
                fixture=fixture.id,
                data={"record": record.id},
            )


RULE = rule(__name__, __doc__, check)
