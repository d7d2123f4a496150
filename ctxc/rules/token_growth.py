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

from ctxc.model.contract import Policy
from ctxc.model.finding import Finding
from ctxc.model.measured import Measured
from ctxc.rules._ground import ground, items, of_sections, sections, selected, settings, told
from ctxc.rules._growth import Grown, Unit, by_place, others, related, sources, told_of
from ctxc.rules.engine import Context, rule

_UNITS: tuple[tuple[str, Unit], ...] = (("max_percent", "tokens"), ("max_tokens", "tokens"), ("max_bytes", "bytes"))
_LISTED = 5


def check(context: Context) -> Iterator[Finding]:
    """Every bound on growth, for every fixture that both sides have and count in the same way.

    Told once for each file that made requests grow, at that file.
    """
    base = ground(context).base
    if base is None:
        return
    for policy, budget in settings(context, "budget"):
        for number, growth in items(budget.get("growth")):
            where = growth.get("where", {})
            for key, unit in _UNITS:
                if key not in growth:
                    continue
                over: list[Grown] = []
                for measured in selected(context, policy, where):
                    before = base.get(measured.fixture)
                    if before is None or not before.has_request or not comparable(before, measured):
                        continue
                    old, new = (_size(m, policy, where, unit) for m in (before, measured))
                    most, by_percent = growth[key], key == "max_percent"
                    if new > old and ((new - old) * 100 > old * most if by_percent else new - old > most):
                        shown = sections(before, policy, where), sections(measured, policy, where)
                        files = sources(*shown, unit=unit)
                        over.append(Grown(before=before, after=measured, delta=new - old, sources=files))
                for place, worst, members in by_place(context, over):
                    old, new = (_size(m, policy, where, unit) for m in (worst.before, worst.after))
                    percent = f" ({100 * worst.delta / old:.1f}%)" if old else " (from nothing)"
                    limit = f"{growth[key]}%" if key == "max_percent" else f"{growth[key]:,} {unit}"
                    yield told(
                        context,
                        RULE,
                        policy,
                        ("budget", "growth", number, key),
                        f"fixture {worst.after.fixture!r} grew by {worst.delta:,} {unit}{percent} to {new:,}"
                        f"{told_of(worst.sources, unit)}; the policy allows {limit}{others(members)}",
                        at=place,
                        help="take something out for what came in; `ctxc diff` shows which sections grew",
                        fixture=worst.after.fixture,
                        related=related(context, worst, unit),
                        data={
                            "base": old, "head": new, "delta": worst.delta, "limit": growth[key],
                            "files": {s.at.path: s.growth for s in worst.sources},
                            "fixtures": [g.after.fixture for g in members[:_LISTED]], "requests": len(members),
                        },
                    )  # fmt: skip


def comparable(before: Measured, after: Measured) -> bool:
    """Whether two counts may be compared: one vocabulary, one method."""
    return (before.tokenizer, before.method) == (after.tokenizer, after.method)


def _size(measured: Measured, policy: Policy, where: dict[str, Any], unit: Unit) -> int:
    if of_sections(where) or of_sections(policy.where):
        return sum(s.tokens if unit == "tokens" else s.bytes for s in sections(measured, policy, where))
    return (measured.tokens or 0) if unit == "tokens" else measured.bytes


RULE = rule(__name__, __doc__, check, needs="change")
