"""Assessments of a prompt cache as ``ctxc.cache/1``. Amounts of money are decimal texts in US dollars."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from ctxc.model.usage import Call, Cost, Difference, MarkUse, Recorded, Totals
from ctxc.report._json import dump
from ctxc.usage.placement import Advice, Placement
from ctxc.usage.price import dollars, per_thousand
from ctxc.usage.sequence import Assessment

CACHE_SCHEMA = "ctxc.cache/1"


def cache_json(assessments: Sequence[Assessment]) -> str:
    """One canonical JSON document: all calls in order, the sequences that they belong to, and the sums."""
    calls = [
        _call(a, call, cost, number)
        for a in assessments
        for number, (call, cost) in enumerate(zip(a.calls, a.costs, strict=True))
    ]
    value = {
        "schema": CACHE_SCHEMA,
        "calls": calls,
        "sequences": [_sequence(a) for a in assessments],
        "totals": _totals([a.simulation.totals for a in assessments], [a.cost for a in assessments]),
    }
    return dump(value) + "\n"


def _call(assessment: Assessment, call: Call, cost: Cost | None, number: int) -> dict[str, Any]:
    latency = assessment.latency[number]
    return {
        "sequence": assessment.id,
        "id": call.id,
        "at": call.at,
        "weight": call.weight,
        "input": call.input,
        "read": call.read,
        "written": call.written,
        "uncached": call.uncached,
        "output": call.output,
        "written_by_ttl": dict(call.written_by_ttl),
        "reason": call.reason,
        "detail": call.detail,
        "lost": call.lost,
        "first_difference": _difference(call.difference),
        "marks": [_mark(m) for m in call.marks],
        "method": call.method,
        "error_low_bp": call.error_low_bp,
        "error_high_bp": call.error_high_bp,
        "band": {name: list(_band(getattr(call, name), call)) for name in ("input", "read", "written", "uncached")},
        "guaranteed": call.guaranteed,
        "recorded": _recorded(call.recorded),
        "cost": _cost(cost),
        "latency_model_ms": None
        if latency is None
        else {"first_token": latency.first_token_ms, "total": latency.total_ms},
    }


def _band(tokens: int, call: Call) -> tuple[int, int]:
    low, high = -(-tokens * call.error_low_bp // 10_000), -(-tokens * call.error_high_bp // 10_000)
    return max(0, tokens - low), tokens + high


def _difference(difference: Difference | None) -> dict[str, Any] | None:
    if difference is None:
        return None
    return {
        "change": difference.change,
        "reason": difference.reason,
        "certain": difference.certain,
        "id": difference.id,
        "pointer": difference.pointer,
        "zone": difference.zone,
        "byte": difference.byte,
        "tokens": difference.tokens,
        "other": difference.other,
    }


def _mark(mark: MarkUse) -> dict[str, Any]:
    return {
        "id": mark.id,
        "pointer": mark.pointer,
        "ttl": mark.ttl,
        "tokens": mark.tokens,
        "outcome": mark.outcome,
        "implicit": mark.implicit,
    }


def _recorded(recorded: Recorded | None) -> dict[str, Any] | None:
    if recorded is None:
        return None
    return {
        "input": recorded.input,
        "read": recorded.read,
        "written": recorded.written,
        "output": recorded.output,
        "written_by_ttl": dict(recorded.written_by_ttl),
    }


def _cost(cost: Cost | None) -> dict[str, str] | None:
    if cost is None:
        return None
    return {
        "total": dollars(cost.total),
        "uncached": dollars(cost.uncached),
        "read": dollars(cost.read),
        "written": dollars(cost.written),
        "output": dollars(cost.output),
        "without_cache": dollars(cost.without_cache),
    }


def _sequence(a: Assessment) -> dict[str, Any]:
    calls = a.simulation.totals.calls
    return {
        "id": a.id,
        "kind": a.kind,
        "provider": a.provider,
        "model": a.model,
        "as_of": a.as_of,
        "tokenizer": a.tokenizer,
        "mode": a.rules.mode,
        "min_tokens": a.rules.min_tokens,
        "max_breakpoints": a.rules.max_breakpoints,
        "prices": None
        if a.prices is None
        else {"model": a.prices.model, "source": a.prices.source, "date": a.prices.date, "currency": "USD"},
        "totals": _totals([a.simulation.totals], [a.cost]),
        "per_1000_requests": None
        if a.cost is None
        else {
            "simulated": dollars(_shown(per_thousand(a.cost.total, calls))),
            "cold": _amount(a.cold, calls),
            "warm": _amount(a.warm, calls),
            "without_cache": dollars(_shown(per_thousand(a.cost.without_cache, calls))),
        },
        "compaction": _compaction(a),
        "breakpoints": _advice(a.advice),
        "turns": [
            {
                "id": t.id,
                "append_only": t.difference is None,
                "kept": t.kept,
                "before": t.before,
                "first_difference": _difference(t.difference),
                "tools_stable": t.tools.is_stable,
            }
            for t in a.turns
        ],
        "notes": list(a.notes),
    }


def _amount(cost: Decimal | None, calls: int) -> str | None:
    return None if cost is None else dollars(_shown(per_thousand(cost, calls)))


def _shown(amount: Decimal) -> Decimal:
    """An average need not end: nine places are a thousandth of a thousandth of a cent."""
    return amount.quantize(Decimal("0.000000001"))


def _compaction(a: Assessment) -> dict[str, Any] | None:
    if a.compaction is None:
        return None
    found = a.compaction
    return {
        "history": found.history,
        "summary": found.summary,
        "prefix": found.prefix,
        "once": dollars(found.result.once),
        "saved_each": dollars(found.result.saved_each),
        "pays_after": found.result.pays_after,
    }


def _advice(advice: Advice | None) -> dict[str, Any] | None:
    if advice is None:
        return None
    return {
        "present": _placement(advice.present),
        "best": _placement(advice.best),
        "others": [_placement(p) for p in advice.others],
        "without_cache": dollars(advice.none.cost),
        "saves": dollars(advice.present.cost - advice.best.cost),
        "is_present": advice.is_present,
        "tried": advice.tried,
        "calls": advice.calls,
        "unit": "plain input tokens" if advice.relative else "USD",
    }


def _placement(placement: Placement) -> dict[str, Any]:
    return {
        "after": [
            {"id": c.id, "zone": c.zone, "tokens": c.tokens, "ttl": ttl}
            for c, ttl in zip(placement.candidates, placement.ttls, strict=True)
        ],
        "mode": placement.mode,
        "read": placement.read,
        "written": placement.written,
        "cost": dollars(placement.cost),
    }


def _totals(totals: Sequence[Totals], costs: Sequence[Cost | None]) -> dict[str, Any]:
    read, total = sum(t.read for t in totals), sum(t.input for t in totals)
    known = [c for c in costs if c is not None]
    return {
        "calls": sum(t.calls for t in totals),
        "input": total,
        "read": read,
        "written": sum(t.written for t in totals),
        "uncached": sum(t.uncached for t in totals),
        "output": sum(t.output for t in totals),
        "hit_rate_bp": 10_000 * read // total if total else 0,
        "cost": dollars(sum((c.total for c in known), Decimal(0))) if len(known) == len(costs) else None,
        "cost_without_cache": dollars(sum((c.without_cache for c in known), Decimal(0)))
        if len(known) == len(costs)
        else None,
    }
