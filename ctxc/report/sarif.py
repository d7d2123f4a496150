"""SARIF 2.1.0: one run, paths relative to the repository, suppressed findings with their suppression."""

from __future__ import annotations

from typing import Any

from ctxc.base.spans import Location
from ctxc.model.finding import Finding, Severity
from ctxc.model.report import Report
from ctxc.report import View
from ctxc.report._encode import sarif_message, uri_path, visible
from ctxc.report._json import dump
from ctxc.report._tally import plural, worst_first

MAX_RESULTS = 5000
"""GitHub accepts 25,000 results a run and keeps the 5,000 worst (its SARIF support page)."""

MAX_RELATED = 100
"""Related places that GitHub shows of one result."""

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def render(report: Report, view: View) -> str:
    """The log file. What exceeds the limit is named in a notification, never left out silently."""
    everything = (*report.findings, *report.suppressed)
    kept = worst_first(everything)[:MAX_RESULTS] if len(everything) > MAX_RESULTS else list(everything)
    codes = sorted({f.code for f in kept})
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "ctxc",
                "semanticVersion": report.version,
                "rules": [_rule(code, report, kept) for code in codes],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(f, codes, view) for f in kept],
        "invocations": [{"executionSuccessful": True}],
    }
    left = len(everything) - len(kept)
    if left:
        text = f"{plural(left, 'finding')} of the lowest severity left out: at most {MAX_RESULTS} are reported"
        run["invocations"][0]["toolExecutionNotifications"] = [{"level": "warning", "message": {"text": text}}]
    log = {"version": "2.1.0", "$schema": "https://json.schemastore.org/sarif-2.1.0.json", "runs": [run]}
    return dump(log) + "\n"


def _rule(code: str, report: Report, findings: list[Finding]) -> dict[str, Any]:
    known = report.rules.get(code)
    name = known.name if known else next(f.name for f in findings if f.code == code)
    rule: dict[str, Any] = {"id": code, "name": name, "shortDescription": {"text": name}}
    if known and known.summary:
        rule["fullDescription"] = {"text": known.summary}
    if known and known.help:
        rule["help"] = {"text": known.help}
    if known and known.url:
        rule["helpUri"] = known.url
    return rule


def _result(finding: Finding, codes: list[str], view: View) -> dict[str, Any]:
    text = finding.message + (f" (fixture {finding.fixture})" if finding.fixture else "")
    text += f" Help: {finding.help}" if finding.help else ""
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": codes.index(finding.code),
        "level": _LEVELS[finding.severity],
        "message": {"text": sarif_message(text)},
        "locations": [{"physicalLocation": _place(finding.location, view)}],
        "partialFingerprints": {"ctxc/v1": finding.fingerprint},
    }
    if finding.related:
        result["relatedLocations"] = [
            {"id": i, "physicalLocation": _place(r.location, view), "message": {"text": sarif_message(r.message)}}
            for i, r in enumerate(finding.related[:MAX_RELATED])
        ]
    if finding.suppressed is not None:
        in_source = finding.suppressed.kind in ("inline", "file")
        result["suppressions"] = [
            {
                "kind": "inSource" if in_source else "external",
                "justification": visible(finding.suppressed.reason or finding.suppressed.kind),
            }
        ]
    return result


def _place(location: Location, view: View) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": uri_path(view.in_repository(location.path))}}
    span = location.span
    if span is not None:
        place["region"] = {
            "startLine": span.line,
            "startColumn": span.column,
            "endLine": span.end_line,
            "endColumn": span.end_column,
        }
    return place
