"""A memory record that does not say for whom it holds.

Why: What one user said about himself is then told about every user, and of every tenant.

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
    inputs: {memory: [{id: M1, text: Prefers short answers., valid_until: "2027-01-31"}]}

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

Mend: Add `scope:` (a user, a project, a tenant).
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Memory records without scope and without tenant."""
    seen = set()
    for fixture in context.project.fixtures.values():
        for record in fixture.inputs.memory:
            if record.attributes.get("scope") or record.tenant or record.origin in seen:
                continue
            seen.add(record.origin)
            yield RULE.finding(
                context,
                f"memory {record.id!r} has no scope",
                at=record.origin,
                help="add `scope:`, such as user:u_1, project:p_7 or tenant:t_demo",
                fixture=fixture.id,
                data={"record": record.id},
            )


RULE = rule(__name__, __doc__, check)
