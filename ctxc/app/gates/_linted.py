"""What lint has to say of the judged tree, by the head's settings and by the base's; nothing of it silenced yet.

Only rules run that can fail a gate: advice is for whoever types, and costs as much as everything else together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ctxc.app.gates import Lint
from ctxc.app.gates._files import read_or_nothing
from ctxc.app.lint import LintOptions
from ctxc.app.lint_rules import check_words, choose, context_of
from ctxc.app.workspace import Workspace
from ctxc.base.errors import UnreadableSource
from ctxc.base.values import dataclass
from ctxc.model.finding import Finding, Severity
from ctxc.rules import codes_of

if TYPE_CHECKING:
    from ctxc.app.gates._side import GateSide
    from ctxc.model.contract import Policy
    from ctxc.model.project import Project, Settings
    from ctxc.rules.engine import Context, Rule
    from ctxc.source.tree import Tree

_UNREADABLE = "unreadable-file"
_OF_LINT = ("select", "ignore", "tier", "rules", "internal-hosts", "secret-rules")
"""Settings that decide what lint looks for."""


class Quiet(Workspace):
    """A workspace that keeps its caches open: the gate closes them when everything is judged."""

    def close(self) -> None:
        """Nothing yet."""


def quiet(workspace: Workspace) -> Quiet:
    """The workspace as another command uses it inside of a gate."""
    return Quiet(
        root=workspace.root,
        config=workspace.config,
        cache=workspace.cache,
        store=workspace.store,
        notes=[],
        environment=workspace.environment,
        _tree=workspace._tree,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Linted:
    """Findings of lint, how much it looked at, and what its rules were given of the head."""

    findings: tuple[Finding, ...]
    context: Context
    facts: Lint

    @property
    def has_errors(self) -> bool:
        """Whether something is wrong beside that the project is empty."""
        return any(f.severity is Severity.ERROR and f.name != "empty-project" for f in self.findings)


def key_of(finding: Finding) -> str:
    """What makes two findings one."""
    span = finding.location.span
    return f"{finding.fingerprint}:{span.line if span else 0}"


def lint_sides(workspace: Workspace, head: GateSide, base: GateSide | None, *, now: str) -> Linted:
    """Lint of the head; with the base's settings as well, where it judges (``base``) and they are others.

    Raises UnreadableSource for a file that cannot be read: what it holds would not be judged.
    """
    owners = [s.project for s in (head, base) if s is not None]
    project = head.checked_project
    linted = _lint(workspace, project, head, head.tree, head.settings, _policies(owners), now)
    if base is not None:
        theirs = {n: base.settings.extra.get(n) for n in _OF_LINT}
        tree = _with_rules_of(base, head.tree)
        if tree is not head.tree or theirs != {n: head.settings.extra.get(n) for n in _OF_LINT}:
            mixed = replace(head.settings, extra={**head.settings.extra, **theirs})
            if tree is not head.tree:
                from ctxc.app.workspace import load

                project = load(tree, mixed, head.store)
            changed = replace(project, settings=mixed)
            more = _lint(workspace, changed, head, tree, mixed, _policies(owners), now).findings
            linted = replace(linted, findings=_once((*linted.findings, *more)))
    for finding in linted.findings:
        if finding.name == _UNREADABLE:
            raise UnreadableSource(
                f"{finding.message}: what it holds cannot be judged", help=finding.help, location=finding.location
            )
    return linted


def _policies(projects: Iterable[Project]) -> tuple[Policy, ...]:
    return tuple(v[-1] for p in projects for v in p.policies.values())


def _with_rules_of(base: GateSide, head: Tree) -> Tree:
    """The head with the base's own secret rules, where the files of them differ."""
    changed: dict[str, bytes | str | None] = {}
    for path in base.settings.extra.get("secret-rules", ()):
        rules = read_or_nothing(base.tree, path)
        if rules and rules != read_or_nothing(head, path):
            changed[path] = rules
    if not changed:
        return head
    from ctxc.source.overlay import OverlayTree

    return OverlayTree(head, changed)


def _once(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Each finding once, the more severe of two."""
    found: dict[str, Finding] = {}
    for finding in findings:
        key = key_of(finding)
        if key not in found or finding.severity > found[key].severity:
            found[key] = finding
    return tuple(found.values())


def _lint(
    workspace: Workspace,
    project: Project,
    head: GateSide,
    tree: Tree,
    settings: Settings,
    policies: Sequence[Policy],
    now: str,
) -> Linted:
    from ctxc.app.masking import mask_messages
    from ctxc.rules.engine import run

    options = LintOptions(tier=str(settings.extra.get("tier") or "default"))
    check_words(options, settings)
    clean = head.clean if tree is head.tree else None  # it knows the files by what they are in that tree
    context = context_of(project, tree, settings, head.store, now=now, clean=clean)
    chosen = [r for r in choose(options, settings, workspace.root) if _can_fail(r, settings, policies)]
    findings = tuple(mask_messages(run(context, chosen)))
    return Linted(
        findings=findings,
        context=context,
        facts=Lint(
            files=len(head.scan.digests),
            rules=len(chosen),
            below=sum(f.severity < Severity.ERROR for f in findings),
            notes=sum(f.severity < Severity.WARNING for f in findings),
        ),
    )


def _can_fail(rule: Rule, settings: Settings, policies: Sequence[Policy]) -> bool:
    """Whether a rule's findings may be at the level from which a gate fails."""
    return not rule.advice or rule.code in _raised(settings, policies)


def _raised(settings: Settings, policies: Sequence[Policy]) -> frozenset[str]:
    """Codes whose severity somebody sets; all where a policy fails on warnings."""
    given: list[Mapping[str, Any]] = [settings.extra.get("rules", {}), *(p.rules for p in policies)]
    words = [word for rules in given for word in rules]
    codes = frozenset(c for found in codes_of(words).values() for c in found)
    steps = [p.gates.get("schema") for p in policies]
    if any(isinstance(s, Mapping) and s.get("level") == "warning" for s in steps):
        from ctxc.model.codes import CODES

        return frozenset(CODES)
    return codes
