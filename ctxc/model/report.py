"""What a command hands to an output format: findings with their tally, and one row for each compiled fixture.

An output format knows nothing of files, caches and exit statuses; a command knows nothing of formats.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from ctxc.base.values import dataclass
from ctxc.model.finding import Finding, Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """One gate: how it ended, how many things it looked at, and what it has to say."""

    id: str
    status: str
    checked: int = 0
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleText:
    """What an output format may print about a rule beside its findings."""

    code: str
    name: str
    summary: str = ""
    help: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Findings of one run, sorted by path, line, column and code. ``checked`` counts what was looked at."""

    command: str
    version: str
    now: str = ""
    findings: tuple[Finding, ...] = ()
    suppressed: tuple[Finding, ...] = ()
    gates: tuple[GateResult, ...] = ()
    base: Mapping[str, Any] | None = None
    head: Mapping[str, Any] | None = None
    policy: Mapping[str, Any] | None = None
    checked: Mapping[str, int] = field(default_factory=dict)
    rules: Mapping[str, RuleText] = field(default_factory=dict)
    fail_on: str = "error"  # the severity from which a finding fails the run

    def fails(self, finding: Finding) -> bool:
        """Whether a finding fails the run."""
        return self.fail_on != "never" and finding.severity >= Severity[self.fail_on.upper()]

    def count(self, severity: Severity) -> int:
        """Findings of one severity that are not suppressed."""
        return sum(f.severity is severity for f in self.findings)

    @property
    def worst(self) -> Severity | None:
        """The highest severity among the findings that count; None without any."""
        return max((f.severity for f in self.findings), default=None)

    def reaches(self, fail_on: str) -> bool:
        """Whether a finding that counts is at or above a severity; ``never``: none is."""
        return fail_on != "never" and self.worst is not None and self.worst >= Severity[fail_on.upper()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """An outcome or an expectation of a fixture that did not hold, in words."""

    key: str
    expected: str
    actual: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One fixture of ``ctxc compile``: sizes in tokens, counts of sections.

    ``used`` is None where nothing was rendered; ``over`` then says by how much the required part exceeds ``limit``: the
    budget less the error band of the count, or what one section may take. ``exact`` is false where the count has an
    error band. ``kept`` sections are whole, ``cut`` ones shortened.
    """

    fixture_id: str
    template: str
    model: str
    outcome: str
    used: int | None
    available: int | None
    exact: bool
    kept: int
    cut: int
    dropped: int
    prefix: int | None
    path: str
    ok: bool
    over: int | None = None
    limit: int | None = None
    problems: tuple[Problem, ...] = ()
    remedies: tuple[str, ...] = ()

    @property
    def held_against(self) -> int | None:
        """What the tokens that are shown were held against."""
        return self.limit if self.used is None and self.limit is not None else self.available


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """A fixture's row, and on demand its package as the canonical JSON text of ``ctxc.compile/1``."""

    row: Row
    package: Callable[[], str]
    request: Callable[[], str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileRun:
    """What ``ctxc compile`` hands to an output format. ``notes`` say where the packages came from."""

    compiled: tuple[Compiled, ...]
    report: Report
