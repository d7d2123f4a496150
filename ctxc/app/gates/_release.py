"""What a release report tells, from what the gates judged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ctxc.app.gates._shipped import compared, compared_prefixes, prefixes
from ctxc.model.measured import Measured
from ctxc.model.release import ChangeLine, CostLine, Release, Shipped, WaiverLine
from ctxc.model.report import Report
from ctxc.rules._money import thousand
from ctxc.usage.price import dollars

if TYPE_CHECKING:
    from ctxc.app.gates._side import GateSide
    from ctxc.app.gates._silence import WaiverUse
    from ctxc.model.change import Change

Cost = tuple[str, str]


def release_of(
    report: Report,
    head: GateSide,
    base: GateSide | None,
    change: Change | None,
    *,
    waivers: Iterable[WaiverUse],
    judged_by: tuple[str, ...],
    failed: bool,
) -> Release:
    """The release of a judged head."""
    mine = head.shipped
    lines = prefixes(head.measured.values())
    theirs = base.shipped if base is not None else ()
    moved = lost = 0
    if base is not None:
        lines = compared_prefixes(lines, prefixes(base.measured.values()))
        moved, lost = _moved(change)
    return Release(
        report=report,
        bundle=head.bundle(),
        base_bundle=base.bundle() if base is not None else "",
        shipped=_with_change(compared(mine, theirs), change) if base is not None else mine,
        prefixes=lines,
        costs=_costs(head.measured, base.measured if base is not None else None),
        changes=_changes(change),
        waivers=tuple(_waiver(w) for w in waivers),
        prices=tuple(sorted({m.price for m in head.measured.values() if m.price})),
        judged_by=judged_by,
        fixtures=len(head.measured),
        requests=sum(m.has_request for m in head.measured.values()),
        tokens_delta=_delta(head.measured, base.measured) if base is not None else None,
        prefixes_moved=moved,
        lost_tokens=lost,
        failed=failed,
    )


def _with_change(shipped: Iterable[Shipped], change: Change | None) -> tuple[Shipped, ...]:
    """The objects, and as changed also what is the same file with another meaning: a template whose text changed."""
    versions = change.versions if change is not None else ()
    changed = {(v.kind, v.id) for v in versions if v.content_changed}
    return tuple(
        replace(s, status="changed") if s.status == "same" and (s.kind, s.id) in changed else s for s in shipped
    )


def _waiver(use: WaiverUse) -> WaiverLine:
    waiver = use.waiver
    return WaiverLine(
        policy=use.policy,
        rule=waiver.rule,
        about=waiver.path or waiver.fingerprint,
        owner=waiver.owner,
        reason=waiver.reason,
        created=waiver.created,
        expires=waiver.expires,
        state=use.state,
        count=use.count,
    )


def _moved(change: Change | None) -> tuple[int, int]:
    totals = change.totals if change is not None else None
    return (totals.prefixes_moved, totals.lost_tokens) if totals is not None else (0, 0)


def _changes(change: Change | None) -> tuple[ChangeLine, ...]:
    """The fixtures that differ; the largest difference in tokens first."""
    if change is None:
        return ()
    lines = [
        ChangeLine(
            fixture=f.fixture_id,
            status=f.status,
            facets=f.facets,
            base_tokens=f.tokens.base,
            head_tokens=f.tokens.head,
            prefix_lost=f.prefix.lost_tokens if f.prefix is not None else 0,
        )
        for f in change.fixtures
        if f.status != "unchanged"
    ]
    return tuple(sorted(lines, key=lambda c: (-abs((c.head_tokens or 0) - (c.base_tokens or 0)), c.fixture)))


def _delta(head: Mapping[str, Measured], base: Mapping[str, Measured]) -> int:
    """Tokens more (or fewer) in all fixtures that have a request on both sides and one tokenizer."""
    total = 0
    for name, one in head.items():
        other = base.get(name)
        if one.tokens is None or other is None or other.tokens is None:
            continue
        if (one.tokenizer, one.method) == (other.tokenizer, other.method):
            total += one.tokens - other.tokens
    return total


def _costs(head: Mapping[str, Measured], base: Mapping[str, Measured] | None) -> tuple[CostLine, ...]:
    before = _by_cost(base.values()) if base is not None else {}
    found = []
    for (template, model), members in sorted(_by_cost(head.values()).items()):
        earlier = before.get((template, model), [])
        found.append(
            CostLine(
                template=template,
                model=model,
                fixtures=len(members),
                estimated=any(m.low != m.high for m in members),
                p50=_rank(members),
                most=max(m.tokens or 0 for m in members),
                cold=_money(members, "cold"),
                warm=_money(members, "warm"),
                ms=_longest(members),
                base_p50=_rank(earlier) if earlier else None,
                base_most=max((m.tokens or 0 for m in earlier), default=None),
                base_cold=_money(earlier, "cold") if earlier else "",
                base_warm=_money(earlier, "warm") if earlier else "",
                base_ms=_longest(earlier),
            )
        )
    return tuple(found)


def _by_cost(measured: Iterable[Measured]) -> dict[Cost, list[Measured]]:
    found: dict[Cost, list[Measured]] = {}
    for one in measured:
        if one.has_request:
            found.setdefault((one.template, one.model), []).append(one)
    return found


def _rank(members: Sequence[Measured]) -> int:
    """The median by nearest rank."""
    ordered = sorted(m.tokens or 0 for m in members)
    return ordered[(len(ordered) + 1) // 2 - 1]


def _money(members: Sequence[Measured], cache: str) -> str:
    amount = thousand(members, cache)
    return dollars(amount) if amount is not None else ""


def _longest(members: Sequence[Measured]) -> int | None:
    return max((m.latency_cold for m in members if m.latency_cold is not None), default=None)
