"""Growth that was not judged, because the base was counted with another vocabulary or in another way.

Why: Tokens of two vocabularies are different units. A bound on growth that compares them says something at random; one
that leaves them out has to say so.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 2
    provider: openai
    model: gpt-4.1
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: base/templates/t.yaml
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
    gates: {budget: {growth: {max_percent: 5}}}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 2
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer shortly.}
    # file: base/templates/t.yaml
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
    gates: {budget: {growth: {max_percent: 5}}}

Mend: Change the model in a change of its own, and look at the ceilings, which hold by themselves.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._ground import ground, items, origin_of, selected, settings, told
from ctxc.rules.engine import Context, rule
from ctxc.rules.token_growth import comparable


def check(context: Context) -> Iterator[Finding]:
    """Fixtures with a bound on growth whose counts cannot be compared; each template once."""
    base = ground(context).base
    if base is None:
        return
    for policy, budget in settings(context, "budget"):
        seen: set[str] = set()
        for number, growth in items(budget.get("growth")):
            for measured in selected(context, policy, growth.get("where", {})):
                before = base.get(measured.fixture)
                if before is None or not before.has_request or comparable(before, measured):
                    continue
                if measured.template in seen:
                    continue
                seen.add(measured.template)
                yield told(
                    context,
                    RULE,
                    policy,
                    ("budget", "growth", number),
                    f"growth is not judged: the base was counted with {before.tokenizer} ({before.method}), "
                    f"this with {measured.tokenizer} ({measured.method})",
                    at=origin_of(context, measured.fixture),
                    help="change the model in a change of its own",
                    fixture=measured.fixture,
                    data={"base": [before.tokenizer, before.method], "head": [measured.tokenizer, measured.method]},
                )


RULE = rule(__name__, __doc__, check, needs="change")
