"""Fixtures as tests of pytest: ``pytest --ctxc`` compiles each fixture of the project and fails where ``ctxc`` would.

Each fixture is an item of the file that it stands in (``tests/fixtures/refund.yaml::refund``); one more item,
``ctxc::sources``, holds what is wrong with the sources, whichever fixture uses them. Tests in Python may ask for
``ctxc_project`` and ``ctxc_compile``. Without ``--ctxc`` nothing is collected, and nothing of ctxc is imported but this
file: pytest loads it in every project of an environment that it is installed in.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ctxc.app.workspace import Workspace
    from ctxc.compiler.pipeline import Compiler
    from ctxc.model.finding import Finding
    from ctxc.model.fixture import Fixture
    from ctxc.model.package import Package
    from ctxc.model.project import Project

PROJECT = "ctxc_project"
_SUFFIXES = (".yaml", ".yml", ".json", ".jsonl", ".md")


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option that asks for the tests, and where the project lies."""
    group = parser.getgroup("ctxc", "what a language model is shown")
    group.addoption("--ctxc", action="store_true", help="test each fixture of the ctxc project: compile it and check")
    parser.addini(PROJECT, "folder of the ctxc project, relative to the root of the tests (default: that root)")


def pytest_configure(config: pytest.Config) -> None:
    """Take part in collecting only where that was asked for."""
    if config.getoption("ctxc"):
        config.pluginmanager.register(_Collecting(config), "ctxc-collecting")
        # Asked first, because what was registered last is.
        config.pluginmanager.register(_CollectingSources(config), "ctxc-collecting-sources")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Write what the caches learned."""
    opened = config.stash.get(_OPENED, None)
    if opened is not None:
        opened.workspace.close()


@pytest.fixture(scope="session")
def ctxc_project(pytestconfig: pytest.Config) -> Project:
    """The ctxc project of these tests, loaded; what is wrong with its files is in its ``findings``."""
    return _open(pytestconfig).project


@pytest.fixture(scope="session")
def ctxc_compile(pytestconfig: pytest.Config) -> Callable[..., Package]:
    """``ctxc_compile("refund", provider="", model="")``: the package of a fixture, by its id or made in memory."""

    def call(fixture: str | Fixture, *, provider: str = "", model: str = "") -> Package:
        from ctxc.app.api import find_fixture
        from ctxc.compiler.stage import Options

        opened = _open(pytestconfig)
        found = find_fixture(opened.project, fixture) if isinstance(fixture, str) else fixture
        if not (provider or model):
            return opened.compiler.compile(found)
        return opened.workspace.compiler(Options(provider=provider, model=model)).compile(found)

    return call


# --- the project -----------------------------------------------------------------------------------------------------


class _Opened:
    """The project of one run of pytest. ``fixtures`` and ``broken`` are by path, relative to the project."""

    def __init__(self, workspace: Workspace, compiler: Compiler) -> None:
        self.workspace = workspace
        self.project = workspace.project
        self.compiler = compiler
        self.fixtures: dict[str, list[Fixture]] = {}
        self.broken: dict[str, list[Finding]] = {}

    def path_of(self, file: Path) -> str:
        """The path of a file in the project; empty for one that is not in it."""
        for mine, root in ((file, self.workspace.root), (file.resolve(), self.workspace.root.resolve())):
            if mine.is_relative_to(root):
                return mine.relative_to(root).as_posix()
        return ""

    def wrong(self, findings: Iterable[Finding]) -> list[Finding]:
        """Findings that make a test fail, by the project's own severity."""
        from ctxc.model.finding import Severity

        fail_on = str(self.workspace.settings.extra.get("fail-on") or "error")
        return [f for f in findings if fail_on != "never" and f.severity >= Severity[fail_on.upper()]]

    def told(self, findings: Iterable[Finding]) -> str:
        """Findings as ``ctxc`` prints them, with the lines that they are about."""
        from ctxc.report import View
        from ctxc.report._frame import frames

        return _inert("\n".join(frames(findings, View(source=self.workspace.sources()))))


_OPENED: pytest.StashKey[_Opened] = pytest.StashKey()


def _open(config: pytest.Config) -> _Opened:
    """The project, loaded once. Raises CtxcError where it cannot be."""
    known = config.stash.get(_OPENED, None)
    if known is not None:
        return known
    from ctxc.app.gates._caches import why_no_cache
    from ctxc.app.workspace import open_workspace
    from ctxc.compiler.stage import Options
    from ctxc.model.finding import Severity

    environment = dict(os.environ)
    named = environment.get("CTXC_PROJECT")
    start = config.invocation_params.dir / named if named else config.rootpath / str(config.getini(PROJECT) or "")
    no_cache = bool(why_no_cache(start, environment, None))
    workspace = open_workspace(start, flags={}, environment=environment, no_cache=no_cache)
    project = workspace.project
    opened = _Opened(workspace, workspace.compiler(Options()))
    for fixture in project.fixtures.values():
        opened.fixtures.setdefault(fixture.origin.path, []).append(fixture)
    folders = tuple(f"{folder}/" for folder in workspace.settings.fixtures)
    for finding in project.findings:
        path = finding.location.path
        if finding.severity is Severity.ERROR and path.startswith(folders) and path not in opened.fixtures:
            opened.broken.setdefault(path, []).append(finding)
    config.stash[_OPENED] = opened
    return opened


def _inert(text: str) -> str:
    """What a CI log may hold: no line of it is a command to GitHub's runner."""
    from ctxc.app.logs import is_read_log
    from ctxc.report._encode import guard_log

    return guard_log(text) if is_read_log(os.environ) else text


def _sentence(error: Exception) -> str:
    """What stopped ctxc, with its remedy, as its own command line says it."""
    from ctxc.base.errors import CtxcError
    from ctxc.report._encode import visible

    assert isinstance(error, CtxcError)
    place = f"{error.location}: " if error.location is not None else ""
    told = visible(f"{place}{error.message}")
    return _inert(f"{told}\n  help: {visible(error.help, newlines=True)}" if error.help else told)


# --- collecting ------------------------------------------------------------------------------------------------------


class _Collecting:
    """Hooks that only a run with ``--ctxc`` has."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.asked = True
        self.whole = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Refuse a project that would give no test; look for fixtures also where pytest would not."""
        config = self.config
        if all(name.partition("::")[0].endswith(".py") for name in config.args):
            # Named files of Python. Pytest still asks about each file beside the folders on the way to them.
            self.asked = False
            return
        from ctxc.base.errors import CtxcError

        try:
            opened = _open(config)
        except CtxcError as error:
            raise pytest.UsageError(f"--ctxc: {_sentence(error)}") from None
        if not opened.fixtures and not opened.broken:
            raise pytest.UsageError(
                "--ctxc: the project has no fixtures, so nothing would be tested\n"
                f"  help: add one under {opened.workspace.settings.fixtures[0]}/ (`ctxc init` writes an example)"
            )
        source = config.args_source
        self.whole = source is config.ArgsSource.TESTPATHS or (
            source is config.ArgsSource.INVOCATION_DIR and config.invocation_params.dir == config.rootpath
        )
        if self.whole:
            places = [Path(os.path.normpath(config.invocation_params.dir / name)) for name in config.args]
            for path in sorted({*opened.fixtures, *opened.broken}):
                file = opened.workspace.root / path
                if not any(file.is_relative_to(place) for place in places):
                    config.args.append(str(file))

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """The tests of a file that holds fixtures, or the reason why it holds none."""
        if not self.asked or file_path.suffix.lower() not in _SUFFIXES:
            return None
        from ctxc.base.errors import CtxcError

        try:
            opened = _open(self.config)
        except CtxcError as error:
            raise pytest.Collector.CollectError(_sentence(error)) from None
        path = opened.path_of(file_path)
        if path not in opened.fixtures and path not in opened.broken:
            return None
        found: _File = _File.from_parent(parent, path=file_path, opened=opened, source=path)
        return found

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Refuse a run over everything that looked at no fixture."""
        opened = self.config.stash.get(_OPENED, None)
        if not self.whole or opened is None or session.testsfailed or self.config.getoption("lf", False):
            return
        if not any(isinstance(item, _FixtureItem) for item in items):
            raise pytest.UsageError(
                f"--ctxc: none of the project's {len(opened.project.fixtures):,} fixtures was collected\n"
                "  help: look at --ignore, norecursedirs and collect_ignore, or name their files"
            )


class _CollectingSources:
    """Puts the test of the sources before the first file that holds fixtures."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.done = False

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """The sources, once."""
        opened = self.config.stash.get(_OPENED, None)
        if self.done or opened is None or opened.path_of(file_path) not in opened.fixtures:
            return None
        self.done = True
        found: _Project = _Project.from_parent(parent, path=file_path, name="ctxc", nodeid="ctxc", opened=opened)
        return found


class _Wrong(Exception):
    """What a test of ctxc found, as text for people."""


class _Item(pytest.Item):
    """A test of ctxc: what it finds is printed as ctxc prints it."""

    def __init__(self, *, opened: _Opened, **named: Any) -> None:
        super().__init__(**named)
        self.opened = opened

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *unused: Any) -> Any:
        """The findings; a traceback only for a fault in ctxc itself."""
        from ctxc.base.errors import CtxcError

        if isinstance(excinfo.value, _Wrong):
            return str(excinfo.value)
        if isinstance(excinfo.value, CtxcError):
            return _sentence(excinfo.value)
        return super().repr_failure(excinfo)


class _Project(pytest.Collector):
    """The project as a whole."""

    def __init__(self, *, opened: _Opened, **named: Any) -> None:
        super().__init__(**named)
        self.opened = opened

    def collect(self) -> Iterator[pytest.Item]:
        """One test of all its sources."""
        yield _Sources.from_parent(self, name="sources", opened=self.opened)


class _Sources(_Item):
    """What is wrong with the files of the project, used or not."""

    def runtest(self) -> None:
        """Fail where anything could not be loaded."""
        wrong = self.opened.wrong(self.opened.project.findings)
        if wrong:
            raise _Wrong(self.opened.told(wrong))

    def reportinfo(self) -> tuple[Path, None, str]:
        """The project."""
        return self.opened.workspace.root, None, self.nodeid


class _File(pytest.File):
    """A file of the project that holds fixtures, or should."""

    def __init__(self, *, opened: _Opened, source: str, **named: Any) -> None:
        super().__init__(**named)
        self.opened = opened
        self.source = source

    def collect(self) -> Iterator[pytest.Item]:
        """One test for each fixture, in the order of the file."""
        if self.source in self.opened.broken:
            raise self.CollectError(self.opened.told(self.opened.broken[self.source]))
        from ctxc.report._encode import guard_log, visible

        for fixture in self.opened.fixtures[self.source]:
            # The id is printed by pytest, wherever it prints it.
            name = guard_log(visible(fixture.id))
            yield _FixtureItem.from_parent(self, name=name, opened=self.opened, fixture=fixture)


class _FixtureItem(_Item):
    """One fixture: it compiles to what it expects, and nothing is wrong with what it is made of."""

    def __init__(self, *, fixture: Fixture, **named: Any) -> None:
        super().__init__(**named)
        self.fixture = fixture

    def runtest(self) -> None:
        """Compile and check; the tokens go into the report of the test."""
        from ctxc.app.rows import row_of
        from ctxc.app.withhold import Withholder

        opened = self.opened
        package = Withholder().check(opened.project, opened.compiler.compile(self.fixture))
        row = row_of(package, self.fixture)
        self.user_properties.append(("ctxc_outcome", row.outcome))
        if row.used is not None:
            self.user_properties.append(("ctxc_tokens", row.used))
        wrong = opened.wrong(package.findings)
        if not wrong and row.ok:
            return
        from ctxc.report._encode import visible

        told = opened.told(wrong)
        if not wrong:
            lines = [f"{p.key} is {visible(p.actual)}, expected {visible(p.expected)}" for p in row.problems]
            told = _inert("\n".join(lines or [f"the outcome is {row.outcome}"]) + "\n")
        raise _Wrong(told)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The line of the file in which the fixture begins."""
        span = self.opened.project.sources.locate(self.fixture.origin).span
        # In a name alone pytest would take the points for those of Python.
        return self.path, span.line - 1 if span is not None else None, f"fixture {self.name}"
