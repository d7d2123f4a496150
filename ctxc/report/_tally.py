"""The last line of a report: how many findings, of which severity, and how many do not count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

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
    """``2 errors, 1 warning (3 suppressed)``, or ``no findings``; what several fixtures have alike counts once."""
    counts = Counter(finding.severity for finding, _ in folded(report.findings))
    parts = [
        plural(counts[severity], noun)
        for severity, noun in ((Severity.ERROR, "error"), (Severity.WARNING, "warning"), (Severity.INFO, "note"))
        if counts[severity]
    ]
    text = ", ".join(parts) or "no findings"
    return f"{text} ({len(report.suppressed):,} suppressed)" if report.suppressed else text


def folded(findings: Iterable[Finding]) -> list[tuple[Finding, list[str]]]:
    """Findings that differ in nothing but their fixture as one, with its fixtures, in the order of the first."""
    found: dict[tuple[object, ...], tuple[Finding, list[str]]] = {}
    for finding in findings:
        what = (finding.code, finding.severity, finding.location, finding.message, finding.help, finding.revision)
        key = (*what, finding.related, finding.fix, not finding.fixture)
        names = found.setdefault(key, (finding, []))[1]
        if finding.fixture not in names:
            names.append(finding.fixture)
    return list(found.values())


def worst_first(findings: tuple[Finding, ...]) -> list[Finding]:
    """By severity, highest first, then in the report's order: what is shown where a platform has a limit."""
    return sorted(findings, key=lambda f: -f.severity)
