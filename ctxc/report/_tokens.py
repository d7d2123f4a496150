"""Counted tokens as text (largest first) and as ``ctxc.tokens/1``."""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.usage import Counted
from ctxc.report import View
from ctxc.report._draw import Cell, Column, Table, draw_table
from ctxc.report._encode import visible
from ctxc.report._json import dump
from ctxc.report._paint import paint
from ctxc.report._run import number
from ctxc.report._tally import plural

TOKENS_SCHEMA = "ctxc.tokens/1"
_SHOWN, _SHARES = 40, 20


def tokens_json(counted: Counted) -> str:
    """One canonical JSON document; parts in the order of the request, their tokens add up for a request."""
    count = counted.count
    value = {
        "schema": TOKENS_SCHEMA,
        "kind": counted.kind,
        "provider": counted.provider,
        "model": counted.model,
        "tokens": count.tokens,
        "low": _low(counted),
        "high": count.upper,
        "method": count.method,
        "tokenizer": count.tokenizer,
        "error_low_bp": count.error_low_bp,
        "error_high_bp": count.error_high_bp,
        "window": counted.window,
        "available": counted.available,
        "parts": [{"pointer": p.pointer, "tokens": p.tokens} for p in count.parts],
        "tools": [
            {"name": t.name, "sent_as": t.sent_as, "pointer": t.pointer, "tokens": t.tokens, "own": dict(t.own)}
            for t in counted.tools
        ],
        "recorded": None if counted.recorded is None else {"input": counted.recorded.input},
        "notes": list(counted.notes),
    }
    return dump(value) + "\n"


def _low(counted: Counted) -> int:
    count = counted.count
    return max(0, count.tokens - -(-count.tokens * count.error_low_bp // 10_000))


def tokens_text(counted: Counted, view: View, *, every: bool = False) -> str:
    """The count, its band, and where the tokens are, largest first; ``every`` part instead of the largest forty."""
    return "\n".join(_lines(counted, view, every)) + "\n"


def _lines(counted: Counted, view: View, every: bool) -> Iterator[str]:
    count = counted.count
    total = paint(number(count.tokens), "bold", view)
    banded = count.error_low_bp or count.error_high_bp
    band = f" ({number(_low(counted))} to {number(count.upper)})" if banded else ""
    noun = "token" if count.tokens == 1 else "tokens"
    yield f"{total} {noun}{band}  {visible(counted.model)} on {visible(counted.provider)}"
    share = -(-100 * count.tokens // counted.available) if counted.available else 0
    yield paint(
        f"  {_what(counted)}, {visible(count.method)} with {visible(count.tokenizer)}, "
        f"{share}% of the {number(counted.available)} tokens of input that the model takes",
        "dim",
        view,
    )
    if counted.recorded is not None:
        real = counted.recorded.input
        fits = _low(counted) <= real <= count.upper
        yield paint(
            f"  recorded: {number(real)} ({count.tokens - real:+,}), {'inside' if fits else 'outside'} the band",
            "good" if fits else "bad",
            view,
        )
    if counted.tools:
        yield ""
        yield draw_table(_tools(counted), view).rstrip("\n")
        yield from _renamed(counted, view)
    elif len(count.parts) > 1:
        yield ""
        yield draw_table(_parts(counted, every), view).rstrip("\n")
        left = len({p.pointer for p in count.parts}) - _SHOWN
        if left > 0 and not every:
            yield paint(f"  and {number(left)} smaller parts: -v shows all", "dim", view)
    for note in counted.notes:
        yield paint(f"  note: {visible(note)}", "dim", view)


def _what(counted: Counted) -> str:
    return {
        "request": "a request",
        "messages": "messages, as a request",
        "tools": "a list of tools, as the provider receives it",
        "json": "JSON, as the text that it is",
        "text": "plain text",
    }[counted.kind]


def _parts(counted: Counted, every: bool) -> Table:
    summed: dict[str, int] = {}
    for part in counted.count.parts:
        summed[part.pointer] = summed.get(part.pointer, 0) + part.tokens
    rows = sorted(summed.items(), key=lambda pair: (-pair[1], pair[0]))
    most = max((abs(n) for _, n in rows), default=1) or 1
    shown = rows if every else rows[:_SHOWN]
    return Table(
        columns=(
            Column(title="TOKENS", right=True),
            Column(title="", right=True),
            Column(title=""),
            Column(title="WHERE", flexible=True),
        ),
        rows=tuple(
            (
                Cell(number(tokens)),
                Cell(_percent(tokens, counted.count.tokens), "dim"),
                Cell("█" * max(0, -(-tokens * _SHARES // most)), "accent"),
                Cell(pointer or "(framing of the request)"),
            )
            for pointer, tokens in shown
        ),
    )


def _percent(tokens: int, total: int) -> str:
    return f"{100 * tokens // total}%" if total else ""


def _tools(counted: Counted) -> Table:
    tools = sorted(counted.tools, key=lambda t: (-t.tokens, t.name))
    most = max((t.tokens for t in tools), default=1) or 1
    return Table(
        columns=(
            Column(title="TOOL", flexible=True),
            Column(title="TOKENS", right=True),
            Column(title="", right=True),
            Column(title=""),
            Column(title="NOT SENT", flexible=True),
        ),
        rows=tuple(
            (
                Cell(t.name if t.sent_as == t.name else f"{t.name} → {t.sent_as}"),
                Cell(number(t.tokens)),
                Cell(_percent(t.tokens, counted.count.tokens), "dim"),
                Cell("█" * max(0, -(-t.tokens * _SHARES // most)), "accent"),
                Cell(", ".join(f"{k} {number(n)}" for k, n in t.own.items()), "dim"),
            )
            for t in tools
        ),
    )


def _renamed(counted: Counted, view: View) -> Iterator[str]:
    kept_back = sum(n for t in counted.tools for n in t.own.values())
    if kept_back:
        yield paint(f"  {number(kept_back)} tokens of the list's own fields reach no provider", "dim", view)
    renamed = sum(t.sent_as != t.name for t in counted.tools)
    if renamed:
        yield paint(
            f"  {plural(renamed, 'name')} not legal for {visible(counted.provider)}: sent under another", "warn", view
        )
