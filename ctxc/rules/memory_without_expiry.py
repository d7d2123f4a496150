"""A memory record that never expires.

Why: A preference, an address or a plan is true for a while; without an end it is repeated for ever.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: memory, source: runtime}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    now: 2026-11-30T10:00:00Z
    inputs: {memory: [{id: M1, text: Prefers short answers., scope: "user:u_1"}]}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: memory, source: runtime}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    now: 2026-11-30T10:00:00Z
    inputs: {memory: [{id: M1, text: Prefers short answers., scope: "user:u_1", valid_until: "2027-01-31"}]}

Mend: Add `valid_until:`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Memory records without an end; one that is revoked has ended."""
    seen = set()
    for fixture in context.project.fixtures.values():
        for record in fixture.inputs.memory:
            if record.valid_until or record.revoked or record.origin in seen:
                continue
            seen.add(record.origin)
            yield RULE.finding(
                context,
                f"memory {record.id!r} has no valid_until: it is remembered for ever",
                at=record.origin,
                help="add `valid_until:`",
                fixture=fixture.id,
                data={"record": record.id},
            )


RULE = rule(__name__, __doc__, check)
