"""Compile the fixtures of a workspace, and return stored packages for what did not change.

A stored package is returned only where everything that it was made from has the digest it had (``Scan``,
``PackageStore``). Whatever changed, appeared or is gone makes the project be loaded again; then what the change can
reach is compiled. What is wrong is never stored: a project with errors is loaded, and an invalid fixture compiled,
every time, because what would mend it may be a file that nobody has read yet.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from ctxc.app.rows import package_json, request_json, row_of
from ctxc.app.scan import Scan
from ctxc.app.store import Known, PackageStore, Record, StoredRow
from ctxc.base.errors import InternalFault, NothingMatched
from ctxc.model.finding import Finding, Severity
from ctxc.model.report import Compiled, CompileRun, Report

if TYPE_CHECKING:
    from ctxc.app.workspace import Workspace
    from ctxc.compiler.pipeline import Compiler
    from ctxc.model.fixture import Fixture
    from ctxc.model.project import Project


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which fixtures: ids or globs of ids, templates (ids or globs); empty means all."""

    fixtures: tuple[str, ...] = ()
    templates: tuple[str, ...] = ()
    allow_empty: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether the whole project is meant."""
        return not self.fixtures and not self.templates


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
    job = _Job(workspace, selection, options)
    outcome = job.run()
    workspace.close()
    return outcome


class _Job:
    def __init__(self, workspace: Workspace, selection: Selection, options: CompileOptions) -> None:
        self.workspace = workspace
        self.selection = selection
        self.options = options
        self.scan = Scan(workspace.tree, workspace.settings)
        settings = workspace.settings
        self.store = PackageStore(
            workspace.store,
            [
                {f.name: getattr(settings, f.name) for f in fields(settings)},
                [options.provider, options.model, options.with_content],
            ],
        )
        self.rows: dict[str, StoredRow] = {}
        self.texts: dict[str, Callable[[], str]] = {}
        self.notes: list[str] = []

    def run(self) -> Outcome:
        record = self.store.record(self.scan) if self.workspace.cache is not None else None
        if record is not None and self._from_store(record):
            return self._outcome(record.known, record.findings)
        project = self.workspace.project
        known = self._compile(project, record)
        findings = project.findings
        self._keep(known, findings)
        return self._outcome(known, findings)

    # --- from the store -------------------------------------------------------------------------------------------

    def _from_store(self, record: Record) -> bool:
        """Take what is stored and still true; whether that is everything that was asked for."""
        same = record.everything == self.scan.everything
        wanted = [k for k in record.known if not same or self._is_selected(k)]
        self._take(wanted)
        return same and bool(wanted) and all(k.fixture_id in self.rows for k in wanted)

    def _take(self, wanted: Sequence[Known]) -> None:
        keys = {k.fixture_id: self.store.key(self.scan, k) for k in wanted if k.files is not None}
        rows = self.store.rows(keys.values())
        packages = self.store.packages(keys.values()) if self.options.with_packages else {}
        for fixture_id, key in keys.items():
            row = rows.get(key)
            if row is None or row.row.fixture_id != fixture_id:
                continue
            if self.options.with_packages:
                text = packages.get(key)
                if text is None:
                    continue
                self.texts[fixture_id] = _constant(text)
            self.rows[fixture_id] = row

    # --- by compiling ---------------------------------------------------------------------------------------------

    def _compile(self, project: Project, record: Record | None) -> tuple[Known, ...]:
        from ctxc.compiler.stage import Options

        compiler = self.workspace.compiler(Options(provider=self.options.provider, model=self.options.model))
        before = {k.fixture_id: k for k in record.known} if record is not None else {}
        known: list[Known] = []
        fresh: dict[bytes, StoredRow] = {}
        texts: dict[bytes, str] = {}
        compiled = 0
        for fixture in project.fixtures.values():
            entry = Known(fixture_id=fixture.id, template=fixture.template, path=fixture.origin.path)
            old = before.get(fixture.id)
            if old is not None and (old.path, old.template) == (entry.path, entry.template):
                entry = old
            if self._is_selected(entry) and fixture.id not in self.rows:
                entry, row, text = self._compile_one(compiler, fixture, entry)
                compiled += 1
                if self.workspace.cache is not None and entry.files is not None:
                    key = self.store.key(self.scan, entry)
                    fresh[key] = row
                    if text is not None:
                        texts[key] = text
            known.append(entry)
        self.notes.append(f"{compiled} compiled, {len(self.rows) - compiled} from the cache")
        self.store.put_rows(fresh)
        self.store.put_packages(texts)
        return tuple(known)

    def _compile_one(self, compiler: Compiler, fixture: Fixture, entry: Known) -> tuple[Known, StoredRow, str | None]:
        package = compiler.compile(fixture)
        row = StoredRow(row=row_of(package, fixture), findings=package.findings)
        self.rows[fixture.id] = row
        text = None
        with_content = self.options.with_content
        if self.options.with_packages:
            text = package_json(package, with_content=with_content)
            self.texts[fixture.id] = _constant(text)
        else:
            self.texts[fixture.id] = lambda: package_json(package, with_content=with_content)
        return replace(entry, files=None if row.row.outcome == "invalid" else package.dependencies), row, text

    def _keep(self, known: tuple[Known, ...], findings: tuple[Finding, ...]) -> None:
        if self.workspace.cache is None or any(f.severity is Severity.ERROR for f in findings):
            return
        self.store.put_record(self.scan, Record(everything=self.scan.everything, known=known, findings=findings))

    # --- what comes out -------------------------------------------------------------------------------------------

    def _is_selected(self, known: Known) -> bool:
        template = known.template.partition("@")[0]
        return (not self.selection.fixtures or any(_fits(known.fixture_id, p) for p in self.selection.fixtures)) and (
            not self.selection.templates or any(_fits(template, p) for p in self.selection.templates)
        )

    def _outcome(self, known: Sequence[Known], findings: tuple[Finding, ...]) -> Outcome:
        wanted = [k for k in known if self._is_selected(k)]
        self._check_selection(known, wanted, findings)
        compiled = tuple(self._compiled(k.fixture_id) for k in wanted)
        own = [f for k in wanted for f in self.rows[k.fixture_id].findings]
        mine = findings if self.selection.is_whole else self._reaching(wanted, findings)
        if len(mine) < len(findings):
            self.notes.append(
                f"{len(findings) - len(mine)} findings in files that this selection does not use; "
                "`ctxc compile` without a selection shows them"
            )
        from ctxc import __version__

        unique = {f.fingerprint: f for f in (*mine, *own)}
        report = Report(
            command="compile",
            version=__version__,
            findings=tuple(sorted(unique.values(), key=lambda f: f.sort_key)),
            checked={"fixture": len(compiled)},
        )
        return Outcome(run=CompileRun(compiled=compiled, report=report), notes=tuple(self.notes))

    def _compiled(self, fixture_id: str) -> Compiled:
        text = self.texts.get(fixture_id, _no_package)

        def request() -> str | None:
            return request_json(json.loads(text())["request"])

        return Compiled(row=self.rows[fixture_id].row, package=text, request=request)

    def _reaching(self, wanted: Iterable[Known], findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
        """Findings of loading in files that the selected fixtures are made from."""
        files = {path for k in wanted for path in (k.files or (k.path,))}
        return tuple(f for f in findings if f.location.path in files)

    def _check_selection(self, known: Sequence[Known], wanted: Sequence[Known], findings: tuple[Finding, ...]) -> None:
        if self.selection.allow_empty:
            return
        ids = [k.fixture_id for k in known]
        for pattern in self.selection.fixtures:
            if not any(_fits(i, pattern) for i in ids):
                raise _nothing("fixture", pattern, ids, findings)
        for pattern in self.selection.templates:
            templates = sorted({k.template.partition("@")[0] for k in known})
            if not any(_fits(t, pattern) for t in templates):
                raise _nothing("template", pattern, templates, findings)
        if not wanted and not self.selection.is_whole:
            raise NothingMatched(
                "no fixture has one of these ids and one of these templates", help="`ctxc list fixtures` shows all"
            )
        if not wanted and not any(f.severity is Severity.ERROR for f in findings):
            raise NothingMatched(
                "the project has no fixtures: nothing was compiled",
                help=f"add one under {self.workspace.settings.fixtures[0]}/ (`ctxc init` writes an example), "
                "or pass --allow-empty",
            )


def _fits(name: str, pattern: str) -> bool:
    return name == pattern or fnmatchcase(name, pattern)


def _nothing(what: str, pattern: str, names: Sequence[str], findings: tuple[Finding, ...]) -> NothingMatched:
    near = get_close_matches(pattern, names, n=1, cutoff=0.5)
    errors = sum(f.severity is Severity.ERROR for f in findings)
    hints = [f"did you mean {near[0]!r}?"] if near else []
    hints.append(f"`ctxc list {what}s` shows all")
    if errors:
        hints.append(f"{errors} errors kept files from being loaded: `ctxc compile` without a selection shows them")
    return NothingMatched(f"no {what} matches {pattern!r}", help="; ".join(hints))


def _constant(text: str) -> Callable[[], str]:
    return lambda: text


def _no_package() -> str:
    raise InternalFault("a package was asked for that was not announced")


def failing(run: CompileRun, fail_on: str) -> bool:
    """Whether a run fails: a finding at or above the severity, or a fixture that is not as expected."""
    if fail_on == "never":
        return False
    worst = run.report.worst
    least = Severity[fail_on.upper()]
    return (worst is not None and worst >= least) or any(not c.row.ok for c in run.compiled)
