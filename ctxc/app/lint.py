"""Lint: the rules that need sources alone, over one tree; then configuration, suppressions and baseline."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from ctxc.app import suppress
from ctxc.app.asked import AskedTree
from ctxc.app.lint_rules import check_words, choose, context_of, rule_settings
from ctxc.app.lint_store import LintStore, Record
from ctxc.app.scan import Scan
from ctxc.base.errors import ConfigError, CtxcError, NothingMatched, UnreadableSource
from ctxc.base.spans import Location
from ctxc.base.values import dataclass
from ctxc.model.codes import CODES
from ctxc.model.finding import Finding, Severity
from ctxc.model.report import Report, RuleText

if TYPE_CHECKING:
    from ctxc.app.baseline import Entry
    from ctxc.app.masking import Sources
    from ctxc.app.workspace import Workspace
    from ctxc.model.project import Project, Settings
    from ctxc.source.tree import Tree

DOCS = "https://ctxc.dev/rules#"
_MAX_INPUT_BYTES = 16 << 20  # as ctxc.source.tree.MAX_INPUT_BYTES
_EMPTY = "CTX111"


@dataclass(frozen=True, slots=True, kw_only=True)
class LintOptions:
    """What the command line asks for. ``paths`` are project paths; ``stdin`` is a path with what came through a pipe.

    ``baseline`` is the path of the baseline, empty for none.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    tier: str = "default"
    paths: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()
    staged: bool = False
    stdin: tuple[str, bytes] | None = None
    baseline: str = ""
    allow_empty: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Linted:
    """A report; what a new baseline would be made from; the tree that was judged; and notes for who asked."""

    report: Report
    tree: Tree
    entries: tuple[Entry, ...]  # of the baseline
    accepted: tuple[Finding, ...]  # silenced by the baseline
    ran: frozenset[str]
    notes: tuple[str, ...] = ()

    def sources(self) -> Sources:
        """Texts of judged files for code frames, without the secrets in them."""
        from ctxc.app.masking import Sources

        def read(path: str) -> str | None:
            data = _bytes(self.tree, path)
            return data.decode("utf-8", "replace") if data else None

        return Sources(read)

    def line_of(self, path: str, number: int) -> str:
        """A line of a judged file; empty where there is none."""
        return _Texts(self.tree).line(path, number)


def lint(workspace: Workspace, options: LintOptions, *, now: str) -> Linted:
    """Judge the project. Raises ConfigError for settings that name no rule, NothingMatched for paths without a file and
    for a project without any."""
    tree = _tree(workspace, options)
    settings = _widened(workspace.settings, tree, options)
    check_words(options, settings)
    scan = Scan(tree, settings)
    if not scan.digests and not scan.odd and not options.allow_empty:
        raise NothingMatched(
            f"{tree.label} has no files in {', '.join(_folders(settings))}: nothing was judged",
            help="run `ctxc init`, name the folders in ctxc.yaml or [tool.ctxc], or pass --allow-empty",
        )
    record, notes = _judged(workspace, tree, settings, options, scan, now)
    known = _outside_names(record, options, workspace)
    severities, _ = rule_settings(settings)
    place = Location(workspace.config.path or "ctxc.yaml")
    entries = (*record.entries, *suppress.from_settings(settings, place))
    applied = suppress.apply(
        _with_severity(record.findings, severities), entries, now=now, ran=record.ran, known=known, paths=record.paths
    )
    baseline = _read_baseline(tree, options.baseline)
    counting = tuple(applied.findings)
    accepted: tuple[Finding, ...] = ()
    slack: tuple[Finding, ...] = ()
    if baseline:
        from ctxc.app.baseline import apply

        judged = apply(counting, baseline, options.baseline, _Texts(tree).line, ran=record.ran)
        counting, accepted = judged.findings, judged.suppressed
        slack = judged.slack if "CTX905" in record.ran else ()
    found = [*counting, *_with_severity((*applied.hygiene, *slack), severities)]
    if options.allow_empty:
        found = [f for f in found if f.code != _EMPTY]
    shown = _shown(options, tree)
    report = Report(
        command="lint",
        version=_version(),
        now=now,
        findings=tuple(sorted((f for f in found if shown(f)), key=lambda f: f.sort_key)),
        suppressed=tuple(sorted((f for f in (*applied.suppressed, *accepted) if shown(f)), key=lambda f: f.sort_key)),
        checked={"file": sum(1 for p in record.paths if shown(p)), "rule": len(record.ran)},
        head={"kind": "index" if options.staged else "worktree", "label": tree.label},
        rules=RuleTexts(),
    )
    workspace.close()
    return Linted(report=report, tree=tree, entries=baseline, accepted=accepted, ran=record.ran, notes=tuple(notes))


def _version() -> str:
    from ctxc import __version__

    return __version__


# --- what is judged --------------------------------------------------------------------------------------------------


def _tree(workspace: Workspace, options: LintOptions) -> Tree:
    tree = workspace.tree
    if options.staged:
        from ctxc.source.git import Repository
        from ctxc.source.opening import open_tree

        repository = Repository.discover(workspace.root, environ=workspace.environment)
        tree = open_tree(workspace.root, repository=repository, staged=True)
    if options.stdin is not None:
        from ctxc.source.overlay import OverlayTree

        tree = OverlayTree(tree, dict([options.stdin]))
    return tree


def _folders(settings: Settings) -> tuple[str, ...]:
    folders = (*settings.templates, *settings.fragments, *settings.policies, *settings.fixtures)
    return tuple(dict.fromkeys(folders))


def _widened(settings: Settings, tree: Tree, options: LintOptions) -> Settings:
    """The settings with the folders of paths that the configured ones do not hold: any of our files may lie there."""
    folders = _folders(settings)
    wanted = [*options.paths, *([options.stdin[0]] if options.stdin is not None else [])]
    more = []
    for path in wanted:
        if not tree.list_paths([path] if path else ()):
            raise NothingMatched(
                f"there is no file {path!r} in {tree.label}", help="paths are relative to the current folder"
            )
        if not any(f in (".", path) or path.startswith(f + "/") for f in folders):
            more.append(path or ".")
    return replace(settings, templates=(*settings.templates, *dict.fromkeys(more))) if more else settings


def _shown(options: LintOptions, tree: Tree) -> Callable[[Finding | str], bool]:
    """Whether a finding (or a file) belongs to what was asked for."""
    paths = [*options.paths, *([options.stdin[0]] if options.stdin is not None else [])]

    def shown(what: Finding | str) -> bool:
        path = what if isinstance(what, str) else what.location.path
        return not paths or any(not p or path == p or path.startswith(p.rstrip("/") + "/") for p in paths)

    return shown


def _judged(
    workspace: Workspace, tree: Tree, settings: Settings, options: LintOptions, scan: Scan, now: str
) -> tuple[Record, list[str]]:
    """The record of this tree and these options, from the cache where it is there."""
    scope = [
        {f.name: getattr(settings, f.name) for f in fields(settings) if f.name != "per_file_ignores"},
        [options.select, options.ignore, options.tier],
    ]
    # Rules from outside have no digest of their own: they are run every time.
    store = LintStore(workspace.store, scope) if workspace.cache is not None and not options.plugins else None
    if store is not None:
        known = store.get(scan)
        if known is not None:
            return known, ["nothing changed: the findings are those of the last run"]
    asked = AskedTree(tree)
    record = _run(workspace, asked, settings, options, scan, now)
    if store is not None:
        store.put(scan, record, asked.asked)
    return record, [f"{len(record.ran):,} rules over {len(record.paths):,} files"]


def _run(
    workspace: Workspace, tree: AskedTree, settings: Settings, options: LintOptions, scan: Scan, now: str
) -> Record:
    from ctxc.app.masking import mask_messages
    from ctxc.app.workspace import load
    from ctxc.rules.engine import run

    project = load(tree, settings, workspace.store)
    project = with_unread(project, tree, tree.asked, scan)
    chosen = choose(options, settings, workspace.root)
    context = context_of(project, tree, settings, workspace.store, now=now)
    findings = tuple(mask_messages(run(context, chosen)))
    entries = [e for path in sorted(scan.digests) for e in suppress.from_file(path, _bytes(tree, path))]
    return Record(
        findings=findings,
        entries=tuple(entries),
        ran=frozenset(r.code for r in chosen),
        paths=tuple(sorted(scan.digests)),
    )


def with_unread(project: Project, tree: Tree, asked: Collection[str], scan: Scan) -> Project:
    """The project with what is wrong in files of its folders that nothing read (``asked``): nobody else would say."""
    from ctxc.parse import document
    from ctxc.parse.context import unreadable
    from ctxc.parse.problems import finding

    found = list(project.findings)
    seen = {f.location.path for f in found}
    for path in sorted(scan.digests):
        if path in asked or path in seen or document.syntax_of(path) == "text":
            continue
        try:
            data = tree.read(path, limit=_MAX_INPUT_BYTES)
        except UnreadableSource as error:
            found.append(finding(unreadable(error), path))
            continue
        parsed = document.parse(path, data)
        spans = document.places(path, data) if parsed.problems else {}
        found.extend(finding(p, path, span=document.find(spans, p.pointer, key=p.on_key)) for p in parsed.problems)
    return replace(project, findings=tuple(sorted(found, key=lambda f: f.sort_key)))


def _bytes(tree: Tree, path: str) -> bytes:
    try:
        return tree.read(path, limit=_MAX_INPUT_BYTES)
    except CtxcError:
        return b""


class _Texts:
    """Lines of files, decoded once."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._lines: dict[str, list[str]] = {}

    def line(self, path: str, number: int) -> str:
        """A line of a file; empty where there is none."""
        if path not in self._lines:
            text = _bytes(self._tree, path).decode("utf-8", "replace").removeprefix("\ufeff")
            self._lines[path] = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        lines = self._lines[path]
        return lines[number - 1] if 1 <= number <= len(lines) else ""


def _with_severity(findings: Iterable[Finding], severities: Mapping[str, str]) -> Iterator[Finding]:
    for finding in findings:
        given = severities.get(finding.code)
        if given == "off":
            continue
        yield replace(finding, severity=Severity[given.upper()]) if given else finding


def _outside_names(record: Record, options: LintOptions, workspace: Workspace) -> dict[str, str]:
    if not options.plugins:
        return {}
    from ctxc.app.plugins import load_rules

    return {r.code: r.name for r in load_rules(options.plugins, workspace.root)}


class RuleTexts(Mapping[str, RuleText]):
    """Texts of rules by code, read from a rule's module when a format asks for it."""

    def __getitem__(self, code: str) -> RuleText:
        from ctxc.rules import rule
        from ctxc.rules.documentation import read

        try:
            found = rule(code)
        except KeyError:
            raise KeyError(code) from None
        text = read(found.doc)
        return RuleText(code=code, name=found.name, summary=found.summary, help=text.mend, url=DOCS + code.lower())

    def __iter__(self) -> Iterator[str]:
        return iter(CODES)

    def __len__(self) -> int:
        return len(CODES)


# --- baseline --------------------------------------------------------------------------------------------------------


def _read_baseline(tree: Tree, path: str) -> tuple[Entry, ...]:
    if not path or not tree.exists(path):
        return ()
    data = tree.read(path, limit=_MAX_INPUT_BYTES)
    try:
        from ctxc.app.baseline import read

        return read(data.decode("utf-8"), path)
    except UnicodeDecodeError:
        raise ConfigError(
            f"the baseline {path!r} is not UTF-8", help="write it again", location=Location(path)
        ) from None


def new_baseline(linted: Linted, *, accept_new: bool, reason: str) -> tuple[str, dict[str, int]]:
    """The text of the baseline as it should be, and how many findings it accepts, newly accepts, and lets go.

    Without ``accept_new`` it only shrinks.
    """
    new = linted.report.findings if accept_new else ()
    fresh = [f for f in new if not f.code.startswith("CTX9")]
    from ctxc.app.baseline import updated, write

    entries = updated(linted.entries, linted.accepted, fresh, linted.line_of, ran=linted.ran, reason=reason)
    before, after = sum(e.count for e in linted.entries), sum(e.count for e in entries)
    gone = before + len(fresh) - after
    return write(entries), {"accepted": after, "new": len(fresh), "gone": gone}
