"""A rule of a policy whose `where` fits nothing that any fixture shows.

Why: A ceiling for a template that was renamed is never breached. It looks like a check and is none. Where the base's
policies judge, and a change itself brings what they no longer name, this is an error: a name must not be a way around.

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
from dataclasses import replace
from typing import Any

from ctxc.base.spans import Origin
from ctxc.model.contract import Policy
from ctxc.model.finding import Finding, Severity
from ctxc.model.measured import Measured
from ctxc.rules._ground import (
    Ground,
    at,
    chosen,
    facts_of,
    ground,
    holds_for,
    items,
    judged_by_base,
    of_sections,
    sections,
)
from ctxc.rules.engine import Context, rule

_LISTS = (
    ("budget", "ceilings"), ("budget", "growth"), ("budget", "percentiles"), ("cost", "ceilings"), ("cost", "growth"),
    ("latency", "ceilings"), ("latency", "growth"),
)  # fmt: skip
_LISTED = 5
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
        if not any(True for _ in chosen(known, policy, {})):
            # None of its rules fits anything then, for the same reason.
            yield from _idle(context, policy, policy.origin.child("where"), {}, fixtures=())
            continue
        for origin, where in wheres(policy):
            yield from _idle(context, policy, origin, where, fixtures=tuple(chosen(known, policy, where)))


def _idle(
    context: Context, policy: Policy, origin: Origin, where: Mapping[str, Any], *, fixtures: tuple[Measured, ...]
) -> Iterator[Finding]:
    known = ground(context)
    narrow = bool(of_sections(where) or of_sections(policy.where))
    if fixtures and (not narrow or any(sections(m, policy, where) for m in fixtures)):
        return
    what = "no section of any fixture" if fixtures else "no fixture"
    message, help = f"this `where` of policy {policy.id} fits {what}", "correct the names, or take the rule out"
    lost = _evaded(known, policy, where, narrow=narrow) if judged_by_base(context) else ()
    if lost:
        # In the help, so that it is the head's finding of the same `where`, which is told once then.
        fixture = "fixture" if len(lost) == 1 else "fixtures"
        help = f"at the base it spoke of {len(lost):,} {fixture}, and what is new here it does not name: "
        help += "keep the names, or change the policy first, in a change of its own"
    found = RULE.finding(
        context,
        message,
        at=known.owner.sources.locate(origin),
        help=help,
        data={"policy": policy.id, "where": dict(where), "fixtures": list(lost[:_LISTED])},
    )
    yield replace(found, severity=Severity.ERROR) if lost else found


def _evaded(known: Ground, policy: Policy, where: Mapping[str, Any], *, narrow: bool) -> tuple[str, ...]:
    """Fixtures of the base of which a rule of its policies spoke, where it speaks of none now although something came
    in their place: a fixture, or in one of them a section, that the base does not know. Else what it was about is gone.
    """
    base = known.base or {}
    spoke = [m for m in base.values() if holds_for(policy, where, facts_of(m))]
    if narrow:
        spoke = [m for m in spoke if sections(m, policy, where)]
    shown = [m for m in known.head.values() if m.has_request]
    new = any(m.fixture not in base or _places(m) - _places(base[m.fixture]) for m in shown)
    return tuple(sorted({m.fixture for m in spoke})) if new else ()


def _places(measured: Measured) -> frozenset[tuple[str, str]]:
    """Places of a template with the files that fill them; what the fixture itself brings is no place of its own."""
    return frozenset((s.slot, "" if s.path == measured.path else s.path) for s in measured.sections)


RULE = rule(__name__, __doc__, check, needs="packages")
