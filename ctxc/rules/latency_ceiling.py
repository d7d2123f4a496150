"""A request that takes longer than a policy allows, by the linear model of its provider profile.

Why: The tokens of a request decide how long an answer takes at least. The figure is a model that the profile declares,
not a measurement; it moves when the request does, which is what a gate has to see.

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
    gates: {latency: {ceilings: [{max_ms: 20000}]}}

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
    gates: {latency: {ceilings: [{max_ms: 20000}]}}

Mend: Lower the output reserve, which weighs most, or shorten what is not cached.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.model.measured import Measured
from ctxc.rules._ground import items, origin_of, selected, settings, told
from ctxc.rules.engine import Context, rule


def time_of(measured: Measured, cache: str) -> int | None:
    """Milliseconds until the last token, with the static part in the cache (``warm``) or not; None without a model."""
    return measured.latency_warm if cache == "warm" else measured.latency_cold


def check(context: Context) -> Iterator[Finding]:
    """Every ceiling in milliseconds, of each request."""
    for policy, latency in settings(context, "latency"):
        for number, ceiling in items(latency.get("ceilings")):
            cache = ceiling.get("cache", "cold")
            for measured in selected(context, policy, ceiling.get("where", {})):
                time = time_of(measured, cache)
                if time is None or "max_ms" not in ceiling or time <= ceiling["max_ms"]:
                    continue
                yield told(
                    context,
                    RULE,
                    policy,
                    ("latency", "ceilings", number, "max_ms"),
                    f"{time:,} ms by the model of {measured.provider} ({cache}), over the ceiling of "
                    f"{ceiling['max_ms']:,} ms",
                    at=origin_of(context, measured.fixture),
                    help=f"lower `output_reserve` ({measured.output:,} tokens), which weighs most",
                    fixture=measured.fixture,
                    data={"ms": time, "limit": ceiling["max_ms"], "cache": cache, "modelled": True},
                )


RULE = rule(__name__, __doc__, check, needs="packages")
