"""An explanation as text and as ``ctxc.explain/1``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ctxc.model.explanation import Explanation, Spent, Trail
from ctxc.report import View
from ctxc.report._draw import Cell, Column, Node, Table, draw_table, draw_tree
from ctxc.report._encode import visible
from ctxc.report._json import dump
from ctxc.report._paint import Style, paint
from ctxc.report._run import SHOWN_OUTCOMES, number, share, tokens

EXPLAIN_SCHEMA = "ctxc.explain/1"
_BAR = 20
_STATES = ("discoverable", "selected", "loaded", "authorised")


def explain_json(explanation: Explanation) -> str:
    """The explanation as one canonical JSON document."""
    used = explanation.used or explanation.required or 0
    value = {
        "schema": EXPLAIN_SCHEMA,
        "fixture_id": explanation.fixture_id,
        "outcome": explanation.outcome,
        "used": explanation.used,
        "available": explanation.available,
        "required": explanation.required,
        "overhead": explanation.overhead,
        "exact": explanation.exact,
        "sections": [
            {
                "section_id": s.section_id,
                "slot": s.slot,
                "zone": s.zone,
                "kind": s.kind,
                "tokens": s.tokens,
                "share_bp": 10_000 * s.tokens // used if used else 0,
                "stable": s.stable,
                "truncated": s.truncated,
                "source": s.source,
            }
            for s in explanation.spent
        ],
        "dropped": [
            {
                "section_id": d.section_id,
                "kind": d.kind,
                "stage": d.stage,
                "reason": d.reason,
                "tokens": d.tokens,
                "detail": d.detail,
            }
            for d in explanation.lost
        ],
        "empty": [{"section_id": e.section_id, "reason": e.reason} for e in explanation.empty],
        "trails": [_trail_value(t) for t in explanation.trails],
        "ended": list(explanation.ended),
        "reply": explanation.reply,
    }
    return dump(value) + "\n"


def _trail_value(trail: Trail) -> dict[str, Any]:
    return {
        "candidate_id": trail.candidate_id,
        "placed": trail.placed,
        "stopped": trail.stopped,
        "states": {name: getattr(trail.state, name) for name in _STATES},
        "decisions": [
            {"stage": d.stage, "verdict": d.verdict, "reason": d.reason, "before": d.before, "after": d.after}
            for d in trail.decisions
        ],
        "facts": dict(trail.facts),
        "remedy": trail.remedy,
    }


def explain_text(explanation: Explanation, view: View) -> str:
    """The trails that were asked for, else the token tree and what was dropped."""
    parts = [_head(explanation, view)]
    if explanation.trails:
        parts += ["\n".join(_trail_lines(t, view)) + "\n" for t in explanation.trails]
    else:
        if explanation.ended:
            parts.append("".join(f"{line}\n" for line in _ended_lines(explanation, view)))
        if explanation.spent:
            parts.append(draw_tree(_tree(explanation), view))
        if explanation.over:
            parts.append("\n".join(_over_lines(explanation, view)) + "\n")
        if explanation.lost:
            parts.append(_dropped(explanation, view))
        if explanation.empty:
            parts.append(_empty(explanation, view))
    return "\n".join(parts)


def _ended_lines(explanation: Explanation, view: View) -> Iterator[str]:
    for reason in explanation.ended:
        yield visible(reason)
    if explanation.reply:
        yield f"  {paint('reply', 'dim', view)}  {visible(explanation.reply)}"


def _head(explanation: Explanation, view: View) -> str:
    good = explanation.outcome == "compiled"
    name = paint(visible(explanation.fixture_id), "bold", view)
    outcome = paint(SHOWN_OUTCOMES.get(explanation.outcome, explanation.outcome), "good" if good else "accent", view)
    parts = [f"{name}  {outcome}"]
    if explanation.used is not None:
        text = f"{tokens(explanation.used, exact=explanation.exact)} of {tokens(explanation.available)} tokens"
        parts.append(f"{text} ({share(explanation.used, explanation.available)})")
    about = " on ".join(t for t in (explanation.template, explanation.model) if t)
    if about:
        parts.append(paint(visible(about), "dim", view))
    return "  ".join(parts) + "\n"


def _tree(explanation: Explanation) -> Node:
    used = explanation.used or explanation.required or sum(s.tokens for s in explanation.spent)
    zones: dict[str, list[Spent]] = {}
    for spent in explanation.spent:
        zones.setdefault(spent.zone, []).append(spent)
    width = len(number(used))
    nodes: list[tuple[int, Node]] = []
    for zone, members in zones.items():
        total = sum(s.tokens for s in members)
        children = tuple(_slots(members, used, width))
        # A zone that is one section of the same name would only say everything twice.
        same = len(members) == 1 and members[0].section_id == zone
        node = children[0] if same else Node(label=_label(zone, total, used, width, "accent"), children=children)
        nodes.append((total, node))
    nodes.sort(key=lambda pair: -pair[0])
    below = [node for _, node in nodes]
    if explanation.framing:
        below.append(Node(label=_label("framing of the request", explanation.framing, used, width, "dim")))
    title = "request" if explanation.used is not None else "what has to be in the request"
    return Node(label=_label(title, used, used, width, "bold"), children=tuple(below))


def _slots(members: Sequence[Spent], used: int, width: int) -> Iterator[Node]:
    """The sections of a zone, largest first; those of one slot together, where there are several."""
    slots: dict[str, list[Spent]] = {}
    for spent in members:
        slots.setdefault(spent.slot, []).append(spent)
    for slot, group in sorted(slots.items(), key=lambda pair: -sum(s.tokens for s in pair[1])):
        leaves = tuple(Node(label=_leaf(s, used, width)) for s in group)
        if len(leaves) == 1:
            yield leaves[0]
        else:
            total = sum(s.tokens for s in group)
            title = f"{slot} ({len(group)})"
            yield Node(label=_label(title, total, used, width, ""), children=leaves)


def _leaf(spent: Spent, used: int, width: int) -> tuple[Cell, ...]:
    marks = [word for word, there in (("stable", spent.stable), ("cut", spent.truncated)) if there]
    label = _label(spent.section_id, spent.tokens, used, width, "")
    return (*label, Cell(f"  {', '.join(marks)}", "warn" if spent.truncated else "dim")) if marks else label


def _label(name: str, count: int, used: int, width: int, style: Style) -> tuple[Cell, ...]:
    percent = f"{(200 * count + used) // (2 * used)}%" if used else ""
    filled = -(-_BAR * count // used) if used else 0
    return (
        Cell(f"{number(count):>{width}} {percent:>4} "),
        Cell("█" * min(filled, _BAR), "accent"),
        Cell("·" * (_BAR - min(filled, _BAR)), "dim"),
        Cell(f" {name}", style),
    )


def _over_lines(explanation: Explanation, view: View) -> Iterator[str]:
    yield paint("What does not fit", "bad", view)
    for item in explanation.over:
        what = " ".join(str(item[key]) for key in ("what", "section_id") if item.get(key))
        size, over = (tokens(item[key], exact=explanation.exact) for key in ("tokens", "over"))
        band = ""
        if not item.get("section_id") and explanation.available not in (None, item["limit"]):
            band = f": {tokens(explanation.available)} less the error band of the count"
        yield visible(f"  {what}: {size} tokens, {over} over {number(item['limit'])}{band}")
    if explanation.remedies:
        yield f"  what a caller can do: {', '.join(explanation.remedies)}"


def _dropped(explanation: Explanation, view: View) -> str:
    columns = (
        Column(title="DROPPED", flexible=True),
        Column(title="STAGE"),
        Column(title="REASON"),
        Column(title="TOKENS", right=True),
        Column(title="DETAIL", flexible=True),
    )
    rows = tuple(
        (
            Cell(d.section_id),
            Cell(d.stage, "dim"),
            Cell(d.reason, "warn"),
            Cell(tokens(d.tokens)),
            Cell(d.detail, "dim"),
        )
        for d in explanation.lost
    )
    return draw_table(Table(columns=columns, rows=rows), view)


def _empty(explanation: Explanation, view: View) -> str:
    columns = (Column(title="EMPTY", flexible=True), Column(title="WHY", flexible=True))
    rows = tuple((Cell(e.section_id), Cell(e.reason, "dim")) for e in explanation.empty)
    return draw_table(Table(columns=columns, rows=rows), view)


def _trail_lines(trail: Trail, view: View) -> Iterator[str]:
    seen = trail.placed is not None
    answer = f"in the request, position {trail.placed}" if seen else f"not in the request: stopped at {trail.stopped}"
    if not seen and not trail.stopped:
        answer = "not in the request"
    yield f"{paint(visible(trail.candidate_id), 'bold', view)}  {paint(answer, 'good' if seen else 'bad', view)}"
    for name in _STATES:
        value = getattr(trail.state, name)
        yes = value == "yes"
        yield f"  {name:<13}{paint('yes' if yes else 'no', 'good' if yes else 'bad', view)}" + (
            "" if yes else f"  {visible(value.partition(':')[2])}"
        )
    facts = {k: v for k, v in trail.facts.items() if v not in (None, "", [], False) and k != "score"}
    if facts:
        yield paint("  facts", "bold", view)
        size = max(len(k) for k in facts)
        for key, value in facts.items():
            yield f"    {key:<{size}}  {visible(_fact(value))}"
    score = trail.facts.get("score")
    if score:
        yield paint(f"  score {score['total']}", "bold", view)
        for name, value, weight in score["terms"]:
            yield f"    {weight} × {name} {value}"
    if trail.decisions:
        yield paint("  trail", "bold", view)
        for decision in trail.decisions:
            change = ""
            if decision.before is not None or decision.after is not None:
                change = f"  {tokens(decision.before)} → {tokens(decision.after)} tokens"
            yield f"    {decision.stage:<10} {decision.verdict:<10} {visible(decision.reason)}{change}"
    if trail.remedy:
        yield f"  {paint('what would bring it in', 'bold', view)}: {visible(trail.remedy)}"


def _fact(value: Any) -> str:
    if value is True:
        return "yes"
    if isinstance(value, Mapping):
        return ", ".join(f"{k}: {_fact(v)}" for k, v in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return str(value)
