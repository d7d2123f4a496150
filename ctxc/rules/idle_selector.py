"""A rule of a policy whose `where` fits nothing that any fixture shows.

Why: A ceiling for a template that was renamed is never breached. It looks like a check and is none.

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
    gates: {budget: {ceilings: [{where: {template: tt}, max_input_tokens: 500}]}}

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
    gates: {budget: {ceilings: [{where: {template: t}, max_input_tokens: 500}]}}

Mend: Correct the names, or take the rule out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ctxc.base.spans import Origin
from ctxc.model.contract import Policy
from ctxc.model.finding import Finding
from ctxc.rules._ground import at, chosen, ground, items, of_sections, sections
from ctxc.rules.engine import Context, rule

_LISTS = (
    ("budget", "ceilings"), ("budget", "growth"), ("budget", "percentiles"), ("cost", "ceilings"), ("cost", "growth"),
    ("latency", "ceilings"), ("latency", "growth"),
)  # fmt: skip
_SINGLE = ("recall", "precision", "fidelity", "drop_rate")


def wheres(policy: Policy) -> Iterator[tuple[Origin, Mapping[str, Any]]]:
    """Every ``where`` of a policy with its place."""
    if policy.where:
        yield policy.origin.child("where"), {}
    for step, name in _LISTS:
        inside = policy.gates.get(step)
        for number, entry in items(inside.get(name)) if isinstance(inside, Mapping) else ():
            if entry.get("where"):
                yield at(policy, step, name, number, "where"), entry["where"]
    regression = policy.gates.get("regression")
    for name in _SINGLE:
        bound = regression.get(name) if isinstance(regression, Mapping) else None
        if isinstance(bound, Mapping) and bound.get("where"):
            yield at(policy, "regression", name, "where"), bound["where"]
    for number, entry in items(policy.gates.get("forbidden")):
        if entry.get("where"):
            # Sections are not judged here: what is forbidden in a place may well be a place that stays empty.
            yield (
                at(policy, "forbidden", number, "where"),
                {k: v for k, v in entry["where"].items() if k not in of_sections(entry["where"])},
            )
    prefix = policy.gates.get("prefix")
    if isinstance(prefix, Mapping) and prefix.get("where"):
        yield at(policy, "prefix", "where"), prefix["where"]


def check(context: Context) -> Iterator[Finding]:
    """Every ``where`` that selects no fixture, or no section of those that it selects."""
    known = ground(context)
    for policy in known.policies:
        for origin, where in wheres(policy):
            fixtures = list(chosen(known.head, policy, where))
            narrow = of_sections(where) or of_sections(policy.where)
            if fixtures and (not narrow or any(sections(m, policy, where) for m in fixtures)):
                continue
            what = "no section of any fixture" if fixtures else "no fixture"
            yield RULE.finding(
                context,
                f"this `where` of policy {policy.id} fits {what}",
                at=known.owner.sources.locate(origin),
                help="correct the names, or take the rule out",
                data={"policy": policy.id, "where": dict(where)},
            )


RULE = rule(__name__, __doc__, check, needs="packages")
