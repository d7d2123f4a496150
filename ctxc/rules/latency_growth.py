"""A request that takes longer than at the base by more than a policy allows, by the model of its provider profile.

Why: Nobody decides to be slow; it comes a few hundred tokens at a time.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 2
    provider: openai
    model: gpt-4.1
    budget: {output_reserve: 1600, ceiling: 4000}
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
    gates: {latency: {growth: {max_percent: 10}}}

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
    gates: {latency: {growth: {max_percent: 10}}}

Mend: Find out whether the time buys something. `ctxc diff` shows what grew.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._ground import ground, items, origin_of, selected, settings, told
from ctxc.rules._money import limit
from ctxc.rules.engine import Context, rule
from ctxc.rules.latency_ceiling import time_of


def check(context: Context) -> Iterator[Finding]:
    """Every bound on growth in time, of each fixture that both sides have."""
    base = ground(context).base
    if base is None:
        return
    for policy, latency in settings(context, "latency"):
        for number, growth in items(latency.get("growth")):
            cache = growth.get("cache", "cold")
            for measured in selected(context, policy, growth.get("where", {})):
                before = base.get(measured.fixture)
                new, old = time_of(measured, cache), time_of(before, cache) if before is not None else None
                if new is None or old is None or new <= old:
                    continue
                for key in ("max_percent", "max_ms"):
                    if key not in growth:
                        continue
                    by_percent = key == "max_percent"
                    most = limit(growth[key])
                    if (new - old) * 100 > old * most if by_percent else new - old > most:
                        yield told(
                            context,
                            RULE,
                            policy,
                            ("latency", "growth", number, key),
                            f"{new:,} ms by the model ({cache}) in place of {old:,} ms; the policy allows "
                            f"{growth[key]}{'%' if by_percent else ' ms'} more",
                            at=origin_of(context, measured.fixture),
                            help="`ctxc diff` shows what grew",
                            fixture=measured.fixture,
                            data={"base": old, "head": new, "limit": growth[key], "modelled": True},
                        )


RULE = rule(__name__, __doc__, check, needs="change")
