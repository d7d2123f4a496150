"""A request that grew more against the base than a policy allows.

Why: A budget is seldom breached at once: it is used up by ten changes of a few percent, each of which looks harmless.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 2
    provider: text
    sections:
      - {id: policy, source: literal, text: "Answer briefly. Name the source of every statement. Say what is missing."}
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

Mend: Take something out for what came in, or accept the growth with a waiver that ends. `ctxc diff` shows the sections.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ctxc.base.spans import Origin
from ctxc.model.contract import Policy
from ctxc.model.finding import Finding
from ctxc.model.measured import Measured, MeasuredSection
from ctxc.rules._ground import ground, items, of_sections, origin_of, sections, selected, settings, told
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Every bound on growth, for every fixture that both sides have and count in the same way."""
    base = ground(context).base
    if base is None:
        return
    for policy, budget in settings(context, "budget"):
        for number, growth in items(budget.get("growth")):
            where = growth.get("where", {})
            narrow = bool(of_sections(where) or of_sections(policy.where))
            for measured in selected(context, policy, where):
                before = base.get(measured.fixture)
                if before is None or not before.has_request or not comparable(before, measured):
                    continue
                keys = ("budget", "growth", number)
                old, new = _size(before, policy, where, narrow), _size(measured, policy, where, narrow)
                yield from _tokens(context, policy, keys, growth, before, measured, old, new)
                if "max_bytes" in growth and measured.bytes - before.bytes > growth["max_bytes"]:
                    grown = measured.bytes - before.bytes
                    yield told(
                        context,
                        RULE,
                        policy,
                        (*keys, "max_bytes"),
                        f"grew by {grown:,} bytes to {measured.bytes:,}; the policy allows {growth['max_bytes']:,}",
                        at=origin_of(context, measured.fixture),
                        help="`ctxc diff` shows which sections grew",
                        fixture=measured.fixture,
                        data={"base": before.bytes, "head": measured.bytes, "limit": growth["max_bytes"]},
                    )


def comparable(before: Measured, after: Measured) -> bool:
    """Whether two counts may be compared: one vocabulary, one method."""
    return (before.tokenizer, before.method) == (after.tokenizer, after.method)


def _size(measured: Measured, policy: Policy, where: dict[str, Any], narrow: bool) -> int:
    if narrow:
        return sum(s.tokens for s in sections(measured, policy, where))
    return measured.tokens or 0


def _tokens(
    context: Context, policy: Policy, keys: tuple[Any, ...], growth: Any, before: Measured, measured: Measured,
    old: int, new: int,
) -> Iterator[Finding]:  # fmt: skip
    grown = new - old
    for key, over, limit in (
        ("max_percent", grown * 100 > old * growth.get("max_percent", 0), f"{growth.get('max_percent')}%"),
        ("max_tokens", grown > growth.get("max_tokens", 0), f"{growth.get('max_tokens', 0):,} tokens"),
    ):
        if key not in growth or not over or grown <= 0:
            continue
        percent = f"{100 * grown / old:.1f}%" if old else "from nothing"
        most = grown_most(before, measured)
        yield told(
            context,
            RULE,
            policy,
            (*keys, key),
            f"grew by {grown:,} tokens ({percent}) to {new:,}; the policy allows {limit}",
            at=origin_of(context, measured.fixture),
            help="`ctxc diff` shows which sections grew",
            fixture=measured.fixture,
            related=[(Origin(s.path, s.pointer), f"{s.id}: {d:+,} tokens") for s, d in most],
            data={"base": old, "head": new, "delta": grown, "limit": growth[key]},
        )


def grown_most(before: Measured, after: Measured) -> list[tuple[MeasuredSection, int]]:
    """The three sections that grew most, with their growth in tokens."""
    old = {s.id: s.tokens for s in before.sections}
    grown = [(s, s.tokens - old.get(s.id, 0)) for s in after.sections]
    return sorted((g for g in grown if g[1] > 0), key=lambda g: -g[1])[:3]


RULE = rule(__name__, __doc__, check, needs="change")
