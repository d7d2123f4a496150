"""A rule of a policy whose `where` fits nothing that any fixture shows, or names something that does not exist.

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

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ctxc.base.spans import Origin
from ctxc.base.values import dataclass
from ctxc.model.contract import Policy
from ctxc.model.finding import Finding, Severity
from ctxc.model.measured import Measured
from ctxc.model.section import Authority, Kind, Trust, Zone
from ctxc.parse.problems import did_you_mean
from ctxc.rules._ground import (
    Ground,
    at,
    chosen,
    facts_of,
    fits,
    ground,
    holds_for,
    items,
    judged_by_base,
    of_fixture,
    of_sections,
    place_in,
    sections,
)
from ctxc.rules._known import FIXTURES
from ctxc.rules.engine import Context, rule
from ctxc.rules.uncovered import all_seen, things

_BOUNDS = (
    ("budget", "ceilings"), ("budget", "growth"), ("budget", "percentiles"), ("cost", "ceilings"), ("cost", "growth"),
    ("latency", "ceilings"), ("latency", "growth"), ("regression", "recall"), ("regression", "precision"),
    ("regression", "fidelity"), ("regression", "drop_rate"),
)  # fmt: skip
_LISTED = 5
_MAY_HAVE = {
    "template": ("template",), "request_profile": ("profile",), "provider": ("provider",), "fixture": FIXTURES,
    "conversation": FIXTURES, "section": ("template", "fragment", *FIXTURES), "path": ("template", "fragment"),
}  # fmt: skip
"""Kinds of definitions that bring the names of a key: one that could not be loaded may be, or bring, what is named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selector:
    """A ``where`` with its place. ``judged`` is the part that has to fit something, beside the policy's own."""

    at: Origin
    where: Mapping[str, Any]
    judged: Mapping[str, Any]


def selectors(policy: Policy) -> Iterator[Selector]:
    """Every ``where`` of a policy."""
    if policy.where:
        yield Selector(at=policy.origin.child("where"), where=policy.where, judged={})
    places: list[tuple[tuple[Any, ...], Mapping[str, Any]]] = []
    for step, name in _BOUNDS:
        inside = policy.gates.get(step)
        places += [((step, name, n), e) for n, e in items(inside.get(name) if isinstance(inside, Mapping) else None)]
    places += [(("prefix",), e) for _, e in items(policy.gates.get("prefix"))]
    for keys, entry in places:
        if entry.get("where"):
            yield Selector(at=at(policy, *keys, "where"), where=entry["where"], judged=entry["where"])
    for number, entry in items(policy.gates.get("forbidden")):
        if entry.get("where"):
            # Sections need not fit: what is forbidden in a place may well be a place that stays empty.
            judged = of_fixture(entry["where"])
            yield Selector(at=at(policy, "forbidden", number, "where"), where=entry["where"], judged=judged)


def check(context: Context) -> Iterator[Finding]:
    """Every ``where`` that selects no fixture, or no section of those that it selects; in others names of nothing."""
    known = ground(context)
    for policy in known.policies:
        if not any(True for _ in chosen(known, policy, {})):
            # None of its rules fits anything then, for the same reason.
            yield from _idle(context, policy, policy.origin.child("where"), {}, fixtures=())
            continue
        for one in selectors(policy):
            fixtures = tuple(chosen(known, policy, one.judged))
            idle = tuple(_idle(context, policy, one.at, one.judged, fixtures=fixtures))
            yield from idle or _unknown(context, policy, one)
        yield from _excepted(context, policy)


def _unknown(context: Context, policy: Policy, one: Selector) -> Iterator[Finding]:
    """Names in a ``where`` that nothing has. The base's may be of what the change took away: the head's say so."""
    if judged_by_base(context):
        return
    for key, wanted in one.where.items():
        known = context.shared(_names).get(key)
        if any(context.project.lost.get(kind) for kind in _MAY_HAVE.get(key, ())):
            continue
        for number, name in enumerate((wanted,) if isinstance(wanted, str) else wanted):
            if known is None or _is_there(context, key, name, known):
                continue
            place = one.at.child(key) if isinstance(wanted, str) else one.at.child(key, number)
            yield RULE.finding(
                context,
                f"this `where` of policy {policy.id} names {key.replace('_', ' ')} {name!r}, which does not exist"
                f"{did_you_mean(name, sorted(known))}",
                at=place,
                help="correct the name, or take it out",
                data={"policy": policy.id, "where": dict(one.where), "key": key, "name": name},
            )


def _excepted(context: Context, policy: Policy) -> Iterator[Finding]:
    """Ids that need not be reached by a fixture and that nothing has."""
    coverage = policy.gates.get("coverage")
    names = coverage.get("except", ()) if isinstance(coverage, Mapping) and not judged_by_base(context) else ()
    if any(context.project.lost.get(kind) for kind in ("template", "profile", "fragment")):
        return
    known = {name for _, name, _ in things(context.project)} | context.project.fragments.keys() if names else ()
    for number, name in enumerate(names):
        if name not in known:
            yield RULE.finding(
                context,
                f"`except` names {name!r}, which does not exist{did_you_mean(name, sorted(known))}",
                at=at(policy, "coverage", "except", number),
                help="correct the name, or take it out",
                data={"policy": policy.id, "key": "except", "name": name},
            )


def _is_there(context: Context, key: str, name: str, known: Collection[str]) -> bool:
    if key == "path" and context.tree.exists(name):
        return True
    return fits({key: name}, {key: known})


def _names(context: Context) -> Mapping[str, frozenset[str]]:
    """What there is by each key of a ``where``; a model may be one that nobody has asked for yet."""
    project, head = context.project, ground(context).head.values()
    specs = [s for versions in project.templates.values() for t in versions for s in t.sections]
    shown = [s for m in head for s in m.sections]
    sections = {n for s in shown for n in (s.id, s.slot, s.item, s.fragment)} | {d[0] for m in head for d in m.dropped}
    texts = {f.text_path for versions in project.fragments.values() for f in versions}
    found: dict[str, Iterable[str]] = {
        "template": project.templates,
        "request_profile": project.profiles,
        "provider": project.providers,
        "fixture": project.fixtures,
        "conversation": {f.conversation for f in project.fixtures.values()} - {""},
        "section": {*sections, *project.fragments, *(s.id for s in specs)} - {""},
        "path": {s.path for s in shown} | {s.source for s in specs} | texts,
        "kind": Kind,
        "zone": Zone,
        "authority": [a.name for a in Authority],
        "trust": Trust,
    }
    return {key: frozenset(map(str, names)) for key, names in found.items()}


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
    elif not all_seen(context):
        return
    found = RULE.finding(
        context,
        message,
        at=place_in(known.owner, context.project, origin),
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
