"""A request that leaves out more of what could be shown than a policy allows.

Why: What is dropped silently in production is what nobody can explain later. The rate counts records and turns that
selection and the budget left out; what a permission, an expiry or a duplicate took away was never to be shown.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: evidence, source: retrieval, select: {top: 1}}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    inputs:
      evidence:
        - {id: E1, source: "kb://refunds", version: 3, locator: "#2", text: Refunds take 30 days., relevance: 0.9}
        - {id: E2, source: "kb://fees", version: 1, locator: "#4", text: The fee is 4 EUR., relevance: 0.8}
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {regression: {drop_rate: {ceiling: 0.2}}}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: evidence, source: retrieval, select: {top: 2}}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    inputs:
      evidence:
        - {id: E1, source: "kb://refunds", version: 3, locator: "#2", text: Refunds take 30 days., relevance: 0.9}
        - {id: E2, source: "kb://fees", version: 1, locator: "#4", text: The fee is 4 EUR., relevance: 0.8}
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {regression: {drop_rate: {ceiling: 0.2}}}

Mend: Raise the budget of the section, shorten what stands before it, or ask the retriever for less.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from ctxc.model.finding import Finding
from ctxc.rules._floors import percent
from ctxc.rules._ground import ground, origin_of, selected, settings, told
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Fixtures over the ceiling of the drop rate, or over the base's by more than is allowed."""
    base = ground(context).base or {}
    for policy, regression in settings(context, "regression"):
        bound = regression.get("drop_rate")
        if not isinstance(bound, Mapping):
            continue
        for measured in selected(context, policy, bound.get("where", {})):
            if not measured.candidates:
                continue
            rate = Fraction(measured.left, measured.candidates)
            before = base.get(measured.fixture)
            was = Fraction(before.left, before.candidates) if before is not None and before.candidates else None
            for key, over, limit in (
                ("ceiling", "ceiling" in bound and rate > Fraction(str(bound["ceiling"])), "the policy allows {}"),
                (
                    "max_rise",
                    "max_rise" in bound and was is not None and rate - was > Fraction(str(bound["max_rise"])),
                    "the policy allows a rise of {}",
                ),
            ):
                if over:
                    yield told(
                        context,
                        RULE,
                        policy,
                        ("regression", "drop_rate", key),
                        f"{percent(measured.left, measured.candidates)} of what could be shown is left out; "
                        + limit.format(bound[key]),
                        at=origin_of(context, measured.fixture),
                        help=f"`ctxc explain {measured.fixture}` lists what was dropped, and why",
                        fixture=measured.fixture,
                        data={"left": measured.left, "candidates": measured.candidates, "limit": bound[key]},
                    )


RULE = rule(__name__, __doc__, check, needs="packages")
