"""GitLab Code Quality: a JSON array; each fingerprint occurs once."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from ctxc.model.finding import Finding, Severity
from ctxc.model.report import Report
from ctxc.report import View
from ctxc.report._encode import visible
from ctxc.report._json import dump

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def render(report: Report, view: View) -> str:
    """The findings that count; GitLab knows no suppressed ones."""
    seen: dict[str, int] = {}
    issues = []
    for finding in report.findings:
        number = seen.get(finding.fingerprint, 0)
        seen[finding.fingerprint] = number + 1
        issues.append(_issue(finding, number, view))
    return dump(issues) + "\n"


def _issue(finding: Finding, number: int, view: View) -> dict[str, Any]:
    span = finding.location.span
    lines = {"begin": span.line, "end": max(span.line, span.end_line)} if span else {"begin": 1}
    fixture = f" (fixture {finding.fixture})" if finding.fixture else ""
    return {
        "description": visible(f"{finding.code} {finding.message}{fixture}"),
        "check_name": f"{finding.code} {finding.name}",
        "fingerprint": sha256(f"{view.folder}{finding.fingerprint}:{number}".encode()).hexdigest(),
        "severity": _SEVERITIES[finding.severity],
        "location": {"path": view.in_repository(finding.location.path), "lines": lines},
    }
