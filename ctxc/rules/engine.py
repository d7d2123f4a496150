"""The engine of lint and gate: rules, what they are given, and running them.

A rule declares what it needs: ``sources`` (the loaded project), ``packages`` (compiled fixtures) or ``change`` (two
revisions). Lint runs those that need sources alone. What loading and compiling find by themselves has a rule as well,
so that every code is explained, selected and suppressed in one way; such a rule has no ``check``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar

from ctxc.base.errors import UnreadableSource
from ctxc.base.spans import Location, Origin
from ctxc.base.values import dataclass
from ctxc.model.codes import code_of, severity_of
from ctxc.model.finding import Finding, Fix, Related, Severity
from ctxc.model.project import Project

if TYPE_CHECKING:
    from ctxc.model.counting import Tokenizer
    from ctxc.model.package import Package
    from ctxc.model.provider import TokenizerRef
    from ctxc.source.tree import Tree

Needs: TypeAlias = Literal["sources", "packages", "change"]
RuleTier: TypeAlias = Literal["default", "strict", "audit"]
Emitter: TypeAlias = Literal["rule", "loading", "compiling", "suppressing"]

T = TypeVar("T")
Place: TypeAlias = "Origin | Location"


class Clean(Protocol):
    """Files in which a search found nothing before, by their content; what is searched for is in ``about``."""

    def has(self, about: str, path: str) -> bool:
        """Whether the file as it is now is known to hold nothing."""

    def note(self, about: str, path: str) -> None:
        """Remember that it holds nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What rules judge. ``packages`` and ``change`` are there only for rules that say that they need them.

    ``now`` is a day (``YYYY-MM-DD``). ``params`` are settings of rules by name. ``key`` keys the digests by which a
    masked value is recognised again. ``change`` is typed by those who read it. ``clean`` outlives the run.
    """

    project: Project
    tree: Tree
    now: str
    tokenizers: Callable[[TokenizerRef], Tokenizer]
    params: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    packages: Mapping[str, Package] = field(default_factory=dict)
    change: Any = None
    key: bytes = b"ctxc"
    clean: Clean | None = None
    _memo: dict[Any, Any] = field(default_factory=dict)

    def shared(self, make: Callable[[Context], T]) -> T:
        """What a function makes of this context, made once however many rules ask for it."""
        found: T
        if make in self._memo:
            found = self._memo[make]
        else:
            found = self._memo[make] = make(self)
        return found

    def param(self, rule: str, name: str, default: T) -> T:
        """A rule's parameter from the configuration; the default where there is none of the same type."""
        value = self.params.get(rule, {}).get(name, default)
        return value if isinstance(value, type(default)) else default

    def locate(self, place: Place, *, key: bool = False) -> Location:
        """The location of a loaded value, or the location itself."""
        return place if isinstance(place, Location) else self.project.sources.locate(place, key=key)

    def body(self, path: str) -> str:
        """The text of a file without front matter; empty where it cannot be read (which loading reports)."""
        try:
            return self.project.sources.body(path)
        except UnreadableSource:
            return ""

    def text(self, path: str) -> str:
        """The whole text of a file, line ends as LF; empty where it cannot be read (which loading reports)."""
        try:
            return self.project.sources.read_text(path)
        except UnreadableSource:
            return ""


Check: TypeAlias = Callable[[Context], Iterable[Finding]]
Fixer: TypeAlias = Callable[[Context, Finding], "Fix | None"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule. ``detectors`` are ids of the published lists that it covers (``U004``, ``T107``, ``R3`` ...).

    ``heuristic`` says that a finding may be wrong, and that its absence proves nothing; ``escalates`` that one may be
    more severe than the rule.
    """

    code: str
    name: str
    severity: Severity
    doc: str
    needs: Needs = "sources"
    tier: RuleTier = "default"
    emitter: Emitter = "rule"
    check: Check | None = None
    fix: Fixer | None = None
    fixable: Literal["", "safe", "unsafe"] = ""
    detectors: tuple[str, ...] = ()
    heuristic: bool = False
    escalates: bool = False

    @property
    def advice(self) -> bool:
        """Whether no finding is an error unless somebody sets its severity: a gate that fails on errors leaves it out.

        A finding of a detector is as severe as its match, whatever the rule is.
        """
        return self.severity < Severity.ERROR and not self.escalates and not self.detectors

    @property
    def summary(self) -> str:
        """The first paragraph of the documentation, on one line."""
        return " ".join(self.doc.strip().split("\n\n", 1)[0].split())

    def finding(
        self,
        context: Context,
        message: str,
        *,
        at: Place,
        help: str,
        key: bool = False,
        severity: Severity | None = None,
        fixture: str = "",
        related: Iterable[tuple[Place, str]] = (),
        data: Mapping[str, Any] | None = None,
        fix: Fix | None = None,
    ) -> Finding:
        """A finding of this rule at a place; with ``key`` at the key of a mapping's entry."""
        return Finding(
            code=self.code,
            name=self.name,
            severity=severity or self.severity,
            message=message,
            help=help,
            location=context.locate(at, key=key),
            fixture=fixture,
            related=tuple(Related(location=context.locate(p), message=m) for p, m in related),
            data=data or {},
            fix=fix,
        )


def rule(
    module: str,
    doc: str | None,
    check: Check | None = None,
    *,
    needs: Needs = "sources",
    tier: RuleTier = "default",
    emitter: Emitter = "rule",
    fix: Fixer | None = None,
    fixable: Literal["", "safe", "unsafe"] = "",
    detectors: Iterable[str] = (),
    heuristic: bool = False,
    escalates: bool = False,
) -> Rule:
    """The rule of a module of this package: name, code and severity come from the table of codes."""
    name = module.rpartition(".")[2].replace("_", "-")
    return Rule(
        code=code_of(name),
        name=name,
        severity=severity_of(name),
        doc=doc or "",
        needs="packages" if emitter == "compiling" else needs,
        tier=tier,
        emitter=emitter,
        check=check,
        fix=fix,
        fixable=fixable,
        detectors=tuple(detectors),
        heuristic=heuristic,
        escalates=escalates,
    )


def run(context: Context, rules: Iterable[Rule]) -> tuple[Finding, ...]:
    """Everything that the rules find, with what loading and compiling found of their codes; sorted, each once."""
    found: dict[tuple[Any, ...], Finding] = {}
    by_code: dict[str, Rule] = {}
    for rule in rules:
        by_code[rule.code] = rule
        if rule.check is not None:
            for finding in rule.check(context):
                found.setdefault(_identity(finding), finding)
    reported = list(context.project.findings)
    for package in context.packages.values():
        reported.extend(package.findings)
    for finding in reported:
        if finding.code in by_code:
            found.setdefault(_identity(finding), finding)
    fixed = (_with_fix(context, f, by_code.get(f.code)) for f in found.values())
    return tuple(sorted(fixed, key=lambda f: f.sort_key))


def _identity(finding: Finding) -> tuple[Any, ...]:
    # A rule and the compiler may say the same of one place in different words: the first word counts.
    if finding.location.span is None:
        return (*finding.sort_key,)
    return (finding.code, finding.location.path, finding.location.span, finding.fixture, finding.message)


def _with_fix(context: Context, finding: Finding, rule: Rule | None) -> Finding:
    if finding.fix is not None or rule is None or rule.fix is None:
        return finding
    fix = rule.fix(context, finding)
    return replace(finding, fix=fix) if fix is not None else finding
