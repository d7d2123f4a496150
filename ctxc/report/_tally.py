"""The last line of a report: how many findings, of which severity, and how many do not count."""

from __future__ import annotations

from ctxc.model.finding import Finding, Severity
from ctxc.model.report import Report


def plural(count: int, noun: str) -> str:
    """``1 error``, ``2 errors``, ``2 policies``, ``2 prefixes``."""
    if count == 1:
        return f"{count:,} {noun}"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{count:,} {noun[:-1]}ies"
    return f"{count:,} {noun}{'es' if noun.endswith('x') else 's'}"


def tally(report: Report) -> str:
    """``2 errors, 1 warning (3 suppressed)``, or ``no findings``."""
    parts = [
        plural(report.count(severity), noun)
        for severity, noun in ((Severity.ERROR, "error"), (Severity.WARNING, "warning"), (Severity.INFO, "note"))
        if report.count(severity)
    ]
    text = ", ".join(parts) or "no findings"
    return f"{text} ({len(report.suppressed):,} suppressed)" if report.suppressed else text


def worst_first(findings: tuple[Finding, ...]) -> list[Finding]:
    """By severity, highest first, then in the report's order: what is shown where a platform has a limit."""
    return sorted(findings, key=lambda f: -f.severity)
