"""One JSON value a line: a head, then packages or findings, then the tally; ``type`` says which."""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.base.escaping import inert_json
from ctxc.model.finding import Finding
from ctxc.model.report import CompileRun, Report
from ctxc.report import View
from ctxc.report._json import COMPILE_SCHEMA, dump, finding_value, head_value, summary_value


def render(report: Report, view: View) -> str:
    """Head, findings, suppressed findings, tally."""
    lines = [dump({"type": "head", **head_value(report)})]
    lines += _findings(report)
    lines.append(dump({"type": "summary", **summary_value(report)}))
    return "\n".join(lines) + "\n"


def render_run(run: CompileRun, view: View) -> str:
    """Head, packages, findings, tally."""
    tool = {"name": "ctxc", "version": run.report.version, "command": run.report.command}
    lines = [dump({"type": "head", "schema": COMPILE_SCHEMA, "tool": tool})]
    lines += [f'{{"package":{inert_json(c.package())},"type":"package"}}' for c in run.compiled]
    lines += _findings(run.report)
    lines.append(dump({"type": "summary", **summary_value(run.report)}))
    return "\n".join(lines) + "\n"


def _findings(report: Report) -> Iterator[str]:
    groups: tuple[tuple[str, tuple[Finding, ...]], ...] = (
        ("finding", report.findings),
        ("suppressed", report.suppressed),
    )
    for kind, findings in groups:
        for finding in findings:
            yield dump({"type": kind, "finding": finding_value(finding, report)})
