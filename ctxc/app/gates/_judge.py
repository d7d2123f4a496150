"""Who judges: the policies, locks, suppressions and settings of one side, over what was measured of both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from ctxc.app.gates import Gate
from ctxc.app.gates._files import Lines, in_file, read_baseline, suppressions
from ctxc.app.gates._silence import Silenced, Silencers, accepted, added, common, honoured, silence
from ctxc.app.lint_rules import context_of, rule_settings
from ctxc.base.errors import UnreadableSource
from ctxc.base.spans import Location
from ctxc.base.values import dataclass
from ctxc.model.finding import Finding, Severity
from ctxc.rules import codes_of
from ctxc.rules._ground import GATE, Ground, facts_of
from ctxc.rules._locks import read_budgets, read_tools
from ctxc.rules.engine import Context

if TYPE_CHECKING:
    from ctxc.app.gates._side import GateSide
    from ctxc.detect.injection import Payload
    from ctxc.detect.secret_rules import SecretRule
    from ctxc.model.change import Change
    from ctxc.model.contract import Policy
    from ctxc.model.measured import Measured
    from ctxc.rules.added_exemption import Exemption


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What is judged, whoever judges. ``base`` is None where there is nothing to compare with.

    ``everything``: the injection trials of all fixtures. ``payloads`` are those that were given beside the shipped
    ones, ``policies`` the ids of those that judge (all where there are none). ``changed_at`` is when what is judged was
    committed (seconds since 1970; None: not known). ``base_is_head``: nobody asked for a base, and it is HEAD itself.
    ``config`` is the path of the configuration file, ``bundle`` names what ships, ``kept`` says whether a cache may be
    used.
    """

    head: GateSide
    base: GateSide | None
    change: Change | None
    now: str
    everything: bool = False
    payloads: tuple[Payload, ...] = ()
    policies: tuple[str, ...] = ()
    changed_at: int | None = None
    base_is_head: bool = False
    config: str = ""
    bundle: str = ""
    kept: bool = False
    memo: dict[Any, Any] = field(default_factory=dict)

    @property
    def differing(self) -> frozenset[str]:
        """Fixtures whose request is not the base's; all where there is no base."""
        before = self.base.measured if self.base is not None else {}
        before = {**before, **{new: before[old] for new, old in self.renamed.items()}}
        return frozenset(
            name
            for name, m in self.head.measured.items()
            if name not in before or (m.snapshot, m.request) != (before[name].snapshot, before[name].request)
        )

    @property
    def exempted(self) -> tuple[Exemption, ...]:
        """The suppressions and entries of the baseline that the change adds."""
        if "exempted" not in self.memo:
            self.memo["exempted"] = exempted(self)
        found: tuple[Exemption, ...] = self.memo["exempted"]
        return found

    @property
    def renamed(self) -> Mapping[str, str]:
        """Id at the head to id at the base, of fixtures that only have another name."""
        if self.base is None:
            return {}
        if "renamed" not in self.memo:
            from ctxc.app.gates._pairs import renamed

            self.memo["renamed"] = renamed(self.base, self.head)
        found: Mapping[str, str] = self.memo["renamed"]
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """One side that judges: its policies and locks (in the ground), what silences by it, and its severities.

    ``head`` is the head as this side measures it.
    """

    side: str
    head: GateSide
    silencers: Silencers
    ground: Ground
    severities: Mapping[str, str]

    @property
    def level(self) -> Severity:
        """The severity from which findings of lint belong to the gate."""
        steps = [p.gates.get("schema") for p in self.ground.policies]
        return Severity.WARNING if {"level": "warning"} in steps else Severity.ERROR

    @property
    def place_of_where(self) -> Location:
        """Where the first policy says of which requests it speaks."""
        return self.ground.owner.sources.locate(self.ground.policies[0].origin.child("where"))

    def has(self, gate: Gate) -> bool:
        """Whether a gate has something to do by the policies of this side."""
        policies = self.ground.policies
        if any(p.gates.get(gate.id) not in (None, False, {}, []) for p in policies):
            return True
        return gate.always and not (policies and all(gate.is_off(p.gates) for p in policies))

    def weigh(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        """Findings with the severities that this side gives them, without those that it switched off."""
        own = {p.origin.path for p in self.ground.policies} if self.side == "base" else ()
        for finding in findings:
            given = self.severities.get(finding.code)
            if finding.location.span is None and finding.location.path in own:
                finding = replace(finding, revision="the base")
            if given != "off":
                yield replace(finding, severity=Severity[given.upper()]) if given else finding

    def silence(self, findings: Sequence[Finding], judged: Judged) -> Silenced:
        """What counts, and what suppressions, waivers and baseline silence."""
        head = judged.head
        paths = sorted({f.location.path for f in findings if f.location.path})
        lines = Lines(head.tree)
        entries = suppressions(head.tree, head.settings, paths, judged.config)
        if self.side == "base" and judged.base is not None:
            base = judged.base
            theirs = suppressions(base.tree, base.settings, paths, judged.config)
            entries = honoured(entries, theirs, lines.line, Lines(base.tree).line)
        return silence(
            findings,
            replace(self.silencers, entries=entries),
            now=judged.now,
            ran=frozenset(f.code for f in findings),
            line_of=lines.line,
        )

    def context(self, judged: Judged, linted: Context) -> Context:
        """What the rules are given: as lint's were, with what these worked out, unless this side measures anew."""
        found = linted
        if self.head is not judged.head:
            head = self.head
            found = context_of(head.project, head.tree, judged.head.settings, head.store, now=judged.now)
        return replace(found, project=self.head.project, params={**found.params, GATE: {"ground": self.ground}})


def exempted(judged: Judged) -> tuple[Exemption, ...]:
    """The suppressions and entries of the baseline that the change adds; a file that moved brings those that it had."""
    head, base, change = judged.head, judged.base, judged.change
    if base is None or change is None:
        return ()
    former = {s.path: s.old_path or s.path for s in change.sources if s.status != "removed"}
    now = [e for path in former for e in in_file(head.tree, path)]
    before = [replace(e, path=path) for path, old in former.items() for e in in_file(base.tree, old)]
    lines = Lines(base.tree)
    found = added(now, before, Lines(head.tree).line, lambda path, number: lines.line(former[path], number))
    baselines = [(s, str(s.settings.extra.get("baseline") or "")) for s in (head, base)]
    mine, theirs = (read_baseline(side.tree, path) for side, path in baselines)
    return (*found, *accepted(mine, theirs, baselines[0][1]))


def judge_by(side: str, owner: GateSide, judged: Judged) -> Judge:
    """The judge whose policies are those of ``owner``. Raises UnreadableSource for payloads that cannot be used."""
    project = owner.project
    named = str(owner.settings.extra.get("policy") or "")
    wanted = judged.policies or ((named,) if named else ())
    policies = tuple(v[-1] for n, v in sorted(project.policies.items()) if not wanted or n in wanted)
    head, base = judged.head, judged.base
    if side == "base" and base is not None:
        from ctxc.app.gates._measure import as_base_measures

        head = as_base_measures(head, base)
    before = dict(base.measured) if base is not None else {}
    before |= {new: before[old] for new, old in judged.renamed.items()}
    ground = Ground(
        policies=policies,
        owner=project,
        head=head.measured,
        base=before if base is not None else None,
        by_base=side == "base",
        former=_former(head.measured, before) if side == "base" else {},
        renamed=judged.renamed,
        settings=(base.settings, judged.head.settings) if base is not None else None,
        load_base=(lambda: base.project) if base is not None else None,
        change=judged.change,
        packages=head.package,
        affected=None if base is None or judged.everything else judged.differing,
        budgets=read_budgets(owner.tree, head.tree),
        tools=read_tools(owner.tree, head.tree),
        payloads=_payloads(policies, owner, judged),
        secret_rules=_secret_rules(owner),
        hosts=tuple(h for h in owner.settings.extra.get("internal-hosts", ()) if isinstance(h, str)),
        kept=head if judged.kept else None,
        bundle=judged.bundle,
        evaluated=judged.changed_at,
        exempted=judged.exempted,
        unchanged=base is not None and not judged.base_is_head and not judged.differing,
        memo=judged.memo if head is judged.head else {},
    )
    path = str(owner.settings.extra.get("baseline") or "")
    baseline = read_baseline(owner.tree, path)
    if side == "base":
        own = read_baseline(head.tree, str(head.settings.extra.get("baseline") or ""))
        baseline = common(own, baseline)
    return Judge(
        side=side,
        head=head,
        silencers=Silencers(
            policies=policies, owner=project, judged=head.project, baseline=baseline, baseline_path=path
        ),
        ground=ground,
        severities=_severities(owner, policies),
    )


def _former(head: Mapping[str, Measured], before: Mapping[str, Measured]) -> dict[str, Measured]:
    """Fixtures that the base knows under another template, profile, provider, model or name, as they were there."""
    return {n: before[n] for n, m in head.items() if n in before and facts_of(before[n]) != facts_of(m)}


def _severities(owner: GateSide, policies: Sequence[Policy]) -> dict[str, str]:
    """Code to severity (or ``off``): the configuration's, then what the policies say, the last of them first."""
    found, _ = rule_settings(owner.settings)
    for policy in policies:
        for word, value in policy.rules.items():
            given: Any = value.get("severity") if isinstance(value, Mapping) else value
            if isinstance(given, str):
                found |= dict.fromkeys(codes_of([word])[word], given)
    return found


def _secret_rules(owner: GateSide) -> tuple[SecretRule, ...]:
    """The secret rules that a side's own configuration adds."""
    from ctxc.detect.secret_rules import parse_rules

    paths = owner.settings.extra.get("secret-rules", ())
    return tuple(r for path in paths for r in parse_rules(owner.project.sources.read_text(path), path=path))


def _payloads(policies: Sequence[Policy], owner: GateSide, judged: Judged) -> tuple[Payload, ...] | None:
    """The shipped payloads with those of the command line and of the policies; None: the shipped ones alone."""
    from ctxc.detect.injection import parse_payloads, payloads

    more = list(judged.payloads)
    for policy in policies:
        injection = policy.gates.get("injection")
        for path in injection.get("payloads", ()) if isinstance(injection, Mapping) else ():
            try:
                more += parse_payloads(owner.project.sources.read_text(path))
            except (ValueError, UnreadableSource) as error:
                raise UnreadableSource(
                    f"the payloads of policy {policy.id!r} cannot be used: {error}",
                    help=getattr(error, "help", ""),
                    location=Location(path),
                ) from error
    if not more:
        return None
    # An id that a shipped payload has as well takes nothing from it.
    return tuple({(p.id, p.text): p for p in (*payloads(), *more)}.values())
