"""What lint has to say of the judged tree, by the head's settings and by the base's; nothing of it silenced yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ctxc.app.gates import Lint
from ctxc.app.gates._files import read_or_nothing
from ctxc.app.lint import LintOptions, lint
from ctxc.app.workspace import Workspace
from ctxc.base.errors import UnreadableSource
from ctxc.model.finding import Finding, Severity

if TYPE_CHECKING:
    from ctxc.app.gates._side import GateSide
    from ctxc.model.project import Settings
    from ctxc.source.tree import Tree

_UNREADABLE = "unreadable-file"
_OF_LINT = ("select", "ignore", "tier", "rules", "internal-hosts", "secret-rules")
"""Settings that decide what lint looks for."""


class Quiet(Workspace):
    """A workspace that keeps its caches open: the gate closes them when everything is judged."""

    def close(self) -> None:
        """Nothing yet."""


def quiet(workspace: Workspace, **changed: Any) -> Quiet:
    """The workspace as another command uses it inside of a gate; ``tree`` and ``settings`` may be others."""
    config = workspace.config
    if "settings" in changed:
        config = replace(config, settings=changed["settings"])
    return Quiet(
        root=workspace.root,
        config=config,
        cache=workspace.cache,
        store=workspace.store,
        notes=[],
        environment=workspace.environment,
        _tree=changed.get("tree", workspace._tree),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Linted:
    """Findings of lint, and how much it looked at."""

    findings: tuple[Finding, ...]
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
    linted = _lint(workspace, head.tree, head.settings, now)
    if base is not None:
        theirs = {n: base.settings.extra.get(n) for n in _OF_LINT}
        tree = _with_rules_of(base, head.tree)
        if tree is not head.tree or theirs != {n: head.settings.extra.get(n) for n in _OF_LINT}:
            mixed = replace(head.settings, extra={**head.settings.extra, **theirs})
            more = _lint(workspace, tree, mixed, now).findings
            linted = replace(linted, findings=_once((*linted.findings, *more)))
    for finding in linted.findings:
        if finding.name == _UNREADABLE:
            raise UnreadableSource(
                f"{finding.message}: what it holds cannot be judged", help=finding.help, location=finding.location
            )
    return linted


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


def _lint(workspace: Workspace, tree: Tree, settings: Settings, now: str) -> Linted:
    options = LintOptions(tier=str(settings.extra.get("tier") or "default"))
    report = lint(quiet(workspace, tree=tree, settings=settings), options, now=now).report
    checked = report.checked
    return Linted(
        findings=(*report.findings, *(replace(f, suppressed=None) for f in report.suppressed)),
        facts=Lint(
            files=checked.get("file", 0),
            rules=checked.get("rule", 0),
            below=sum(f.severity < Severity.ERROR for f in report.findings),
        ),
    )
