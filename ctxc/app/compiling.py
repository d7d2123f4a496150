"""Compile the fixtures of a workspace, and return stored packages for what did not change.

A stored package is returned only where everything that it was made from has the digest it had (``Scan``,
``PackageStore``). Whatever changed, appeared or is gone makes the project be loaded again, without the fixtures that
the change cannot reach; then what it can reach is compiled. What is wrong is never stored: a project with errors is
loaded, and an invalid fixture compiled, every time, because what would mend it may be a file that nobody has read yet.
Only a policy with errors changes nothing: no fixture is compiled from it.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from ctxc.app.asked import AskedTree
from ctxc.app.masking import mask_messages, mask_value
from ctxc.app.naming import lost_fixtures
from ctxc.app.overrides import check_overrides
from ctxc.app.rows import package_json, request_json, row_of
from ctxc.app.scan import ABSENT, Scan, is_policy
from ctxc.app.selection import Selection
from ctxc.app.store import Known, PackageStore, Record, StoredRow
from ctxc.base.errors import InternalFault
from ctxc.base.values import dataclass
from ctxc.model.finding import Finding, Severity
from ctxc.model.report import Compiled, CompileRun, Report

if TYPE_CHECKING:
    from ctxc.app.workspace import Workspace
    from ctxc.model.fixture import Fixture
    from ctxc.model.package import Package
    from ctxc.model.project import Project


_NAMED = 5  # changed files that a note names


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileOptions:
    """How to compile. ``with_packages``: the caller will ask for JSON, so stored rows alone are not enough."""

    provider: str = ""
    model: str = ""
    with_content: bool = False
    with_packages: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A run, and for people who asked: where its packages came from, and what stands outside the selection."""

    run: CompileRun
    notes: tuple[str, ...] = ()


def compile_fixtures(workspace: Workspace, selection: Selection, options: CompileOptions) -> Outcome:
    """Compile what is selected; raises NothingMatched where nothing is."""
    outcome = _Job(workspace, selection, options).run()
    workspace.close()
    return outcome


def failing(run: CompileRun, fail_on: str) -> bool:
    """Whether a run fails: a finding at or above the severity, or a fixture that is not as expected."""
    return fail_on != "never" and (run.report.reaches(fail_on) or any(not c.row.ok for c in run.compiled))


class _Job:
    def __init__(self, workspace: Workspace, selection: Selection, options: CompileOptions) -> None:
        self.workspace = workspace
        self.selection = selection
        self.options = options
        self.scan = Scan(workspace.tree, workspace.settings)
        self.tree = AskedTree(workspace.tree)
        settings = workspace.settings
        self.store = PackageStore(
            workspace.store,
            [
                {f.name: getattr(settings, f.name) for f in fields(settings)},
                [options.provider, options.model, options.with_content],
            ],
        )
        self.rows: dict[str, StoredRow] = {}
        self.texts: dict[str, str] = {}
        self.notes: list[str] = []
        self.policies: set[str] = set()  # broken ones: what is wrong with them keeps nothing from being compiled
        self.lost: dict[str, str] = {}  # files of fixtures that could not be loaded, each with its id

    def run(self) -> Outcome:
        record = self.store.record(self.scan) if self.workspace.cache is not None else None
        outside = {path: self.scan.digest(path) for path in record.outside} if record is not None else {}
        if record is not None and _appeared(record.outside, outside):
            record = None
        if record is not None:
            self._take(record)
            same = record.everything == self.scan.everything and record.outside == outside
            if same and self._is_complete(record):
                self.notes.append(f"0 compiled, {len(self.rows):,} from the cache: nothing changed")
                return self._outcome(record.known, record.findings)
        known, findings = self._compile_again(record)
        errors = {f.location.path for f in findings if f.severity is Severity.ERROR}
        if self.workspace.cache is not None and errors <= self.policies:
            self.store.put_record(
                self.scan,
                Record(
                    everything=self.scan.everything,
                    digests=self.scan.shortened(),
                    known=known,
                    findings=findings,
                    outside=self._outside(record),
                ),
            )
        return self._outcome(known, findings)

    def _outside(self, record: Record | None) -> dict[str, str]:
        """What loading asked for beside the project's folders, now and when what is taken from the store was loaded."""
        asked = self.tree.asked | (record.outside.keys() if record is not None else set())
        return {path: self.scan.digest(path) for path in sorted(asked - self.scan.digests.keys())}

    # --- from the store -------------------------------------------------------------------------------------------

    def _take(self, record: Record) -> None:
        """Take the rows that are stored and still true of what is selected."""
        wanted = [k for k in record.known if k.files is not None and self.selection.holds(k)]
        keys = {k.fixture_id: self.store.key(self.scan, k) for k in wanted}
        rows = self.store.rows(keys.values())
        packages = self.store.packages(keys.values()) if self.options.with_packages else {}
        for fixture_id, key in keys.items():
            row = rows.get(key)
            if row is None or row.row.fixture_id != fixture_id:
                continue
            if self.options.with_packages:
                if key not in packages:
                    continue
                self.texts[fixture_id] = packages[key]
            self.rows[fixture_id] = row

    def _is_complete(self, record: Record) -> bool:
        selected = [k for k in record.known if self.selection.holds(k)]
        return bool(selected) and all(k.fixture_id in self.rows for k in selected)

    # --- by compiling ---------------------------------------------------------------------------------------------

    def _compile_again(self, record: Record | None) -> tuple[tuple[Known, ...], tuple[Finding, ...]]:
        """Load what a change may have reached and compile it; all fixtures of the project, and its findings."""
        changes = self.scan.changes(record.digests) if record is not None else {}
        self._say_why(record, changes)
        left = _untouched(record, changes, self.rows, self.selection) if record is not None else ()
        if left and record is not None:
            files = frozenset(path for k in left for path in (k.files or ()) if path in self.scan.own_files)
            project = self.workspace.load(self.tree, hidden=files)
            if self.scan.is_sound(project) and not _meet(project, left):
                known = self._compile(project, record)
                old = tuple(f for f in record.findings if f.location.path in files)
                merged = sorted((*known, *left), key=lambda k: k.path)
                return tuple(merged), (*mask_messages(project.findings), *old)
        project = self.workspace.load(self.tree)
        if not self.scan.is_sound(project):
            # What is wrong may keep a fixture from being compiled that was compiled before.
            self.rows.clear()
            self.texts.clear()
        return self._compile(project, record), tuple(mask_messages(project.findings))

    def _say_why(self, record: Record | None, changes: dict[str, str]) -> None:
        if self.workspace.cache is None:
            return
        if record is None:
            self.notes.append(
                "nothing stored for this state of manifests and templates, these options and this version of ctxc"
            )
        elif changes:
            named = [f"{path} {how}" for path, how in list(changes.items())[:_NAMED]]
            more = f" and {len(changes) - _NAMED:,} more" if len(changes) > _NAMED else ""
            self.notes.append(f"since the last run: {', '.join(named)}{more}")

    def _compile(self, project: Project, record: Record | None) -> tuple[Known, ...]:
        from ctxc.app.withhold import Withholder
        from ctxc.compiler.stage import Options

        if self.options.provider or self.options.model:
            check_overrides(project, self.options.provider, self.options.model)
        compiler = self.workspace.compiler(
            Options(provider=self.options.provider, model=self.options.model), project=project
        )
        self.lost = lost_fixtures(project)
        self.policies = {path for path in project.broken_kinds if is_policy(project, path)}
        before = {k.fixture_id: k for k in record.known} if record is not None else {}
        fresh: dict[bytes, StoredRow] = {}
        texts: dict[bytes, str] = {}
        entries = {f.id: _known(f, before.get(f.id)) for f in project.fixtures.values()}
        for name in [n for n, entry in entries.items() if n in self.rows and entry.files is None]:
            # The id is that of another fixture now.
            del self.rows[name]
            self.texts.pop(name, None)
        wanted = [f for f in project.fixtures.values() if f.id not in self.rows and self.selection.holds(entries[f.id])]
        withholder = Withholder()
        for fixture, package in zip(wanted, compiler.compile_all(wanted), strict=True):
            entry, row, text = self._take_package(withholder.check(project, package), fixture, entries[fixture.id])
            entries[fixture.id] = entry
            if self.workspace.cache is not None and entry.files is not None:
                key = self.store.key(self.scan, entry)
                fresh[key] = row
                if text is not None:
                    texts[key] = text
        self.notes.append(f"{len(wanted):,} compiled, {len(self.rows) - len(wanted):,} from the cache")
        if self.scan.is_sound(project):
            self.store.put_rows(fresh)
            self.store.put_packages(texts)
        return tuple(entries.values())

    def _take_package(self, package: Package, fixture: Fixture, entry: Known) -> tuple[Known, StoredRow, str | None]:
        row = StoredRow(row=row_of(package, fixture), findings=tuple(map(_masked, mask_messages(package.findings))))
        self.rows[fixture.id] = row
        text = None
        if self.options.with_packages:
            text = package_json(package, with_content=self.options.with_content)
            self.texts[fixture.id] = text
        return replace(entry, files=None if row.row.outcome == "invalid" else package.dependencies), row, text

    # --- what comes out -------------------------------------------------------------------------------------------

    def _outcome(self, known: Sequence[Known], findings: tuple[Finding, ...]) -> Outcome:
        from ctxc import __version__

        self.selection.check(known, findings, self.workspace.settings.fixtures[0], lost=self.lost, reported=True)
        wanted = [k for k in known if self.selection.holds(k)]
        compiled = tuple(self._compiled(k.fixture_id) for k in wanted)
        own = [f for k in wanted for f in self.rows[k.fixture_id].findings]
        if self.selection.allow_empty:
            findings = tuple(f for f in findings if f.name != "empty-project")
        mine = findings if self.selection.is_whole else _reaching(wanted, own, findings, self.selection.lost(self.lost))
        if len(mine) < len(findings):
            self.notes.append(
                f"{len(findings) - len(mine):,} findings in files that this selection does not use; "
                "`ctxc compile` without a selection shows them"
            )
        report = Report(
            command="compile",
            version=__version__,
            findings=tuple(sorted(_once(mine, own), key=lambda f: f.sort_key)),
            checked={"fixture": len(compiled)},
        )
        return Outcome(run=CompileRun(compiled=compiled, report=report), notes=tuple(self.notes))

    def _compiled(self, fixture_id: str) -> Compiled:
        def package() -> str:
            if fixture_id not in self.texts:
                raise InternalFault("a package was asked for that was not announced")
            return self.texts[fixture_id]

        def request() -> str | None:
            return request_json(json.loads(package())["request"])

        return Compiled(row=self.rows[fixture_id].row, package=package, request=request)


def _masked(finding: Finding) -> Finding:
    """A finding of an expectation that does not hold quotes what was expected."""
    told = {key: mask_value(value) for key, value in finding.data.items() if key in ("expected", "actual")}
    return finding if not told else replace(finding, data={**finding.data, **told})


def _known(fixture: Fixture, before: Known | None) -> Known:
    """A fixture as a record knows it, with the files it was compiled from where it is the same fixture as before."""
    entry = Known(
        fixture_id=fixture.id, template=fixture.template, path=fixture.origin.path, conversation=fixture.conversation
    )
    return before if before is not None and replace(before, files=None) == entry else entry


def _untouched(
    record: Record, changes: Container[str], rows: dict[str, StoredRow], selection: Selection
) -> tuple[Known, ...]:
    """Fixtures that need not be loaded: their file did not change, and no fixture in it has to be compiled."""
    by_path: dict[str, list[Known]] = {}
    for entry in record.known:
        by_path.setdefault(entry.path, []).append(entry)
    left: list[Known] = []
    for path, entries in by_path.items():
        if path in changes:
            continue
        if all(k.files is not None and (k.fixture_id in rows or not selection.holds(k)) for k in entries):
            left += entries
    # One fixture stays in sight: without any, loading would find the project empty.
    return tuple(left) if len(left) < len(record.known) else tuple(k for k in left if k.path != left[0].path)


def _appeared(before: Mapping[str, str], now: Mapping[str, str]) -> bool:
    """Whether a file that was looked for and not found is there now, or the other way round: then a name may mean
    another file, or none."""
    return any((before[path] == ABSENT) != (digest == ABSENT) for path, digest in now.items())


def _meet(project: Project, hidden: Iterable[Known]) -> bool:
    """Whether an id occurs both in what was loaded and in what was not."""
    return any(
        k.fixture_id in project.fixtures or (k.conversation and k.conversation in project.conversations) for k in hidden
    )


def _reaching(
    wanted: Iterable[Known], own: Iterable[Finding], findings: tuple[Finding, ...], lost: frozenset[str]
) -> tuple[Finding, ...]:
    """Findings of loading in files that the selected fixtures are made from, or that keep them from being compiled, and
    in the files of selected fixtures that could not be loaded."""
    files = lost | {path for k in wanted for path in (k.files or (k.path,))}
    files |= {place.path for f in own for place in (f.location, *(r.location for r in f.related))}
    return tuple(f for f in findings if f.location.path in files)


def _once(loaded: Iterable[Finding], compiled: Iterable[Finding]) -> Iterable[Finding]:
    """Each finding once. What loading found and a compile ran into at the same place is told of the fixture only."""
    own = {f.fingerprint: f for f in compiled}
    met = {(f.code, f.location.path, f.location.span) for f in own.values()}
    rest = {f.fingerprint: f for f in loaded if (f.code, f.location.path, f.location.span) not in met}
    return (rest | own).values()
