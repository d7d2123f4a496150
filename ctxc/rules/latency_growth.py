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
from ctxc.rules._ground import ground, items, selected, settings, told
from ctxc.rules._growth import Grown, by_place, others, related, sources, told_of
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
            for key in ("max_percent", "max_ms"):
                if key not in growth:
                    continue
                by_percent, most = key == "max_percent", limit(growth[key])
                over: list[Grown] = []
                for measured in selected(context, policy, growth.get("where", {})):
                    before = base.get(measured.fixture)
                    new, old = time_of(measured, cache), time_of(before, cache) if before is not None else None
                    if before is None or new is None or old is None or new <= old:
                        continue
                    if (new - old) * 100 > old * most if by_percent else new - old > most:
                        files = sources(before.sections, measured.sections, "tokens")
                        over.append(Grown(before=before, after=measured, delta=new - old, sources=files))
                for place, worst, members in by_place(context, over):
                    new, old = time_of(worst.after, cache), time_of(worst.before, cache)
                    yield told(
                        context,
                        RULE,
                        policy,
                        ("latency", "growth", number, key),
                        f"fixture {worst.after.fixture!r} takes {new:,} ms by the model ({cache}) in place of {old:,} "
                        f"ms{told_of(worst.sources, 'tokens')}; the policy allows "
                        f"{growth[key]}{'%' if by_percent else ' ms'} more{others(members)}",
                        at=place,
                        help="`ctxc diff` shows what grew",
                        fixture=worst.after.fixture,
                        related=related(context, worst, "tokens"),
                        data={
                            "base": old, "head": new, "limit": growth[key], "modelled": True,
                            "files": {s.at.path: s.growth for s in worst.sources}, "requests": len(members),
                        },
                    )  # fmt: skip


RULE = rule(__name__, __doc__, check, needs="change")
