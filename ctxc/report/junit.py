"""JUnit XML: a suite for each gate, a case for each thing that was checked, passes too.

A finding that does not fail the run is output of its case and no failure: what reads such a file calls a build with one
failure broken.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ctxc.model.finding import Finding
from ctxc.model.report import CompileRun, Report, Row
from ctxc.report import View
from ctxc.report._encode import xml_text

_JOIN = "; "  # one line: none of a log may begin with what a file says


def render(report: Report, view: View) -> str:
    """One suite of findings by file, or one suite for each gate."""
    if not report.gates:
        return _document([_suite(report.command, _by_path(report) or [_case(report.command, "findings", "")])])
    suites = []
    for gate in report.gates:
        if gate.status in ("passed", "failed"):
            body = _failure(gate.message or "failed", "gate") if gate.status == "failed" else ""
        else:
            body = f'<skipped message="{xml_text(f"{gate.status}: {gate.message}")}"/>'
        suites.append(_suite(gate.id, [_case(gate.id, f"gate.{gate.id}", body)]))
    suites.append(_suite("findings", _by_path(report)))
    return _document(suites)


def render_run(run: CompileRun, view: View) -> str:
    """A case for each fixture, and one for each file with findings that belong to no fixture."""
    cases = [_fixture_case(c.row, run.report.findings) for c in run.compiled]
    known = {c.row.fixture_id for c in run.compiled}
    others = tuple(f for f in run.report.findings if f.fixture not in known)
    return _document([_suite("compile", [*cases, *_by_path(replace(run.report, findings=others))])])


def _fixture_case(row: Row, findings: Iterable[Finding]) -> str:
    mine = [f for f in findings if f.fixture == row.fixture_id]
    if row.ok:
        return _case(row.fixture_id, row.template, "")
    reasons = [_sentence(f) for f in mine] or [f"{p.key}: {p.actual}, expected {p.expected}" for p in row.problems]
    body = _failure("; ".join(reasons) or row.outcome, mine[0].code if mine else row.outcome)
    return _case(row.fixture_id, row.template, body)


def _by_path(report: Report) -> list[str]:
    paths: dict[str, list[Finding]] = {}
    for finding in report.findings:
        paths.setdefault(finding.location.path, []).append(finding)
    return [_case(path, "ctxc", _body(report, found)) for path, found in paths.items()]


def _body(report: Report, findings: Iterable[Finding]) -> str:
    failures, others = [], []
    for finding in findings:
        if report.fails(finding):
            failures.append(_failure(_sentence(finding), finding.code))
        else:
            others.append(xml_text(_sentence(finding)))
    said = f"<system-out>{_JOIN.join(others)}</system-out>" if others else ""
    return "".join(failures) + said


def _sentence(finding: Finding) -> str:
    return f"{finding.location}: {finding.code} {finding.severity.label} {finding.message}"


def _failure(message: str, kind: str) -> str:
    return f'<failure message="{xml_text(message)}" type="{xml_text(kind)}">{xml_text(message)}</failure>'


def _case(name: str, classname: str, body: str) -> str:
    head = f'<testcase name="{xml_text(name)}" classname="{xml_text(classname)}" time="0"'
    return f"{head}>{body}</testcase>" if body else f"{head}/>"


def _suite(name: str, cases: list[str]) -> str:
    failures = sum("<failure" in case for case in cases)
    skipped = sum("<skipped" in case for case in cases)
    counts = f'tests="{len(cases)}" failures="{failures}" errors="0" skipped="{skipped}" time="0"'
    return "\n".join(
        [f'  <testsuite name="{xml_text(name)}" {counts}>', *(f"    {c}" for c in cases), "  </testsuite>"]
    )


def _document(suites: list[str]) -> str:
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', "<testsuites>", *suites, "</testsuites>"]) + "\n"
