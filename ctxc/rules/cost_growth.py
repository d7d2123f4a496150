"""Requests that cost more than at the base by more than a policy allows.

Why: A longer prompt, a larger output reserve and another model all end up in the same number, which is the one that is
paid.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 2
    provider: openai
    model: gpt-4.1
    budget: {output_reserve: 8000, ceiling: 4000}
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: base/templates/t.yaml
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
    gates: {cost: {growth: {max_percent: 5}}}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 2
    provider: openai
    model: gpt-4.1
    budget: {output_reserve: 820, ceiling: 4000}
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: base/templates/t.yaml
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
    gates: {cost: {growth: {max_percent: 5}}}

Mend: Find out whether the money buys something. `ctxc diff` shows what grew.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

from ctxc.model.finding import Finding
from ctxc.model.measured import Measured
from ctxc.rules._ground import ground, items, selected, settings, told
from ctxc.rules._growth import Grown, place_of, related, sources, told_of
from ctxc.rules._money import limit, price_of, shown, thousand, weighted
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Every bound on growth in dollars, over the fixtures that both sides have, by their weights at head."""
    base = ground(context).base
    if base is None:
        return
    for policy, cost in settings(context, "cost"):
        for number, growth in items(cost.get("growth")):
            cache = growth.get("cache", "cold")
            both = [
                m
                for m in selected(context, policy, growth.get("where", {}))
                if m.fixture in base and base[m.fixture].has_request and price_of(base[m.fixture], cache) is not None
            ]
            both = weighted(ground(context), both)
            new = thousand(both, cache)
            # By the same weights on both sides: another mix of requests is no change of what a request costs.
            old = thousand([replace(base[m.fixture], weight=m.weight) for m in both], cache)
            if not both or new is None or old is None or new <= old:
                continue
            for key, most in (("max_percent", f"{growth.get('max_percent')}%"), ("max_usd_per_1000_requests", "")):
                if key not in growth:
                    continue
                bound = limit(growth[key])
                over = (new - old) * 100 > old * bound if key == "max_percent" else new - old > bound
                if over:
                    dearest = max(both, key=lambda m: (_more(m, base[m.fixture], cache), m.fixture))
                    was = base[dearest.fixture]
                    files = sources(was.sections, dearest.sections, "tokens")
                    grown = Grown(before=was, after=dearest, delta=0, sources=files)
                    yield told(
                        context,
                        RULE,
                        policy,
                        ("cost", "growth", number, key),
                        f"1,000 requests cost {shown(new)} ({cache}) in place of {shown(old)}; "
                        f"the policy allows {most or shown(bound)} more; fixture {dearest.fixture!r} grew most"
                        f"{told_of(files, 'tokens')}",
                        at=place_of(context, grown),
                        help="`ctxc diff` shows what grew",
                        related=related(context, grown, "tokens"),
                        data={
                            "base": str(old), "head": str(new), "limit": str(bound), "fixtures": len(both),
                            "files": {s.at.path: s.growth for s in files},
                        },
                    )  # fmt: skip


def _more(after: Measured, before: Measured, cache: str) -> Decimal:
    return (price_of(after, cache) or Decimal(0)) - (price_of(before, cache) or Decimal(0))


RULE = rule(__name__, __doc__, check, needs="change")
