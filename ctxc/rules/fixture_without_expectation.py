"""A fixture that expects nothing of its request.

Why: It fails only when the compile itself does; a change that drops the evidence or the policy passes.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    expect: {loaded: [policy], max_input_tokens: 200}

Mend: Say under `expect:` what has to be in the request, what may not be, and how large it may be.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Fixtures whose ``expect`` is missing or says only that the request compiles."""
    for fixture in context.project.fixtures.values():
        if fixture.expect.stated <= {"outcome"} and fixture.expect.outcome == "compiled":
            yield RULE.finding(
                context,
                f"fixture {fixture.id!r} expects nothing of its request",
                at=fixture.origin.child("fixture_id"),
                help="add `expect:` with `loaded`, `must_contain`, `max_input_tokens` ...",
                fixture=fixture.id,
            )


RULE = rule(__name__, __doc__, check, tier="strict")
