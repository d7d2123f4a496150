"""Findings to print: ordinary ones, and ones whose every text is hostile."""

from __future__ import annotations

from ctxc.base.spans import Location, Span
from ctxc.model.finding import Edit, Finding, Fix, Related, Severity, Suppression
from ctxc.model.report import Compiled, CompileRun, GateResult, Problem, Report, Row, RuleText


def make_finding(text: str = "there is no template 'x'", **changes: object) -> Finding:
    """A finding whose words are the given text."""
    values: dict[str, object] = {
        "code": "CTX102",
        "name": "unknown-reference",
        "severity": Severity.ERROR,
        "message": text,
        "help": text,
        "location": Location("tests/fixtures/a.yaml", Span(2, 11, 2, 12), "/template"),
        "fixture": "a",
    }
    return Finding(**{**values, **changes})  # type: ignore[arg-type]


def make_report() -> Report:
    """Two findings, a suppressed one, two gates."""
    return Report(
        command="gate",
        version="1.2.3",
        now="2026-11-30",
        findings=(
            make_finding(
                fix=Fix(
                    title="name 'y'",
                    safe=False,
                    edits=(Edit(location=Location("tests/fixtures/a.yaml", Span(2, 11, 2, 12)), text="y"),),
                ),
                related=(Related(location=Location("templates/y.yaml", Span(1, 1, 1, 5)), message="y is here"),),
                data={"known": ["y"]},
            ),
            make_finding("too big", severity=Severity.WARNING, code="CTX201", name="token-ceiling", fixture="",
                         location=Location("templates/y.yaml")),
        ),
        suppressed=(make_finding("old", suppressed=Suppression(kind="inline", reason="legacy", until="2027-01-01")),),
        gates=(
            GateResult(id="schema", status="passed", checked=3),
            GateResult(id="budget", status="failed", checked=1, message="over by 12"),
            GateResult(id="cost", status="not_configured"),
        ),
        rules={"CTX102": RuleText(code="CTX102", name="unknown-reference", summary="s", help="h", url="https://x/y")},
        checked={"file": 3},
    )  # fmt: skip


def make_row(fixture_id: str = "motor", **changes: object) -> Row:
    """A row of the compile table."""
    values: dict[str, object] = {
        "fixture_id": fixture_id,
        "template": "claimant_v7",
        "model": "gpt-4o",
        "outcome": "compiled",
        "used": 1234,
        "available": 3000,
        "exact": True,
        "kept": 9,
        "cut": 0,
        "dropped": 2,
        "prefix": 800,
        "path": "tests/fixtures/a.yaml",
        "ok": True,
    }
    return Row(**{**values, **changes})  # type: ignore[arg-type]


def make_run(*rows: Row, findings: tuple[Finding, ...] = ()) -> CompileRun:
    """A run whose packages are stubs."""
    return CompileRun(
        compiled=tuple(
            Compiled(row=r, package=lambda r=r: f'{{"fixture_id":"{r.fixture_id}"}}', request=lambda: None)
            for r in rows
        ),
        report=Report(command="compile", version="1.2.3", findings=findings),
    )


def sample_run() -> CompileRun:
    """Three fixtures: one fine, one estimated, one that is not as expected."""
    over = make_row(
        "over",
        outcome="budget_exceeded",
        used=None,
        over=47,
        kept=0,
        prefix=None,
        ok=False,
        problems=(Problem(key="outcome", expected="compiled", actual="budget_exceeded"),),
    )
    return make_run(
        make_row(),
        make_row("guess", exact=False, used=2950, cut=1),
        over,
        findings=(make_finding("the outcome is budget_exceeded", fixture="over"),),
    )
