"""A run of the gates over two sides: who judges, what each gate finds, what counts, and what comes out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from ctxc.app.gates import Gate, Looked, counted, gates
from ctxc.app.gates._judge import Judge, Judged, judge_by
from ctxc.app.gates._linted import Linted, key_of, lint_sides
from ctxc.app.gates._release import release_of
from ctxc.app.gates._request import GateRequest, in_ci
from ctxc.app.gates._side import GateSide
from ctxc.app.gates._sides import GateSides
from ctxc.app.gates._silence import WaiverUse
from ctxc.app.gates._unseen import errors_of, refused, unseen_fixtures, why_fixtures, why_policies
from ctxc.app.lint import RuleTexts
from ctxc.app.naming import advice
from ctxc.base.errors import NothingMatched, RevisionError
from ctxc.base.values import dataclass
from ctxc.model.finding import Finding, Severity
from ctxc.model.report import GateResult, Report
from ctxc.rules._ground import fits_something
from ctxc.rules.engine import Context, run

if TYPE_CHECKING:
    from ctxc.app.workspace import Workspace
    from ctxc.model.change import Change
    from ctxc.model.release import Release

_OF_REQUESTS = frozenset(
    ["budget", "forbidden", "injection", "regression", "citations", "cost", "latency", "prefix", "coverage"]
)
"""Gates that look at compiled requests: a fixture without one was not judged by them."""

_STRICTEST = ("info", "warning", "error", "never")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came out: the release with its report, the change that it is about, notes for who asked, and what he has to
    know whether he asked or not."""

    release: Release
    change: Change | None
    notes: tuple[str, ...]
    warnings: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class _Verdict:
    """The findings of one gate, over all sides that judge; what one of them does not silence counts."""

    counting: dict[str, Finding] = field(default_factory=dict)
    silenced: dict[str, Finding] = field(default_factory=dict)

    def count(self, finding: Finding) -> None:
        """Let a finding count; of one that both sides make, the more severe, and the first of two that are alike."""
        key = key_of(finding)
        known = self.counting.get(key)
        if known is None or finding.severity > known.severity:
            self.counting[key] = finding


class Gates:
    """One run over two sides. ``find_change`` gives the change between them, where there is a base."""

    def __init__(
        self,
        workspace: Workspace,
        request: GateRequest,
        sides: GateSides,
        *,
        head: GateSide,
        base: GateSide | None,
        find_change: Callable[[], Change],
        now: str,
    ) -> None:
        self.workspace = workspace
        self.request = request
        self.sides = sides
        self.now = now
        self.head = head
        self.base = base
        self.find_change = find_change
        self.notes = list(sides.notes)
        self.warnings: tuple[str, ...] = ()
        if sides.bundle is not None and base is not None:
            from ctxc.app.restore import compare_side

            untrue = compare_side(base, sides.bundle)
            self.warnings = tuple(f"this ctxc does not make of the bundle what it says: {told}" for told in untrue)
        self.verdicts: dict[str, _Verdict] = {g.id: _Verdict() for g in gates()}

    @property
    def by_base(self) -> bool:
        """Whether the base's policies judge as well. What only the head's configuration says cannot prevent it."""
        if self.base is None:
            return False
        if self.request.policy_source:
            return self.request.policy_source == "base"
        told = [str(s.settings.extra.get("policy-source") or "") for s in (self.base, self.head)]
        if "base" in told:
            return True
        return told[0] != "head" and in_ci(self.workspace.environment)

    @property
    def fail_on(self) -> str:
        """The severity from which a gate fails: the stricter of both sides' settings where the base judges."""
        if self.request.fail_on:
            return self.request.fail_on
        told = [str(self.head.settings.extra.get("fail-on") or "error")]
        if self.by_base and self.base is not None:
            told.append(str(self.base.settings.extra.get("fail-on") or "error"))
        return min(told, key=_STRICTEST.index)

    @property
    def _told_from(self) -> str:
        """The severity from which a gate is told to have failed: what fails no run is not called passed."""
        return "error" if self.fail_on == "never" else self.fail_on

    def run(self, chosen: tuple[Gate, ...]) -> Outcome:
        """Judge. Raises CtxcError for everything that keeps the gates from judging."""
        linted = lint_sides(self.workspace, self.head, self.base if self.by_base else None, now=self.now)
        self._check_fixtures(linted)
        judged = self._judged()
        judges = self._judges(judged, linted)
        looked: dict[str, dict[str, Looked]] = {g.id: {} for g in chosen}
        waivers: dict[str, tuple[WaiverUse, ...]] = {}
        for judge in judges:
            context = judge.context(judged, linted.context)
            waivers[judge.side] = self._judge(judge, judged, context, chosen, linted)
            for gate in chosen:
                if judge.has(gate):
                    looked[gate.id][judge.side] = gate.look(context, linted.facts)
        self._refuse_unseen(chosen, judges, linted)
        results = tuple(self._result(g, chosen, judges, _together(looked.get(g.id, {}), len(judges))) for g in gates())
        self._check_something(results, chosen, judges)
        report = self._report(judges, results)
        release = release_of(
            report,
            self.head,
            self.base,
            judged.change,
            waivers=waivers[judges[0].side],
            judged_by=_named(judges),
            failed=report.reaches(self._told_from),
        )
        return Outcome(release=release, change=judged.change, notes=tuple(self.notes), warnings=self.warnings)

    # --- judging --------------------------------------------------------------------------------------------------

    def _judged(self) -> Judged:
        return Judged(
            head=self.head,
            base=self.base,
            change=self.find_change() if self.base is not None else None,
            now=self.now,
            everything=self.request.everything,
            payloads=self.request.payloads,
            changed_at=self.sides.changed_at,
            base_is_head=self.sides.base_is_head,
            config=self.workspace.config.path,
            bundle=self.head.bundle(),
            kept=self.workspace.cache is not None,
            policies=self.request.policies,
        )

    def _judges(self, judged: Judged, linted: Linted) -> tuple[Judge, ...]:
        """Who judges; the base first: a finding that both make is told as the base's."""
        sides = [("base", self.base)] if self.by_base and self.base is not None else []
        judges = tuple(judge_by(side, owner, judged) for side, owner in (*sides, ("head", self.head)))
        self._check_policies(judges, linted)
        return judges

    def _judge(
        self, judge: Judge, judged: Judged, context: Context, chosen: Sequence[Gate], linted: Linted
    ) -> tuple[WaiverUse, ...]:
        """Put one side's findings among the verdicts, and say what became of its waivers."""
        # Silenced together, because a waiver is used or not over all gates.
        found = [(g.id, f) for g in chosen if judge.has(g) for f in self._findings(g, judge, context, linted)]
        silenced = judge.silence([f for _, f in found], judged)
        counting = {id(f) for f in silenced.counting}
        others = {key_of(f): f for f in silenced.silenced}
        for gate_id, finding in found:
            verdict, key = self.verdicts[gate_id], key_of(finding)
            if id(finding) in counting:
                verdict.count(finding)
            elif key in others:
                verdict.silenced.setdefault(key, others[key])
        if not self.request.only:  # a waiver for a gate that did not run is not unused
            for finding in judge.weigh(silenced.hygiene):
                self.verdicts["policies"].count(finding)
        if self.request.only:
            return tuple(replace(w, state="not_judged") if w.state == "unused" else w for w in silenced.waivers)
        return silenced.waivers

    def _findings(self, gate: Gate, judge: Judge, context: Context, linted: Linted) -> list[Finding]:
        from ctxc.rules import rule

        compiled = judge.head.findings()
        found = [f for f in compiled if f.code in gate.codes]
        if not (gate.needs_base and self.base is None):
            # What a fixture of the base expects is the base's to judge by.
            names = [n for n in gate.rules if judge.side == "base" or n != "base-expectation"]
            found += run(context, [rule(n) for n in names])
        if gate.id == "schema":
            owned = {code for g in gates() for code in g.codes}
            known = {(f.code, f.location.path, f.location.span) for f in linted.findings}
            found += [f for f in linted.findings if f.code not in owned and f.severity >= judge.level]
            found += [
                f
                for f in compiled
                if f.code not in owned
                and f.severity >= judge.level
                and (f.code, f.location.path, f.location.span) not in known
            ]
        else:
            found += [f for f in linted.findings if f.code in gate.codes]
            found += [f for f in linted.findings if f.code in gate.advice and f.severity < judge.level]
        weighed = judge.weigh(_once(found))
        if gate.id == "schema" and judge.level is Severity.WARNING:
            return [replace(f, severity=Severity.ERROR) if f.severity is Severity.WARNING else f for f in weighed]
        return list(weighed)

    # --- what keeps a gate from judging -----------------------------------------------------------------------------

    def _check_fixtures(self, linted: Linted) -> None:
        if self.head.measured or linted.has_errors:
            return
        raise NothingMatched(
            "the project has no fixtures: nothing would be judged",
            help=f"add one under {self.head.settings.fixtures[0]}/ (`ctxc init` writes an example)",
        )

    def _check_policies(self, judges: Sequence[Judge], linted: Linted) -> None:
        folders = self.head.settings.policies
        self._refuse_names()
        for judge in judges:
            if judge.ground.policies:
                continue
            if judge.side == "base":
                self.notes.append("the base has no policies: only the head's judge")
            elif not any(
                f.severity is Severity.ERROR and f.location.path.startswith(tuple(folders)) for f in linted.findings
            ):
                raise NothingMatched(
                    "the project has no policies: there is nothing to judge by",
                    help=f"add one under {folders[0]}/ (`ctxc init` writes an example; docs/gate.md)",
                )
        if self.base is None and any(p.base == "required" for j in judges for p in j.ground.policies):
            raise RevisionError(
                f"a policy requires a base, and there is none: {self._no_base()}",
                help="name one with --against, or fetch it: `fetch-depth: 0` for actions/checkout",
            )

    def _refuse_names(self) -> None:
        """Policies that were named and are not there: others alone would judge."""
        there, lost = self.head.project.policies, self.head.project.lost.get("policy", frozenset())
        named = self.request.policies or (str(self.head.settings.extra.get("policy") or ""),)
        for name in (n for n in named if n and n not in there and not {n, ""} & lost):
            raise NothingMatched(f"there is no policy {name!r}", help=advice(name, there))

    def _check_something(self, results: Sequence[GateResult], chosen: Sequence[Gate], judges: Sequence[Judge]) -> None:
        """A gate must be able to fail: where nothing was checked, nothing passed."""
        asked = [r for r in results if r.id in {g.id for g in chosen}]
        if not any(r.status == "failed" for r in asked) and not any(fits_something(j.ground) for j in judges):
            raise NothingMatched(
                "no policy speaks of any fixture: nothing was judged by one",
                help="correct the names in its `where`",
                location=next((j.place_of_where for j in judges if j.ground.policies), None),
            )
        if any(r.status == "failed" or (r.status == "passed" and r.checked) for r in asked):
            return
        if all(r.status == "not_applicable" for r in asked):
            return  # it was said why
        told = "; ".join(f"{r.id}: {r.message or 'there was nothing to judge'}" for r in asked)
        raise NothingMatched(
            f"nothing was checked ({told})",
            help="give the step parameters in a policy (docs/gate.md), or ask for another one",
        )

    def _refuse_unseen(self, chosen: Sequence[Gate], judges: Sequence[Judge], linted: Linted) -> None:
        """Where the gates do not run that tell what could not be judged, the first that misses it has to fail."""
        telling = {g.id for g in chosen if any(j.has(g) for j in judges)}
        found: list[Finding] = []
        if "schema" not in telling:
            found += why_policies(self.head.project)
        if "policies" not in telling:
            found += [f for f in linted.findings if f.name == "unusable-policy-rule"]
        for finding in found:
            self.verdicts[chosen[0].id].count(finding)
        first = next((g for g in chosen if g.id in _OF_REQUESTS), None)
        if first is not None:
            found = [] if "schema" in telling else list(why_fixtures(self.head))
            if not telling & {"budget", "regression"}:  # which tell of an outcome that nobody expected
                found += errors_of(self.head, refused(self.head))
            for finding in found:
                self.verdicts[first.id].count(finding)

    # --- what comes out -------------------------------------------------------------------------------------------

    def _result(self, gate: Gate, chosen: Sequence[Gate], judges: Sequence[Judge], seen: Looked) -> GateResult:
        if gate not in chosen:
            return GateResult(id=gate.id, status="not_checked", message="not asked for")
        verdict = self.verdicts[gate.id]
        least = Severity[self._told_from.upper()]
        failed = any(f.severity >= least for f in verdict.counting.values())
        if not failed and not any(j.has(gate) for j in judges):
            off = any(gate.is_off(p.gates) for j in judges for p in j.ground.policies)
            which = "no policy that could be loaded" if self.head.project.lost.get("policy") else "no policy"
            why = "switched off by a policy" if off else f"{which} says anything"
            return GateResult(id=gate.id, status="not_configured", message=why)
        if not failed and gate.needs_base and self.base is None:
            return GateResult(id=gate.id, status="not_applicable", message=self._no_base())
        if failed:
            return GateResult(id=gate.id, status="failed", checked=seen.count, message=seen.message)
        unseen = unseen_fixtures(self.head) if gate.id in _OF_REQUESTS else ()
        if unseen:
            names = ", ".join(unseen[:3]) + (", ..." if len(unseen) > 3 else "")
            verb = "has" if len(unseen) == 1 else "have"
            why = f"{counted(len(unseen), 'fixture')} {verb} no request ({names}); {seen.message}"
            return GateResult(id=gate.id, status="not_checked", checked=seen.count, message=why)
        if not seen.applies:
            return GateResult(id=gate.id, status="not_applicable", message=seen.message or "there is nothing to judge")
        if not seen.count:
            return GateResult(id=gate.id, status="not_checked", message=seen.message or "there was nothing to judge")
        return GateResult(id=gate.id, status="passed", checked=seen.count, message=seen.message)

    def _no_base(self) -> str:
        if self.sides.same:
            return f"nothing differs from the base: {self.sides.why}"
        return self.sides.why or "there is no base"

    def _report(self, judges: Sequence[Judge], results: tuple[GateResult, ...]) -> Report:
        from ctxc import __version__

        counting: dict[str, Finding] = {}
        silenced: dict[str, Finding] = {}
        for verdict in self.verdicts.values():
            counting |= verdict.counting
            silenced |= verdict.silenced
        # What the base says of a policy that both have is told where it stands in the head.
        known = {_words(f): f.severity for f in counting.values() if not f.revision}
        counting = {k: f for k, f in counting.items() if not f.revision or known.get(_words(f), -1) < f.severity}
        left = [f for k, f in silenced.items() if k not in counting]
        policies = {p.id: p for j in judges for p in j.ground.policies}
        return Report(
            command="gate",
            version=__version__,
            now=self.now,
            findings=tuple(sorted(counting.values(), key=lambda f: f.sort_key)),
            suppressed=tuple(sorted(left, key=lambda f: f.sort_key)),
            gates=results,
            base=_told(self.sides.base, self.sides.why) if self.base is not None else None,
            head=_told(self.sides.head, ""),
            policy={
                "id": ", ".join(policies),
                "version": ", ".join(f"{p.id} {p.version}" for p in policies.values()),
                "from": " and ".join(_named(judges)),
            },
            checked={"fixture": len(self.head.measured), "policy": len(policies)},
            rules=RuleTexts(),
            fail_on=self.fail_on,
        )


def _named(judges: Sequence[Judge]) -> tuple[str, ...]:
    """The sides whose policies judged; a base that has none is not said to."""
    return tuple(j.side for j in judges if j.side == "head" or j.ground.policies)


def _words(finding: Finding) -> tuple[str, ...]:
    return (finding.code, finding.location.path, finding.fixture, finding.message)


def _once(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Each finding once: a compile and lint may both make it."""
    return tuple({key_of(f): f for f in reversed(findings)}.values())[::-1]


def _together(looked: Mapping[str, Looked], judges: int) -> Looked:
    """What the sides that judge looked at: told once where it is the same, else of each."""
    told = {seen.message for seen in looked.values()}
    if len(looked) == judges and len(told) == 1:
        return max(looked.values(), key=lambda seen: seen.count)
    return Looked(
        count=max((seen.count for seen in looked.values()), default=0),
        what="; ".join(f"by the {side}: {seen.message or 'nothing'}" for side, seen in looked.items()),
        applies=any(seen.applies for seen in looked.values()) or not looked,
    )


def _told(side: Any, how: str) -> Mapping[str, Any]:
    revision = side.revision
    return {"rev": revision.rev, "kind": revision.kind, "commit": revision.commit, "label": revision.label, "how": how}
