"""A fixture whose records belong to a tenant or ask for a permission, and that says nothing of who asks.

Why: All of these records are dropped as `no_principal`; a test that means to show them shows nothing.

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
    inputs: {evidence: [{id: E1, tenant: t_demo, source: "kb://refunds", version: 3, locator: "#2",
        text: Refunds take 30 days.}]}

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
    principal: {tenant: t_demo, subject: u_1}
    inputs: {evidence: [{id: E1, tenant: t_demo, source: "kb://refunds", version: 3, locator: "#2",
        text: Refunds take 30 days.}]}

Mend: Add `principal:`, or say in `expect.dropped` that the records are meant to be dropped.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Fixtures without a principal whose records carry a tenant or a permission, unless they expect the drop."""
    for fixture in context.project.fixtures.values():
        if fixture.principal is not None or fixture.expect.dropped or fixture.expect.not_loaded:
            continue
        inputs = fixture.inputs
        bound = [
            r
            for records in (inputs.evidence, inputs.memory, inputs.tool_results, inputs.handoff)
            for r in records
            if r.tenant or r.permissions
        ]
        if bound:
            yield RULE.finding(
                context,
                f"nobody is named as asking, so {len(bound)} record{'s' if len(bound) > 1 else ''} that belong to a "
                f"tenant or ask for a permission are dropped ({bound[0].id} first)",
                at=fixture.origin.child("inputs"),
                key=True,
                help="add `principal: {tenant: ..., subject: ..., permissions: [...]}`",
                fixture=fixture.id,
                data={"records": [r.id for r in bound][:20]},
            )


RULE = rule(__name__, __doc__, check, tier="strict")
