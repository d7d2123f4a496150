"""For a pull request or a step summary: tables whose cells are inert, cut to the platform's limit and saying so."""

from __future__ import annotations

from collections.abc import Iterable

from ctxc.model.finding import Finding
from ctxc.model.report import CompileRun, Report
from ctxc.report import View
from ctxc.report._encode import markdown_code, markdown_text
from ctxc.report._frame import fixtures_told
from ctxc.report._run import outcome, run_summary, share, spent, tokens
from ctxc.report._tally import folded, plural, tally, worst_first

MAX_CHARACTERS = 65_536
"""Characters of a comment that GitHub accepts."""

_ROOM_FOR_NOTE = 200


def render(report: Report, view: View) -> str:
    """Findings as a table, worst first, then the gates and the tally."""
    head = f"### ctxc {report.command}: {tally(report)}\n"
    if report.gates:
        head += "\n| gate | status | checked | |\n|---|---|---:|---|\n"
        for gate in report.gates:
            about = f"{gate.status} | {gate.checked:,} | {markdown_text(gate.message)}"
            head += f"| {markdown_text(gate.id)} | {about} |\n"
    return _fit(head, finding_rows(report.findings), FINDING_HEAD, "finding")


def render_run(run: CompileRun, view: View) -> str:
    """Fixtures as a table, findings as another."""
    head = f"### ctxc compile: {run_summary(run)}\n"
    text = _fit(head, _run_rows(run, view), _RUN_HEAD, "fixture")
    if run.report.findings:
        text = _fit(text, finding_rows(run.report.findings), FINDING_HEAD, "finding")
    return text


_RUN_HEAD = (
    "\n| | fixture | outcome | tokens | of | | kept | cut | dropped | prefix |\n"
    "|---|---|---|---:|---:|---:|---:|---:|---:|---:|\n"
)
FINDING_HEAD = "\n| severity | code | where | what |\n|---|---|---|---|\n"


def _run_rows(run: CompileRun, view: View) -> Iterable[str]:
    for compiled in run.compiled:
        row = compiled.row
        cells = [
            "✓" if row.ok else "✗",
            cell_code(row.fixture_id),
            markdown_text(outcome(row, View())),
            spent(row),
            tokens(row.held_against),
            share(row.used, row.available),
            str(row.kept),
            str(row.cut),
            str(row.dropped),
            tokens(row.prefix),
        ]
        yield f"| {' | '.join(cells)} |\n"


def finding_rows(findings: tuple[Finding, ...]) -> Iterable[str]:
    """Rows under ``FINDING_HEAD``, worst first; what several fixtures have alike is one row."""
    for finding, fixtures in folded(worst_first(findings)):
        what = markdown_text(finding.message)
        if finding.help:
            what += f"<br>{markdown_text(finding.help)}"
        told = fixtures_told(fixtures, cell_code)
        what += f"<br>{told}" if told else ""
        place = cell_code(str(finding.location))
        yield f"| {finding.severity.label} | {markdown_text(finding.code)} | {place} | {what} |\n"


def cell_code(text: str) -> str:
    """A code span inside a table cell; a bar would end the cell, so such a text is plain words."""
    return markdown_text(text) if "|" in text else markdown_code(text)


def _fit(head: str, rows: Iterable[str], table_head: str, noun: str) -> str:
    """The head with as many rows as the limit allows, and how many were left out."""
    text, left, any_row = head, 0, False
    for row in rows:
        opening = "" if any_row else table_head
        if left or len(text) + len(opening) + len(row) > MAX_CHARACTERS - _ROOM_FOR_NOTE:
            left += 1
            continue
        text += opening + row
        any_row = True
    if left:
        text += f"\n{plural(left, noun)} left out: the limit is {MAX_CHARACTERS:,} characters.\n"
    return text
