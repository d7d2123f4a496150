"""One line a finding, ``path:line:col: CTX201 error message``, for editors and for grep."""

from __future__ import annotations

from ctxc.model.finding import Finding
from ctxc.model.report import CompileRun, Report, Row
from ctxc.report import View
from ctxc.report._encode import visible
from ctxc.report._frame import severity_style
from ctxc.report._paint import paint
from ctxc.report._run import share, spent, tokens


def render(report: Report, view: View) -> str:
    """The findings, one a line."""
    return "".join(_line(f, view) + "\n" for f in report.findings)


def render_run(run: CompileRun, view: View) -> str:
    """One line a fixture, then the findings."""
    return "".join(_row(c.row) + "\n" for c in run.compiled) + render(run.report, view)


def _line(finding: Finding, view: View) -> str:
    severity = paint(finding.severity.label, severity_style(finding.severity), view)
    fixture = f" (fixture {visible(finding.fixture)})" if finding.fixture else ""
    place = visible(str(finding.location))
    return f"{place}: {visible(finding.code)} {severity} {visible(finding.message)}{fixture}"


def _row(row: Row) -> str:
    used = f"{spent(row)} of {tokens(row.available)} tokens" if row.used is not None else spent(row)
    if row.used is None and row.over:
        used = f"{spent(row)} {tokens(row.held_against)} tokens"
    percent = share(row.used, row.available)
    parts = [
        f"{visible(row.fixture_id)}: {row.outcome}{'' if row.ok else ' (not as expected)'}",
        used + (f" ({percent})" if percent else ""),
        f"{row.kept} kept",
        f"{row.cut} cut",
        f"{row.dropped} dropped",
        f"prefix {tokens(row.prefix)}",
    ]
    return ", ".join(parts)
