"""What a cache makes of a sequence of calls, as one self-contained page: no script, no request to anywhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from ctxc.model.usage import Call
from ctxc.report._cache_text import about, after, agrees, amount, money, percent, present_marks, shown_record
from ctxc.report._encode import visible
from ctxc.report._run import number
from ctxc.usage.price import per_thousand, saved_bp
from ctxc.usage.sequence import SUMMARY_PERCENT, Assessment

_STYLE = """
:root { color-scheme: light dark; --ink: #1c2430; --dim: #5c6876; --line: #d7dde4; --page: #fbfcfd; --card: #ffffff;
  --read: #1f8a5b; --written: #c98a12; --full: #b9c3ce; --bad: #b3361f; --mark: #1c2430; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6ebf0; --dim: #9aa7b4; --line: #33404d; --page: #14191f;
  --card: #1b222a; --read: #3fbf87; --written: #e0a93a; --full: #4a5764; --bad: #f0806b; --mark: #e6ebf0; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); margin: 2rem auto;
  max-width: 68rem; padding: 0 1rem; }
h1 { font-size: 1.3rem; } h2 { font-size: 1.1rem; margin: 0; overflow-wrap: anywhere; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 1rem 1.2rem;
  margin: 1rem 0; }
.dim { color: var(--dim); } .bad { color: var(--bad); }
.sums { display: flex; flex-wrap: wrap; gap: .6rem 2.2rem; margin: .8rem 0; }
.sums div { min-width: 8rem; } .sums b { display: block; font-size: 1.25rem; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th { text-align: left; color: var(--dim); font-weight: 600; font-size: .82rem; }
th, td { padding: .3rem .5rem; border-bottom: 1px solid var(--line); vertical-align: middle; }
td.n, th.n { text-align: right; white-space: nowrap; }
td.call { min-width: 11rem; overflow-wrap: anywhere; } td.bar { width: 28%; min-width: 5rem; }
tr.open td { border-bottom: 0; }
tr.why td { padding-top: 0; color: var(--dim); overflow-wrap: anywhere; }
.strip { position: relative; display: flex; height: 1.15rem; border-radius: 3px; background: transparent; }
.strip span { height: 100%; } .read { background: var(--read); } .written { background: var(--written); }
.full { background: var(--full); }
.strip i { position: absolute; top: -3px; bottom: -3px; width: 2px; background: var(--mark); }
.legend { white-space: nowrap; }
.key { display: inline-block; width: .8rem; height: .8rem; border-radius: 2px; vertical-align: -1px;
  margin-left: 1rem; }
.key.mark { width: 2px; background: var(--mark); }
ul { padding-left: 1.2rem; margin: .4rem 0; } li { overflow-wrap: anywhere; }
@media (max-width: 50rem) { table { font-size: .8rem; } th, td { padding: .3rem .2rem; } td.call { min-width: 6rem; } }
code { font: .88em ui-monospace, monospace; }
"""


def cache_html(assessments: Sequence[Assessment]) -> str:
    """The page. Every text that somebody else wrote is escaped; the page's own policy lets nothing be loaded."""
    body = "\n".join(line for a in assessments for line in _one(a))
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>ctxc cache</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>What the prompt cache does</h1>\n"
        '<p class="dim">Simulated from the rules of the provider\'s profile; nothing was sent.'
        ' <span class="legend"><span class="key read"></span> read</span>'
        ' <span class="legend"><span class="key written"></span> written</span>'
        ' <span class="legend"><span class="key full"></span> paid in full</span>'
        ' <span class="legend"><span class="key mark"></span> breakpoint</span></p>\n'
        f"{body}\n</body>\n</html>\n"
    )


def _text(text: str) -> str:
    return escape(visible(text))


def _one(a: Assessment) -> Iterator[str]:
    totals = a.simulation.totals
    yield "<section>"
    yield f"<h2>{_text(a.id)}</h2>"
    yield f'<p class="dim">{_text(a.kind)} · {_text(a.model)} on {_text(a.provider)} · {_text(about(a))}</p>'
    yield '<div class="sums">'
    yield _sum("hit rate", percent(totals.hit_rate_bp), f"{number(totals.read)} of {number(totals.input)} tokens")
    if a.cost is not None:
        saved = saved_bp(a.cost.total, a.cost.without_cache)
        yield _sum("cost", money(a.cost.total), f"{money(a.cost.without_cache)} without a cache")
        yield _sum("saved", percent(saved), "against no cache")
        each = money(per_thousand(a.cost.total, totals.calls))
        spread = ""
        if a.cold is not None and a.warm is not None:
            cold, warm = (money(per_thousand(c, totals.calls)) for c in (a.cold, a.warm))
            spread = f"cold {cold}, warm {warm}"
        yield _sum("per 1,000 requests", each, spread)
    yield "</div>"
    yield from _table(a)
    yield from _breakpoints(a)
    yield from _turns(a)
    if a.compaction is not None:
        found = a.compaction.result
        pays = "never" if found.pays_after is None else f"after {number(found.pays_after)} more requests"
        yield (
            f"<p>Compacting {number(a.compaction.history)} tokens of history to {SUMMARY_PERCENT}% would cost "
            f"{money(found.once)} once and save {money(found.saved_each)} with each later request: it pays {pays}.</p>"
        )
    yield from (f'<p class="dim">Note: {_text(n)}</p>' for n in a.notes)
    yield "</section>"


def _sum(name: str, value: str, about_it: str) -> str:
    return f'<div><span class="dim">{name}</span><b>{_text(value)}</b><span class="dim">{_text(about_it)}</span></div>'


def _table(a: Assessment) -> Iterator[str]:
    recorded = any(c.recorded is not None for c in a.calls)
    most = max((c.input for c in a.calls), default=1) or 1
    yield '<div class="scroll"><table><thead><tr><th>call</th><th></th>'
    heads = ["input", "read", "written", "in full", *(["recorded"] if recorded else []), "cost"]
    yield "".join(f'<th class="n">{h}</th>' for h in heads) + "<th>reason</th></tr></thead><tbody>"
    for call, cost in zip(a.calls, a.costs, strict=True):
        name = call.id if call.weight == 1 else f"{call.id} × {number(call.weight)}"
        numbers = [call.input, call.read, call.written, call.uncached]
        cells = [f'<td class="n">{number(n)}</td>' for n in numbers]
        if recorded:
            style = "n" if agrees(call) else "n bad"
            cells.append(f'<td class="{style}">{_text(shown_record(call))}</td>')
        cells.append(f'<td class="n">{_text(money(cost.total)) if cost is not None else "–"}</td>')
        cells.append(f'<td class="reason{" bad" if call.problems else ""}">{_text(call.reason)}</td>')
        row = ' class="open"' if call.detail else ""
        yield (
            f'<tr{row}><td class="call">{_text(name)}</td><td class="bar">{_bar(call, most)}</td>{"".join(cells)}</tr>'
        )
        if call.detail:
            yield f'<tr class="why"><td></td><td colspan="{len(cells) + 1}">{_text(call.detail)}</td></tr>'
    yield "</tbody></table></div>"


def _bar(call: Call, most: int) -> str:
    def width(tokens: int) -> str:
        return f"{10_000 * tokens // most / 100:.2f}%"

    parts = (("read", call.read), ("written", call.written), ("full", call.uncached))
    spans = "".join(
        f'<span class="{k}" style="width:{width(n)}" title="{number(n)} {k}"></span>' for k, n in parts if n
    )
    marks = "".join(
        f'<i style="left:{width(min(m.tokens, most))}" '
        f'title="{_text(f"{m.id}: {number(m.tokens)} tokens, {m.ttl}, {m.outcome}")}"></i>'
        for m in call.marks
    )
    return f'<div class="strip">{spans}{marks}</div>'


def _breakpoints(a: Assessment) -> Iterator[str]:
    advice = a.advice
    if advice is None:
        return
    yield "<h3>Breakpoints</h3><ul>"
    yield f"<li>now: {_text(present_marks(a))} ({_text(amount(advice, advice.present))})</li>"
    if advice.is_present:
        yield f"<li>none of {number(advice.tried)} other placements is cheaper</li>"
    else:
        saves = percent(saved_bp(advice.best.cost, advice.present.cost))
        best = f"{after(advice.best)} ({amount(advice, advice.best)}, {saves} less)"
        yield f"<li><b>best of {number(advice.tried)}: {_text(best)}</b></li>"
        yield from (f"<li class='dim'>{_text(after(o))} ({_text(amount(advice, o))})</li>" for o in advice.others)
    yield "</ul>"


def _turns(a: Assessment) -> Iterator[str]:
    if not a.turns:
        return
    broken = [t for t in a.turns if t.difference is not None]
    if not broken:
        yield "<p>Append-only: every turn extends the one before it.</p>"
        return
    yield f"<h3>{len(broken)} of {len(a.turns)} turns change what stood before</h3><ul>"
    for turn in broken:
        assert turn.difference is not None
        where = turn.difference.id or "the end"
        kept = f"{number(turn.kept)} of {number(turn.before)} tokens kept, then {where} differs"
        yield f"<li><code>{_text(turn.id)}</code>: {_text(kept)}</li>"
    yield "</ul>"
