"""A policy bounds the latency of requests for which no provider profile declares a model.

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

Mend: Declare `latency:` in a provider profile of the project, from measurements of your own, or narrow the `where`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._ground import items, origin_of, selected, settings, told
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Models without a model of latency among the fixtures of which a policy bounds it; each once."""
    for policy, latency in settings(context, "latency"):
        seen: set[tuple[str, str]] = set()
        for step in ("ceilings", "growth"):
            for number, bound in items(latency.get(step)):
                for measured in selected(context, policy, bound.get("where", {})):
                    if measured.latency_cold is not None or (measured.provider, measured.model) in seen:
                        continue
                    seen.add((measured.provider, measured.model))
                    yield told(
                        context,
                        RULE,
                        policy,
                        ("latency", step, number),
                        f"the profile {measured.provider} declares no latency for {measured.model!r}: "
                        "it cannot be judged",
                        at=origin_of(context, measured.fixture),
                        help="declare `latency:` in a provider profile of the project, or narrow the policy's `where`",
                        fixture=measured.fixture,
                        data={"model": measured.model, "provider": measured.provider},
                    )


RULE = rule(__name__, __doc__, check, needs="packages")
