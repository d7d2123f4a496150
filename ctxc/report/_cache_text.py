"""What a cache makes of a sequence of calls, for people at a terminal: a bar a call, the money, the breakpoints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

from ctxc.model.usage import Call
from ctxc.report import View
from ctxc.report._draw import Cell, Column, Table, draw_table
from ctxc.report._encode import shorten, visible
from ctxc.report._paint import paint
from ctxc.report._run import number
from ctxc.report._tally import plural
from ctxc.usage.placement import Advice, Candidate, Placement
from ctxc.usage.price import dollars, per_thousand, saved_bp
from ctxc.usage.sequence import SUMMARY_PERCENT, Assessment

READ, WRITTEN, FULL = "█", "▓", "░"
_BAR, _NARROW = 40, 24
_DETAILS = 24  # calls whose losses are told one by one


def cache_text(assessments: Sequence[Assessment], view: View) -> str:
    """All sequences, each under its own head."""
    return "\n".join("\n".join(_one(a, view)) + "\n" for a in assessments)


def _one(a: Assessment, view: View) -> Iterator[str]:
    yield _head(a, view)
    yield paint(f"  {about(a)}", "dim", view)
    yield ""
    yield draw_table(_table(a, view), view).rstrip("\n")
    yield paint(f"  {READ} read  {WRITTEN} written  {FULL} in full", "dim", view)
    yield ""
    yield from _sums(a, view)
    yield from _losses(a, view)
    yield from _turns(a, view)
    yield from _breakpoints(a, view)
    yield from (paint(f"  note: {visible(n)}", "dim", view) for n in a.notes)


def _head(a: Assessment, view: View) -> str:
    totals = a.simulation.totals
    what = plural(totals.calls, {"conversation": "turn", "traffic": "request"}.get(a.kind, "call"))
    name = paint(visible(a.id), "bold", view)
    return f"{name}  {a.kind}, {what}  {visible(a.model)} on {visible(a.provider)}"


def about(a: Assessment) -> str:
    """The rules that were applied, in one line."""
    rules = a.rules
    parts = [f"cache: {rules.mode.replace('_', ' ')}"]
    if rules.min_tokens:
        parts.append(f"from {number(rules.min_tokens)} tokens")
    if rules.max_breakpoints:
        parts.append(f"up to {rules.max_breakpoints} breakpoints")
    if rules.mode == "explicit" and rules.lookback > 1:
        parts.append(f"looked up {rules.lookback} positions back")
    if rules.granularity > 1:
        parts.append(f"in steps of {rules.granularity}")
    if rules.default_ttl:
        where = rules.default_ttl.startswith("in_")
        parts.append(f"kept {rules.default_ttl.replace('_', ' ')}" if where else f"for {rules.default_ttl}")
    parts.append(f"profile of {a.as_of}")
    return ", ".join(parts)


def _table(a: Assessment, view: View) -> Table:
    room = _NARROW if view.width is not None and view.width < 110 else _BAR
    most = max((c.input for c in a.calls), default=1) or 1
    recorded = any(c.recorded is not None for c in a.calls)
    priced = a.prices is not None
    columns = [
        Column(title="CALL", flexible=True),
        Column(title=""),
        Column(title="INPUT", right=True),
        Column(title="READ", right=True),
        Column(title="WRITTEN", right=True),
        Column(title="FULL", right=True),
    ]
    if recorded:
        columns.append(Column(title="RECORDED", right=True, spare=True))
    if priced:
        columns.append(Column(title="COST", right=True, spare=True))
    columns.append(Column(title="REASON", flexible=True))
    rows = []
    for number_, call in enumerate(a.calls):
        mark = "" if call.error_high_bp == call.error_low_bp == 0 else "~"
        name = call.id if call.weight == 1 else f"{call.id} × {number(call.weight)}"
        cells = [
            Cell(name),
            Cell(bar(call, most, room), "accent" if call.read else ""),
            Cell(mark + number(call.input)),
            Cell(number(call.read), "good" if call.read else "dim"),
            Cell(number(call.written), "warn" if call.written else "dim"),
            Cell(number(call.uncached)),
        ]
        if recorded:
            cells.append(Cell(shown_record(call), "" if agrees(call) else "warn"))
        if priced:
            cost = a.costs[number_]
            cells.append(Cell(money(cost.total) if cost is not None else "–", "dim"))
        bad = call.lost or call.problems
        cells.append(Cell(call.reason, "warn" if bad else "dim"))
        rows.append(tuple(cells))
    return Table(columns=tuple(columns), rows=tuple(rows))


def bar(call: Call, most: int, room: int) -> str:
    """A bar in proportion to the longest call: what was read, written and paid in full."""
    width = max(1, -(-call.input * room // most)) if call.input else 0
    read = call.read * width // max(call.input, 1)
    written = min(width - read, -(-call.written * width // max(call.input, 1)))
    return READ * read + WRITTEN * written + FULL * (width - read - written)


def shown_record(call: Call) -> str:
    """What the provider reported: read and written."""
    if call.recorded is None:
        return ""
    return f"{number(call.recorded.read)} + {number(call.recorded.written)}"


def agrees(call: Call) -> bool:
    """Whether what was recorded lies inside the band of what was simulated."""
    recorded = call.recorded
    if recorded is None:
        return True
    return all(
        tokens - -(-tokens * call.error_low_bp // 10_000) <= real <= tokens + -(-tokens * call.error_high_bp // 10_000)
        for tokens, real in ((call.read, recorded.read), (call.written, recorded.written))
    )


def money(amount: Decimal) -> str:
    """Dollars for people: at least two places, and four digits where there are fewer than a cent."""
    places = Decimal("0.01") if amount >= 1 else Decimal("0.0001") if amount >= Decimal("0.01") else Decimal("0.000001")
    return f"${amount.quantize(places):f}"


def percent(bp: int) -> str:
    """Basis points as percent with one place."""
    sign = "-" if bp < 0 else ""
    return f"{sign}{abs(bp) // 100}.{abs(bp) % 100 // 10}%"


def _sums(a: Assessment, view: View) -> Iterator[str]:
    totals = a.simulation.totals
    rate = paint(percent(totals.hit_rate_bp), "good" if totals.read else "warn", view)
    yield (
        f"  hit rate {rate}: {number(totals.read)} of {number(totals.input)} input tokens read from the cache, "
        f"{number(totals.written)} written, {number(totals.uncached)} in full"
    )
    if a.cost is not None:
        saved = saved_bp(a.cost.total, a.cost.without_cache)
        word = "saved" if saved >= 0 else "more"
        yield (
            f"  cost {money(a.cost.total)}, without a cache {money(a.cost.without_cache)}: "
            + paint(f"{percent(abs(saved))} {word}", "good" if saved >= 0 else "bad", view)
        )
        calls = totals.calls
        if a.cold is not None and a.warm is not None:
            yield (
                f"  per 1,000 requests {money(per_thousand(a.cost.total, calls))}"
                f" (cold {money(per_thousand(a.cold, calls))}, warm {money(per_thousand(a.warm, calls))},"
                f" without a cache {money(per_thousand(a.cost.without_cache, calls))})"
            )
    slow = [m for m in a.latency if m is not None]
    if slow:
        first = [m.first_token_ms for m in slow]
        yield (
            f"  first token after {_span(min(first), max(first))} ms by the profile's linear model "
            "(a model, not a measurement)"
        )
    if a.compaction is not None:
        found = a.compaction.result
        after = "never" if found.pays_after is None else f"after {number(found.pays_after)} more requests"
        yield (
            f"  compacting {number(a.compaction.history)} tokens of history to {SUMMARY_PERCENT}%: "
            f"{money(found.once)} once, {money(found.saved_each)} less each time; pays {after}"
        )


def _span(least: int, most: int) -> str:
    return number(least) if least == most else f"{number(least)} to {number(most)}"


def _losses(a: Assessment, view: View) -> Iterator[str]:
    told = [c for c in a.calls if c.detail or c.problems]
    if not told:
        return
    yield ""
    yield paint("  why not more was read", "bold", view)
    for call in told[:_DETAILS]:
        yield f"    {visible(call.id)}: {paint(visible(call.reason), 'warn', view)}: {visible(call.detail)}"
    if len(told) > _DETAILS:
        yield paint(f"    and {number(len(told) - _DETAILS)} more: --format json has all of them", "dim", view)


def _turns(a: Assessment, view: View) -> Iterator[str]:
    if not a.turns:
        return
    yield ""
    broken = [t for t in a.turns if t.difference is not None]
    if not broken:
        yield "  append-only: every turn extends the one before it"
    else:
        yield paint(f"  not append-only: {len(broken)} of {len(a.turns)} turns change what stood before", "warn", view)
        for turn in broken[:_DETAILS]:
            difference = turn.difference
            assert difference is not None
            yield (
                f"    {visible(turn.id)}: {number(turn.kept)} of {number(turn.before)} tokens kept, "
                f"then {visible(difference.id or 'the end')} differs"
            )
    unstable = [t for t in a.turns if not t.tools.is_stable]
    if unstable:
        names = ", ".join(visible(t.id) for t in unstable[:_DETAILS])
        yield paint(f"  the tools change at {names}", "warn", view)


def _breakpoints(a: Assessment, view: View) -> Iterator[str]:
    advice = a.advice
    if advice is None:
        return
    yield ""
    yield paint("  breakpoints", "bold", view)
    yield f"    now    {present_marks(a)}  {amount(advice, advice.present)}"
    if advice.is_present:
        yield f"    best   as they are: none of {number(advice.tried)} other placements is cheaper"
        return
    best = advice.best
    saves = saved_bp(best.cost, advice.present.cost)
    yield (
        f"    best   {after(best)}  {amount(advice, best)}: "
        + paint(f"{percent(saves)} less", "good", view)
        + paint(
            f"  ({number(advice.tried)} placements tried over {number(advice.calls)} calls, from a cold cache)",
            "dim",
            view,
        )
    )
    for other in advice.others[:2]:
        yield paint(f"    next   {after(other)}  {amount(advice, other)}", "dim", view)


def present_marks(a: Assessment) -> str:
    """After what the calls have their marks now."""
    marks = dict.fromkeys(f"{m.id} ({m.ttl})" for c in a.calls for m in c.marks)
    names = [visible(shorten(m, 60)) for m in marks]
    if len(names) > 4:
        names = [*names[:4], f"and {len(names) - 4} more"]
    return "after " + ", ".join(names) if names else "none"


def after(placement: Placement) -> str:
    """Where a placement puts its marks."""
    if not placement.candidates:
        text = "none"
    else:
        text = "after " + ", ".join(
            f"{place(c)} ({ttl})" for c, ttl in zip(placement.candidates, placement.ttls, strict=True)
        )
    return text + (f", mode {placement.mode}" if placement.mode else "")


def place(candidate: Candidate) -> str:
    """A candidate's name."""
    return visible(shorten(candidate.id, 60))


def amount(advice: Advice, placement: Placement) -> str:
    """What a placement comes to: dollars, or tokens of plain input where there are no prices."""
    if advice.relative:
        return f"as {number(int(placement.cost * 1_000_000))} plain input tokens"
    return money(placement.cost)


def explain_cache_text(a: Assessment, view: View) -> str:
    """The last call alone: what it reads and writes, and why not more."""
    call = a.calls[-1]
    lines = [
        (
            f"{paint(visible(call.id), 'bold', view)}  call {len(a.calls)} of {visible(a.id)}  "
            f"{visible(a.model)} on {visible(a.provider)}"
        ),
        paint(f"  {about(a)}", "dim", view),
        f"  {bar(call, call.input, _BAR)}",
        (
            f"  {number(call.input)} tokens: {number(call.read)} read, {number(call.written)} written, "
            f"{number(call.uncached)} in full"
        ),
        f"  reason  {paint(visible(call.reason), 'good' if call.reason == 'cache_hit' else 'warn', view)}"
        + (f": {visible(call.detail)}" if call.detail else ""),
    ]
    if call.difference is not None:
        found = call.difference
        lines.append(
            f"  first difference  {visible(found.id or 'the end')} in {found.zone or 'the request'}, "
            f"after {number(found.tokens)} tokens, byte {number(found.byte)} of it"
            + (f", {visible(found.pointer)}" if found.pointer else "")
            + ("" if found.certain else " (the provider does not say what this loses)")
        )
    if call.lost:
        lines.append(f"  lost    {number(call.lost)} tokens that the nearest earlier call had cached")
    for mark in call.marks:
        kind = "implicit breakpoint" if mark.implicit else "breakpoint"
        lines.append(
            f"  {kind} after {visible(mark.id)} ({mark.ttl}): {number(mark.tokens)} tokens, {visible(mark.outcome)}"
        )
    lines += [paint(f"  note: {visible(n)}", "dim", view) for n in a.notes]
    return "\n".join(lines) + "\n"


__all__ = ["cache_text", "dollars", "explain_cache_text"]
