"""A budget that is judged by a heuristic count: an estimate whose error nobody knows.

Why: A ceiling that holds by a guess does not hold. Counts that are exact, follow a published formula, or come with a
measured band are compared; a plain estimate passes only where the policy says so.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: guess
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: templates/guess.yaml
    provider_id: guess
    version: "1"
    shape: text
    platform: house
    as_of: "2026-11-30"
    sources: [house rules]
    models:
      - {pattern: "*", window: 8000, tokenizer: {id: estimate_000, method: heuristic}}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {budget: {ceilings: [{max_input_tokens: 500}]}}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: guess
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: templates/guess.yaml
    provider_id: guess
    version: "1"
    shape: text
    platform: house
    as_of: "2026-11-30"
    sources: [house rules]
    models:
      - {pattern: "*", window: 8000, tokenizer: {id: o200k_base, method: exact}}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {budget: {ceilings: [{max_input_tokens: 500}]}}

Mend: Name a tokenizer whose vocabulary is known, or write `heuristic: allow` beside the ceilings.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._ground import items, origin_of, selected, settings, told
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Fixtures under a ceiling or a percentile whose count is heuristic; each template and model once."""
    for policy, budget in settings(context, "budget"):
        if budget.get("heuristic") == "allow":
            continue
        seen: set[tuple[str, str]] = set()
        for step in ("ceilings", "percentiles"):
            for _, bound in items(budget.get(step)):
                for measured in selected(context, policy, bound.get("where", {})):
                    if measured.method == "heuristic" and (measured.template, measured.model) not in seen:
                        seen.add((measured.template, measured.model))
                        yield told(
                            context,
                            RULE,
                            policy,
                            ("budget",),
                            f"the tokens of {measured.model} are only estimated ({measured.tokenizer}): "
                            "no budget can be judged by them",
                            at=origin_of(context, measured.fixture),
                            help="name a tokenizer whose vocabulary is known, or write `heuristic: allow`",
                            fixture=measured.fixture,
                            data={"tokenizer": measured.tokenizer, "method": measured.method},
                        )


RULE = rule(__name__, __doc__, check, needs="packages")
