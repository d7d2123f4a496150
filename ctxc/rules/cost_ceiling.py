"""Requests that cost more than a policy allows, by dated prices, each or a thousand of them.

Why: What a request costs is decided by its template, long before anybody sees a bill. The top of the count's band and
the whole output reserve are charged, so that the real bill is below.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: openai
    model: gpt-4.1
    budget: {output_reserve: 8000, ceiling: 4000}
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

Mend: Lower the output reserve, shorten the request, keep its prefix stable, or ask a cheaper model.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._ground import ground, items, origin_of, selected, settings, told
from ctxc.rules._money import limit, price_of, shown, thousand, weighted
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Every ceiling in dollars, of each request and of a thousand."""
    for policy, cost in settings(context, "cost"):
        for number, ceiling in items(cost.get("ceilings")):
            cache = ceiling.get("cache", "cold")
            fixtures = selected(context, policy, ceiling.get("where", {}))
            keys = ("cost", "ceilings", number)
            help = "an answer as long as `output_reserve` is part of it; `ctxc cache` shows what the input costs"
            if "max_usd_per_request" in ceiling:
                most = limit(ceiling["max_usd_per_request"])
                for measured in fixtures:
                    price = price_of(measured, cache)
                    if price is not None and price > most:
                        yield told(
                            context,
                            RULE,
                            policy,
                            (*keys, "max_usd_per_request"),
                            f"{shown(price)} a request ({cache}), over the ceiling of {shown(most)}",
                            at=origin_of(context, measured.fixture),
                            help=help,
                            fixture=measured.fixture,
                            data={"usd": str(price), "limit": str(most), "prices": measured.price},
                        )
            mix = weighted(ground(context), fixtures)
            total = thousand(mix, cache) if fixtures and "max_usd_per_1000_requests" in ceiling else None
            if total is not None and total > (most := limit(ceiling["max_usd_per_1000_requests"])):
                dearest = max(fixtures, key=lambda m: (price_of(m, cache) or 0, m.fixture))
                yield told(
                    context,
                    RULE,
                    policy,
                    (*keys, "max_usd_per_1000_requests"),
                    f"{shown(total)} for 1,000 requests ({cache}, {len(fixtures):,} "
                    f"fixture{'s' if len(fixtures) > 1 else ''} by weight), over the ceiling of {shown(most)}",
                    at=origin_of(context, dearest.fixture),
                    help=f"{help}; the dearest is {dearest.fixture}",
                    data={"usd": str(total), "limit": str(most), "fixtures": len(fixtures), "prices": dearest.price},
                )


RULE = rule(__name__, __doc__, check, needs="packages")
