"""Annotations of GitHub Actions: at most ten of each severity in one step, worst first, then what is left."""

from __future__ import annotations

from collections.abc import Sequence

from ctxc.model.finding import Finding, Severity
from ctxc.model.report import CompileRun, Report
from ctxc.report import View
from ctxc.report._encode import annotation_data, annotation_property
from ctxc.report._frame import fixtures_told
from ctxc.report._tally import folded, plural

PER_SEVERITY = 10
"""Annotations that GitHub shows of each kind from one step (its documentation of workflow commands)."""

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(report: Report, view: View) -> str:
    """The annotations, one a line."""
    lines: list[str] = []
    left = 0
    for severity in sorted(_COMMANDS, reverse=True):
        found = folded(f for f in report.findings if f.severity is severity)
        # The last notice is kept free for the line that says how many are left.
        shown = found[: PER_SEVERITY - (severity is Severity.INFO)]
        left += sum(len(fixtures) for _, fixtures in found[len(shown) :])
        lines += [_annotation(f, fixtures, view) for f, fixtures in shown]
    if left:
        lines.append(f"::notice title=ctxc::{plural(left, 'more finding')} in the log of this step")
    return "".join(line + "\n" for line in lines)


def render_run(run: CompileRun, view: View) -> str:
    """The annotations of what a compile found."""
    return render(run.report, view)


def _annotation(finding: Finding, fixtures: Sequence[str], view: View) -> str:
    span = finding.location.span
    place = f"file={annotation_property(view.in_repository(finding.location.path))}"
    if span is not None:
        place += f",line={span.line},col={span.column}"
        if span.end_line == span.line and span.end_column > span.column:
            place += f",endColumn={span.end_column}"
        elif span.end_line > span.line:
            place += f",endLine={span.end_line}"
    title = annotation_property(f"{finding.code} {finding.name}")
    message = finding.message + (f"\n{finding.help}" if finding.help else "")
    told = fixtures_told(fixtures, str)
    message += "\n" + told.replace(" ", ": ", 1) if told else ""
    return f"::{_COMMANDS[finding.severity]} {place},title={title}::{annotation_data(message)}"
