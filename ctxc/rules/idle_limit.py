"""A fixture's `max_input_tokens` that its template can never reach.

Why: An expectation that cannot fail checks nothing.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    budget: {window: 8000, output_reserve: 1000, safety_margin: 5%, ceiling: 3000}
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    expect: {max_input_tokens: 5000}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    budget: {window: 8000, output_reserve: 1000, safety_margin: 5%, ceiling: 3000}
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    expect: {max_input_tokens: 2500}

Mend: Lower it to what this request should take.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.model.lookup import candidates
from ctxc.rules._counts import room
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Limits of fixtures above what is left for input, on the template's own provider."""
    rooms: dict[str, int | None] = {}
    for fixture in context.project.fixtures.values():
        limit = fixture.expect.max_input_tokens
        if limit is None or fixture.provider or fixture.model:
            continue
        if fixture.template not in rooms:
            found = candidates(context.project.templates, fixture.template)
            rooms[fixture.template] = room(context, found[-1]).available if found else None
        available = rooms[fixture.template]
        if available is not None and limit > available:
            yield RULE.finding(
                context,
                f"max_input_tokens of {limit:,} cannot fail: the template has {available:,} tokens for input",
                at=fixture.expect.origin.child("max_input_tokens"),
                help="lower it to what this request should take",
                fixture=fixture.id,
                data={"limit": limit, "available": available},
            )


RULE = rule(__name__, __doc__, check)
