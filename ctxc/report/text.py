"""For people: findings with the lines they are about; compiled fixtures as a table."""

from __future__ import annotations

from ctxc.model.finding import Severity
from ctxc.model.report import CompileRun, Report
from ctxc.report import View
from ctxc.report._encode import visible
from ctxc.report._frame import frames
from ctxc.report._paint import Style, paint
from ctxc.report._tally import plural, tally
from ctxc.report._wrap import hang

_GATE_MARKS = {"passed": "✓", "failed": "✗", "not_applicable": "–", "not_configured": "·", "not_checked": "?"}


def render(report: Report, view: View) -> str:
    """Findings as frames, worst last so that it stands above the prompt, then the gates and a tally."""
    return drawn(report, view, "")


def drawn(report: Report, view: View, more: str) -> str:
    """The same, with ``more`` between the gates and the tally."""
    parts = frames(report.findings, view)
    if view.verbosity > 0:
        parts += [_suppressed(report, view)] if report.suppressed else []
    if report.gates:
        parts.append(_gates(report, view))
    parts += [more] if more else []
    parts.append(_last_line(report, view))
    return "\n".join(parts)


def render_run(run: CompileRun, view: View) -> str:
    """The table, then what is wrong, then one line."""
    from ctxc.report._run import run_summary, run_table

    parts = [run_table([c.row for c in run.compiled], view)] if run.compiled else []
    parts += frames(run.report.findings, view)
    style: Style = "bad" if run.report.worst is Severity.ERROR or any(not c.row.ok for c in run.compiled) else "good"
    last = paint(run_summary(run), style, view)
    if run.report.findings or run.report.suppressed:
        last += f"; {tally(run.report)}"
    parts.append(last + "\n")
    return "\n".join(parts)


def _suppressed(report: Report, view: View) -> str:
    lines = []
    for finding in report.suppressed:
        how = finding.suppressed
        why = f"{how.kind}: {how.reason}" if how and how.reason else how.kind if how else ""
        until = f", until {how.until}" if how and how.until else ""
        text = f"{finding.location}: {finding.code} {finding.name} suppressed ({why}{until})"
        lines.append(paint(visible(text), "dim", view))
    return "\n".join(lines) + "\n"


def _gates(report: Report, view: View) -> str:
    width = max(len(g.id) for g in report.gates)
    lines = []
    for gate in report.gates:
        style: Style = "good" if gate.status == "passed" else "bad" if gate.status == "failed" else "dim"
        mark = paint(f"{_GATE_MARKS.get(gate.status, '?')} {gate.id:<{width}}", style, view)
        checked = f" ({gate.checked:,} checked)" if gate.checked else ""
        told = f"{gate.status}{checked}{'  ' + visible(gate.message) if gate.message else ''}"
        lines.append(hang(f"{mark}  ", told, view.width))
    return "\n".join(lines) + "\n"


def _last_line(report: Report, view: View) -> str:
    worst = report.worst
    style: Style = "good" if worst is None else "bad" if worst is Severity.ERROR else "warn"
    index = report.command == "lint" and report.head is not None and report.head.get("kind") == "index"
    looked_at = ", ".join(
        plural(count, what) + (" of the index" if index and what == "file" else "")
        for what, count in report.checked.items()
    )
    as_of = f", as of {report.now}" if report.now else ""
    return paint(tally(report), style, view) + (f" in {looked_at}" if looked_at else "") + as_of + "\n"
