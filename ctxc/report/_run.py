"""The table of ``ctxc compile``: one row a fixture."""

from __future__ import annotations

from collections.abc import Sequence

from ctxc.model.report import CompileRun, Row
from ctxc.report import View
from ctxc.report._draw import Cell, Column, Table, draw_table
from ctxc.report._paint import Style

SHOWN_OUTCOMES = {"budget_exceeded": "CONTEXT_BUDGET_EXCEEDED"}
"""Outcomes that people see under another name than machines do."""

SHORT_OUTCOMES = {
    "budget_exceeded": "over budget",
    "model_not_required": "no model",
    "capability_missing": "incapable",
}
"""The same where a terminal has no room."""

SHORT_BELOW = 110
"""Columns of a terminal below which outcomes are shortened and the template has no column of its own."""


def number(value: int) -> str:
    """A number with thousands separators, the same in every locale."""
    return f"{value:,}"


def tokens(value: int | None, *, exact: bool = True) -> str:
    """Tokens for people: ``~`` marks a count that has an error band, a dash one that was not made."""
    if value is None:
        return "–"
    return number(value) if exact else "~" + number(value)


def spent(row: Row) -> str:
    """Tokens of the request; where there is none, by how much what must be in it exceeds the budget."""
    if row.used is None and row.over:
        return f"{tokens(row.over, exact=row.exact)} over"
    return tokens(row.used, exact=row.exact)


def _sections(row: Row, count: int) -> str:
    return "–" if row.used is None else number(count)


def share(used: int | None, available: int | None) -> str:
    """Percent of the budget, rounded up, so that a request over its budget never reads 100%."""
    if used is None or not available:
        return ""
    return f"{-(-100 * used // available)}%"


def run_table(rows: Sequence[Row], view: View) -> str:
    """The table as text."""
    with_template = view.width is None or view.width >= SHORT_BELOW
    columns = [Column(title="FIXTURE", flexible=True)]
    if with_template:
        columns.append(Column(title="TEMPLATE", flexible=True, spare=True))
    columns += [
        Column(title="OUTCOME"),
        Column(title="TOKENS", right=True),
        Column(title="OF", right=True),
        Column(title="", name="percent", right=True, spare=True),
        Column(title="KEPT", right=True, spare=True),
        Column(title="CUT", right=True, spare=True),
        Column(title="DROP", right=True),
        Column(title="PREFIX", right=True, spare=True),
    ]
    lines: list[tuple[Cell, ...]] = []
    for row in rows:
        cells = [Cell(("✓ " if row.ok else "✗ ") + row.fixture_id, "" if row.ok else "bad")]
        if with_template:
            cells.append(Cell(row.template, "dim"))
        cells += [
            Cell(outcome(row, view), outcome_style(row)),
            Cell(spent(row), "bad" if row.over and not row.ok else ""),
            Cell(tokens(row.held_against), "dim"),
            Cell(share(row.used, row.available), _share_style(row)),
            Cell(_sections(row, row.kept), "" if row.kept else "dim"),
            Cell(_sections(row, row.cut), "warn" if row.cut else "dim"),
            Cell(number(row.dropped), "warn" if row.dropped else "dim"),
            Cell(tokens(row.prefix), "accent" if row.prefix else "dim"),
        ]
        lines.append(tuple(cells))
    left_out = () if with_template else ("TEMPLATE",)
    return draw_table(Table(columns=tuple(columns), rows=tuple(lines), left_out=left_out), view)


def outcome(row: Row, view: View) -> str:
    """The outcome as people see it, under its short name where there is no room."""
    if view.width is not None and view.width < SHORT_BELOW:
        return SHORT_OUTCOMES.get(row.outcome, row.outcome)
    return SHOWN_OUTCOMES.get(row.outcome, row.outcome)


def outcome_style(row: Row) -> Style:
    """Green where it is fine, red where it was not expected."""
    if not row.ok:
        return "bad"
    return "good" if row.outcome == "compiled" else "accent"


def _share_style(row: Row) -> Style:
    if row.used is None or not row.available:
        return ""
    return "bad" if row.used > row.available else "warn" if 10 * row.used > 9 * row.available else "dim"


def run_summary(run: CompileRun) -> str:
    """One line: how many fixtures, how many as expected."""
    total = len(run.compiled)
    wrong = sum(not c.row.ok for c in run.compiled)
    what = f"{number(total)} fixture{'s' if total != 1 else ''}"
    return f"{what}, all as expected" if total and not wrong else f"{what}, {number(wrong)} not as expected"
