"""A percentile of input tokens over a policy's fixtures that is over its bound.

Why: One large request is an outlier; a median that moves is what the month costs.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: "Answer briefly, name the source of every statement, say what is missing."}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {budget: {percentiles: {p50: 10}}}

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
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {budget: {percentiles: {p50: 60}}}

Mend: Shorten what most of these requests share. The message names the fixture that stands at the percentile.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._ground import items, origin_of, selected, settings, told
from ctxc.rules.engine import Context, rule

_RANKS = {"p50": 50, "p90": 90, "p95": 95, "p99": 99, "max": 100}


def check(context: Context) -> Iterator[Finding]:
    """Nearest-rank percentiles over the requests of the selected fixtures, by the top of each count's band."""
    for policy, budget in settings(context, "budget"):
        for number, bounds in items(budget.get("percentiles")):
            ordered = sorted(selected(context, policy, bounds.get("where", {})), key=lambda m: (m.high, m.fixture))
            if not ordered:
                continue
            for name, percent in _RANKS.items():
                here = ordered[max(0, -(-percent * len(ordered) // 100) - 1)]
                if name in bounds and here.high > bounds[name]:
                    yield told(
                        context,
                        RULE,
                        policy,
                        ("budget", "percentiles", number, name),
                        f"{name} over {len(ordered):,} fixture{'s' if len(ordered) > 1 else ''} is "
                        f"{here.high:,} tokens, {here.high - bounds[name]:,} over {bounds[name]:,}",
                        at=origin_of(context, here.fixture),
                        help="shorten what most of these requests share",
                        fixture=here.fixture,
                        data={"tokens": here.high, "limit": bounds[name], "fixtures": len(ordered)},
                    )


RULE = rule(__name__, __doc__, check, needs="packages")
