"""The packages that hold no request: refused for budget, answered without a model, or not possible at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ctxc.compiler import expect, faults
from ctxc.compiler.allocate import Allocation
from ctxc.compiler.capabilities import required_capabilities
from ctxc.compiler.measure import Draft
from ctxc.compiler.order import order, place
from ctxc.compiler.snapshot import snapshot
from ctxc.compiler.stage import Request
from ctxc.compiler.trail import Trail
from ctxc.model.finding import Finding
from ctxc.model.package import Decision, Expectation, Outcome, Package, Placed
from ctxc.model.section import Tier


def without_model(request: Request, trail: Trail, reply: str, why: str, key: str) -> Package:
    trail.decisions.append(
        Decision(section_id="", stage="resolve", verdict="noted", reason=f"the route answers without a model: {why}")
    )
    return replace(ended(request, trail, Outcome.MODEL_NOT_REQUIRED, key), reply=reply)


_FAILED = {
    "outcome": "expected the outcome {expected}, got {actual}",
    "max_input_tokens": "expected at most {expected:,} input tokens, got {actual:,} at the top of the band",
    "loaded": "expected {expected!r} to be loaded; it is not in the request",
    "not_loaded": "expected {expected!r} not to be loaded; it is in the request",
    "dropped": "expected {expected!r} to be dropped; it was not",
    "required_evidence": "required evidence {expected!r} is not in the request",
    "must_contain": "the request does not contain {expected!r}",
    "must_not_contain": "the request contains {expected!r}",
}


def failed(request: Request, expectations: Sequence[Expectation]) -> tuple[Finding, ...]:
    return tuple(
        faults.fault(
            request.project,
            "unexpected-outcome" if e.key == "outcome" else "expectation-failed",
            _FAILED.get(e.key, "expected {key} {expected!r}, got {actual!r}").format(
                key=e.key, expected=e.expected, actual=e.actual
            ),
            at=e.origin,
            fixture=request.fixture.id,
            help="`ctxc explain " + request.fixture.id + "` shows the decisions",
            data={"key": e.key, "expected": e.expected, "actual": e.actual},
        )
        for e in expectations
        if not e.held
    )


def exceeded(request: Request, trail: Trail, drafts: Mapping[str, Draft], allocation: Allocation, key: str) -> Package:
    """Required content does not fit: what is over, by how much, and what can be done."""
    for over in allocation.over:
        trail.decisions.append(
            Decision(
                section_id=over.section_id,
                stage="allocate",
                verdict="refused",
                reason=f"{over.what}: {over.tokens:,} tokens, {over.excess:,} over {over.limit:,}",
                before=over.tokens,
                after=over.limit,
            )
        )
    required = [d for d in order(request, list(drafts.values())) if d.section.required]
    for draft in drafts.values():
        state = trail.states.get(draft.section.section_id)
        if state is not None:
            trail.states[draft.section.section_id] = replace(state, loaded="no:budget_exceeded")
    over_data = [
        {"section_id": o.section_id, "what": o.what, "tokens": o.tokens, "limit": o.limit, "over": o.excess}
        for o in allocation.over
    ]
    largest = sorted(required, key=lambda d: (-d.tokens, d.section.section_id))[:5]
    message = "; ".join(
        f"{o.section_id or o.what} {o.tokens:,} tokens, {o.excess:,} over {o.limit:,}" for o in allocation.over
    )
    package = ended(
        request,
        trail,
        Outcome.BUDGET_EXCEEDED,
        key,
        placed=place(required, {}),
        remedies=remedies(required),
        over=over_data,
    )
    if package.expectations and not package.expectations[0].held:
        finding = faults.fault(
            request.project,
            "budget-exceeded",
            f"CONTEXT_BUDGET_EXCEEDED: {message}",
            at=request.template.origin,
            fixture=request.fixture.id,
            help="largest: "
            + ", ".join(f"{d.section.section_id} {d.tokens:,}" for d in largest)
            + f"; remedies: {', '.join(remedies(required))}",
            data={"over": over_data},
        )
        package = replace(package, findings=(*package.findings, finding))
    return package


def remedies(required: Sequence[Draft]) -> tuple[str, ...]:
    """What could make the required part smaller, in the order in which to try it."""
    found = []
    kinds = {d.section.kind.value for d in required}
    if kinds & {"evidence", "tool_result", "memory"}:
        found.append("retrieve_more")  # narrower candidates instead of whole documents
    if any(d.section.tier >= Tier.P1 and not d.section.cacheable for d in required):
        found.append("compress")
    found.extend(("split_task", "ask"))
    return tuple(found)


def ended(
    request: Request,
    trail: Trail,
    outcome: Outcome,
    key: str,
    *,
    placed: tuple[Placed, ...] = (),
    findings: tuple[Finding, ...] = (),
    remedies: Sequence[str] = (),
    over: Sequence[Mapping[str, Any]] = (),
) -> Package:
    """A package without a request."""
    expectations = expect.check(request.fixture, outcome, (), trail.dropped, None, ())
    expected = request.fixture.expect.outcome == outcome.value
    return Package(
        fixture_id=request.fixture.id,
        outcome=outcome,
        snapshot=snapshot(
            request,
            outcome=outcome,
            placed=placed,
            dropped=trail.dropped,
            decisions=trail.decisions,
            states=tuple(trail.states.values()),
            conflicts=trail.conflicts,
            compression=(),
            rendered=None,
            count=None,
            overhead=0,
            buckets={},
            remedies=remedies,
            over=over,
        ),
        placed=placed,
        dropped=tuple(trail.dropped),
        decisions=tuple(trail.decisions),
        states=tuple(trail.states.values()),
        conflicts=tuple(trail.conflicts),
        required_capabilities=required_capabilities(request),
        expectations=expectations,
        findings=(*(() if expected else findings), *failed(request, expectations)),
        dependencies=trail.paths(),
        route_key=key,
    )
