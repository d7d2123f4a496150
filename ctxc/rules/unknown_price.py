"""A policy bounds the cost of requests to a model whose prices nobody states.

Why: A ceiling on a number that is not known is never breached.

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
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {cost: {ceilings: [{max_usd_per_1000_requests: 20}]}}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: openai
    model: gpt-4.1
    budget: {output_reserve: 800, ceiling: 4000}
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {cost: {ceilings: [{max_usd_per_1000_requests: 20}]}}

Mend: State the prices in a provider profile of the project (`prices: {input: "2", output: "8"}`), or narrow `where`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._ground import items, origin_of, selected, settings, told
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Models without prices among the fixtures of which a policy bounds the cost; each once."""
    for policy, cost in settings(context, "cost"):
        seen: set[tuple[str, str]] = set()
        for step in ("ceilings", "growth"):
            for number, bound in items(cost.get(step)):
                for measured in selected(context, policy, bound.get("where", {})):
                    if measured.cold or (measured.provider, measured.model) in seen:
                        continue
                    seen.add((measured.provider, measured.model))
                    yield told(
                        context,
                        RULE,
                        policy,
                        ("cost", step, number),
                        f"no prices are known for {measured.model!r} of {measured.provider}: its cost cannot be judged",
                        at=origin_of(context, measured.fixture),
                        help="state its prices in a provider profile of the project, or narrow the policy's `where`",
                        fixture=measured.fixture,
                        data={"model": measured.model, "provider": measured.provider},
                    )


RULE = rule(__name__, __doc__, check, needs="packages")
