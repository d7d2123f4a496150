"""One JSON document: ``ctxc.report/1``, or ``ctxc.compile/1`` for compiled fixtures. Canonical, one line."""

from __future__ import annotations

from typing import Any

from ctxc.base.escaping import inert_json
from ctxc.model.report import CompileRun, Report
from ctxc.report import View
from ctxc.report._json import COMPILE_SCHEMA, dump, finding_value, head_value, summary_value


def render(report: Report, view: View) -> str:
    """The report with its suppressed findings, which never leave a machine format."""
    return dump(report_value(report)) + "\n"


def report_value(report: Report) -> dict[str, Any]:
    """The report as plain values."""
    return {
        **head_value(report),
        "findings": [finding_value(f, report) for f in report.findings],
        "suppressed": [finding_value(f, report) for f in report.suppressed],
        "summary": summary_value(report),
    }


def render_run(run: CompileRun, view: View) -> str:
    """Packages in the order of their fixtures, then findings.

    Packages arrive as canonical text and are joined as such: a warm run of a thousand fixtures parses none of them.
    """
    findings = dump([finding_value(f, run.report) for f in run.report.findings])
    packages = ",".join(inert_json(c.package()) for c in run.compiled)
    return f'{{"findings":{findings},"packages":[{packages}],"schema":"{COMPILE_SCHEMA}"}}\n'
