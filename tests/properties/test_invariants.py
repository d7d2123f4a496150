"""The six invariants of the compiler, over random sections, budgets, tiers, histories with calls, and conflicts."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from strategies import worlds
from world import compiled, fixture, fragment

from ctxc import tokens
from ctxc.base.canonical import canonical
from ctxc.compiler.wrap import is_native, is_verbatim
from ctxc.model.fragment import LoadMode
from ctxc.model.package import Outcome, Package
from ctxc.model.section import Authority, Tier, Zone
from ctxc.providers import shape

ORDINARY = settings(
    max_examples=200,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    derandomize=True,
)
MANY = settings(ORDINARY, max_examples=5000)


def check_all(world: tuple[Any, Any]) -> Package:
    made, asked = world
    package = compiled(made, asked)
    assert package.outcome in (Outcome.COMPILED, Outcome.BUDGET_EXCEEDED), package.findings
    deterministic(world, package)
    within_budget(world, package)
    required_whole(world, package)
    authority_kept(world, package)
    complete(world, package)
    unrelated(world, package)
    return package


def deterministic(world: tuple[Any, Any], package: Package) -> None:
    """1. Same inputs, same bytes."""
    again = compiled(*world)
    assert canonical(again.snapshot) == canonical(package.snapshot)
    assert json.dumps(again.request) == json.dumps(package.request)


def within_budget(world: tuple[Any, Any], package: Package) -> None:
    """2. The counted whole request never exceeds what is available."""
    if package.outcome is not Outcome.COMPILED:
        return
    made, _ = world
    profile = next(iter(made.providers.values()))
    row = profile.models[0]
    assert package.request is not None
    recounted = shape(profile.shape).count(package.request, tokens.get("o200k_base"), row)
    budget = package.snapshot["budget"]
    assert recounted.tokens == budget["used_input"]
    assert recounted.upper <= budget["available_input"]


def required_whole(world: tuple[Any, Any], package: Package) -> None:
    """3. Required sections and tiers P0 to P2 are whole, or the compile is refused with what is over and remedies."""
    if package.outcome is Outcome.BUDGET_EXCEEDED:
        assert package.request is None
        over = package.snapshot["budget"]["over"]
        assert over and all(o["over"] > 0 and o["tokens"] - o["limit"] == o["over"] for o in over)
        assert package.snapshot["remedies"]
        return
    for placed in package.placed:
        if placed.section.required or placed.section.tier <= Tier.P2:
            assert not placed.truncated
    for gone in package.dropped:
        if gone.stage == "fit":
            assert gone.section is not None
            assert not gone.section.required
            assert gone.section.tier > Tier.P2


def authority_kept(world: tuple[Any, Any], package: Package) -> None:
    """4. Authority never rises, and untrusted text reaches no system or tools zone and cannot close its block."""
    if package.request is None:
        return
    made, _ = world
    profile = next(iter(made.providers.values()))
    leaves = shape(profile.shape).read_back(package.request)
    system = "\n".join(leaf.text for leaf in leaves if leaf.zone in ("system", "tools"))
    assert system.count("POLICY" if "[POLICY" in system else "policy") >= 1
    for placed in package.placed:
        section = placed.section
        if section.authority >= Authority.T3:
            assert section.zone in (Zone.TURN, Zone.DATA)
            assert section.trust.value == "untrusted"
        if not is_native(section) and not is_verbatim(section) and placed.rendered:
            lines = placed.rendered.split("\n")
            assert len(lines) == 3
            json.loads(lines[1])


def complete(world: tuple[Any, Any], package: Package) -> None:
    """5. Every candidate ends in exactly one place, and the tokens add up."""
    there = [p.section.section_id for p in package.placed]
    gone = [d.section_id for d in package.dropped]
    assert len(set(there)) == len(there)
    assert len(set(gone)) == len(gone)
    assert not set(there) & set(gone)
    assert all(d.reason for d in package.dropped)
    if package.outcome is Outcome.COMPILED:
        assert {s.candidate_id for s in package.states} == set(there) | set(gone)
        _, asked = world
        units = sum(1 for i in there + gone if i.startswith("history/"))
        calls = sum(len(m.tool_calls) for m in asked.inputs.history)
        answers = sum(1 for m in asked.inputs.history if m.role == "tool")
        assert calls == answers
        assert units == len(asked.inputs.history) - answers
        budget = package.snapshot["budget"]
        assert budget["used_input"] == budget["overhead"] + sum(p.tokens for p in package.placed)
        messages = 2 + len(package.request["messages"])  # type: ignore[index]
        assert -len(there) - 1 <= budget["overhead"] <= 8 * messages + len(there)
        pairs_intact(package)


def pairs_intact(package: Package) -> None:
    """Calls and results leave together."""
    calls: set[str] = set()
    results: set[str] = set()
    for placed in package.placed:
        for message in placed.section.messages:
            calls.update(c.id for c in message.tool_calls)
            if message.role == "tool":
                assert message.tool_call_id in calls
                results.add(str(message.tool_call_id))
    assert calls == results


def unrelated(world: tuple[Any, Any], package: Package) -> None:
    """6. An unrelated fixture, fragment or file changes no other package."""
    made, asked = world
    other = fragment("family.other", "o.md", kind="family", mode=LoadMode.ROUTE_MATCH, applies_when={"x": ("y",)})
    more = replace(
        made,
        fragments={**made.fragments, other.id: (other,)},
        fixtures={**made.fixtures, "z": fixture(name="z", user="hello")},
    )
    assert canonical(compiled(more, asked).snapshot) == canonical(package.snapshot)


def regions(package: Package) -> set[str]:
    """What happened in a compile, of what the invariants are about."""
    found = {f"outcome {package.outcome}"}
    found |= {name for c in package.compression for name in ("cut", f"cut {c.strategy}")}
    found |= {f"{d.stage} {d.reason}" for d in package.dropped}
    found |= {d.reason for d in package.decisions if d.stage == "fit" and d.verdict == "kept"}
    found |= {d.reason for d in package.decisions if d.stage == "allocate" and d.verdict == "noted"}
    if package.conflicts:
        found.add("conflict")
    if any(m.tool_calls for p in package.placed for m in p.section.messages):
        found.add("calls")
        if any(d.section_id.startswith("history/") for d in package.dropped):
            found.add("calls, and a history that lost something")
    budget = package.snapshot["budget"]
    if package.request is not None and budget["available_input"] - budget["used_input"] < 20:
        found.add("nearly full")
    return found


# How many of the 200 worlds at least show each: a tenth of what they do, because other versions of hypothesis, and other
# modules loaded beside (it draws from their constants), draw other worlds. A strategy that no longer gets there tries
# nothing.
REACHED = {
    "cut": 4,
    "fit budget": 9,
    "calls": 7,
    "calls, and a history that lost something": 5,
    "conflict": 5,
    "nearly full": 4,
    "authorise tenant": 7,
    "outcome budget_exceeded": 1,
}


def test_invariants() -> None:
    """Of every world, and the worlds are those in which something has to give."""
    seen: Counter[str] = Counter()

    @ORDINARY
    @given(worlds())
    def each(world: tuple[Any, Any]) -> None:
        seen.update(regions(check_all(world)))

    each()
    assert {name: seen[name] for name, least in REACHED.items() if seen[name] < least} == {}


@pytest.mark.slow
@MANY
@given(worlds())
def test_invariants_many(world: tuple[Any, Any]) -> None:
    check_all(world)
