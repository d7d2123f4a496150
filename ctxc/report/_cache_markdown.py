"""What a cache makes of a sequence of calls, as Markdown for a pull request or a step summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxc.report._cache_text import about, after, amount, money, percent, present_marks, shown_record
from ctxc.report._encode import markdown_code, markdown_text
from ctxc.report._run import number
from ctxc.report.markdown import MAX_CHARACTERS
from ctxc.usage.price import per_thousand, saved_bp
from ctxc.usage.sequence import Assessment

_ROOM_FOR_NOTE = 200


def cache_markdown(assessments: Sequence[Assessment]) -> str:
    """One section a sequence; what exceeds the platform's limit is cut at a row, and it is said what was cut."""
    lines: list[str] = []
    size = cut = 0
    for line in (line for a in assessments for line in _one(a)):
        if size + len(line) + 1 > MAX_CHARACTERS - _ROOM_FOR_NOTE:
            cut += 1
            continue
        lines.append(line)
        size += len(line) + 1
    if cut:
        lines += ["", f"{number(cut)} more lines did not fit."]
    return "\n".join(lines) + "\n"


def _one(a: Assessment) -> Iterator[str]:
    totals = a.simulation.totals
    yield f"### ctxc cache: {markdown_code(a.id)}"
    yield ""
    yield f"{markdown_text(a.kind)}, {markdown_text(a.model)} on {markdown_text(a.provider)}; {markdown_text(about(a))}"
    yield ""
    recorded = any(c.recorded is not None for c in a.calls)
    yield "| call | input | read | written | in full |" + (" recorded |" if recorded else "") + " cost | reason |"
    yield "|---|---:|---:|---:|---:|" + ("---:|" if recorded else "") + "---:|---|"
    for call, cost in zip(a.calls, a.costs, strict=True):
        cells = [
            markdown_code(call.id if call.weight == 1 else f"{call.id} × {call.weight}").replace("|", "\\|"),
            number(call.input),
            number(call.read),
            number(call.written),
            number(call.uncached),
            *([markdown_text(shown_record(call))] if recorded else []),
            markdown_text(money(cost.total)) if cost is not None else "–",
            markdown_text(call.reason + (f": {call.detail}" if call.detail else "")),
        ]
        yield "| " + " | ".join(cells) + " |"
    yield ""
    yield f"Hit rate {percent(totals.hit_rate_bp)}: {number(totals.read)} of {number(totals.input)} input tokens."
    if a.cost is not None:
        saved = saved_bp(a.cost.total, a.cost.without_cache)
        yield markdown_text(
            f"Cost {money(a.cost.total)}, without a cache {money(a.cost.without_cache)} ({percent(saved)} saved); "
            f"per 1,000 requests {money(per_thousand(a.cost.total, totals.calls))}."
        )
    advice = a.advice
    if advice is not None:
        yield ""
        yield f"Breakpoints now: {markdown_text(present_marks(a))}, {markdown_text(amount(advice, advice.present))}."
        if advice.is_present:
            yield f"None of {number(advice.tried)} other placements is cheaper."
        else:
            saves = percent(saved_bp(advice.best.cost, advice.present.cost))
            best = f"Best: {after(advice.best)}, {amount(advice, advice.best)} ({saves} less)."
            yield markdown_text(best)
    for note in a.notes:
        yield ""
        yield f"Note: {markdown_text(note)}"
    yield ""
