"""Findings and reports as plain values, in the shape of ``ctxc.report/1``."""

from __future__ import annotations

from typing import Any

from ctxc.base.canonical import canonical
from ctxc.base.escaping import inert_json
from ctxc.base.spans import Location
from ctxc.model.finding import Finding, Severity
from ctxc.model.report import Report

REPORT_SCHEMA = "ctxc.report/1"
COMPILE_SCHEMA = "ctxc.compile/1"


def dump(value: object) -> str:
    """Canonical JSON whose invisible characters are escapes: whatever reads it, a terminal too, is not acted upon."""
    return inert_json(canonical(value))


def location_value(location: Location) -> dict[str, Any]:
    """Path, range and pointer; the range is null where a whole file is meant."""
    span = location.span
    return {
        "path": location.path,
        "range": None
        if span is None
        else {
            "start": {"line": span.line, "column": span.column},
            "end": {"line": span.end_line, "column": span.end_column},
        },
        "pointer": location.pointer,
    }


def finding_value(finding: Finding, report: Report | None = None) -> dict[str, Any]:
    """Everything that a finding knows, in JSON's own types."""
    rule = report.rules.get(finding.code) if report is not None else None
    fix = finding.fix
    suppressed = finding.suppressed
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.label,
        "message": finding.message,
        "help": finding.help,
        **location_value(finding.location),
        "fixture": finding.fixture,
        "revision": finding.revision,
        "related": [{**location_value(r.location), "message": r.message} for r in finding.related],
        "fix": None
        if fix is None
        else {
            "title": fix.title,
            "safe": fix.safe,
            "edits": [{**location_value(e.location), "text": e.text} for e in fix.edits],
        },
        "url": rule.url if rule is not None else "",
        "fingerprint": finding.fingerprint,
        "suppressed": None
        if suppressed is None
        else {"kind": suppressed.kind, "reason": suppressed.reason, "until": suppressed.until},
        "data": dict(finding.data),
    }


def summary_value(report: Report) -> dict[str, Any]:
    """The tally."""
    return {
        "errors": report.count(Severity.ERROR),
        "warnings": report.count(Severity.WARNING),
        "notes": report.count(Severity.INFO),
        "suppressed": len(report.suppressed),
        "checked": dict(report.checked),
    }


def head_value(report: Report) -> dict[str, Any]:
    """What a report says before its findings."""
    return {
        "schema": REPORT_SCHEMA,
        "tool": {"name": "ctxc", "version": report.version, "command": report.command},
        "now": report.now,
        "base": dict(report.base) if report.base is not None else None,
        "head": dict(report.head) if report.head is not None else None,
        "policy": dict(report.policy) if report.policy is not None else None,
        "gates": [{"id": g.id, "status": g.status, "checked": g.checked, "message": g.message} for g in report.gates],
    }
