"""Golden snapshots: what each fixture compiled to when somebody last agreed, kept in the tree for those who want it.

A snapshot is the record of a compile (``ctxc.snapshot/1``), with the rendered texts beside it under ``content``, masked
where they are sensitive or hold a secret. Nothing is ever written where ``CI`` is set: what judges a change is not
written by the job that judges it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxc.app.naming import lost_fixtures
from ctxc.app.output import file_name, write_text
from ctxc.app.selection import Selection
from ctxc.base.errors import CtxcError, NothingMatched, UnreadableSource, UsageError
from ctxc.base.escaping import inert_json
from ctxc.base.values import dataclass
from ctxc.model.change import Change, FixtureChange, Revision

if TYPE_CHECKING:
    from ctxc.app.diff_sides import DiffRequest, Side
    from ctxc.app.workspace import Workspace
    from ctxc.compare.views import View
    from ctxc.model.package import Package
    from ctxc.model.project import Project
    from ctxc.parse.problems import Problem
    from ctxc.parse.validate import Validator

FOLDER = "tests/snapshots"
"""Where snapshots lie unless another folder is named; it is none of the project's own folders."""

MAX_BYTES = 64 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """How the fixtures of a project compare with their snapshots, ids sorted.

    ``missing`` have no snapshot; ``orphans`` are snapshots (ids) whose fixture is gone. ``change`` holds those that
    ``differ``.
    """

    same: tuple[str, ...]
    differ: tuple[str, ...]
    missing: tuple[str, ...]
    orphans: tuple[str, ...]
    change: Change
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_fine(self) -> bool:
        """Whether every fixture has a snapshot that it equals, and no snapshot is left over."""
        return not (self.differ or self.missing or self.orphans)


def check(workspace: Workspace, folder: Path, selection: Selection, *, name: str = FOLDER, context: int = 2) -> Checked:
    """Compile and compare. Raises NothingMatched for a selection, or a project, without fixtures."""
    from ctxc.compare.views import view_of

    project = workspace.project
    saved = read_folder(folder, name) if folder.is_dir() else {}
    fixtures = list(project.fixtures.values())
    selection.check(
        [_Named(f.id, f.template, f.conversation) for f in fixtures],
        project.findings,
        workspace.settings.fixtures[0],
        lost=lost_fixtures(project),
    )
    wanted = [f for f in fixtures if selection.holds(_Named(f.id, f.template, f.conversation))]
    compiler = workspace.compiler(_options("", ""))
    packages = {f.id: compiler.compile(f) for f in wanted}
    old = {i: saved[i] for i in packages if i in saved}
    new = {i: view_of(p, project) for i, p in packages.items() if i in old}
    change = _compared(workspace, project, old, new, name, context)
    differ = tuple(f.fixture_id for f in change.fixtures if f.status != "unchanged")
    gone = sorted(saved.keys() - project.fixtures.keys()) if selection.is_whole else []
    checked = Checked(
        same=tuple(sorted(i for i in old if i not in differ)),
        differ=differ,
        missing=tuple(sorted(packages.keys() - saved.keys())),
        orphans=tuple(gone),
        change=change,
        texts={i: snapshot_text(p) for i, p in sorted(packages.items())},
    )
    workspace.close()
    return checked


@dataclass(frozen=True, slots=True)
class _Named:
    fixture_id: str
    template: str
    conversation: str


def _options(provider: str, model: str) -> Any:
    from ctxc.compiler.stage import Options

    return Options(provider=provider, model=model)


def snapshot_text(package: Package) -> str:
    """A snapshot as it is kept in the tree: sorted keys on lines of their own, so that git merges it."""
    from ctxc.app.rows import MASK, told_as_masked
    from ctxc.compare.masking import Mask

    mask = Mask()
    texts = [
        {"section_id": p.section.section_id, "text": MASK if p.section.sensitive else mask.text(p.rendered)}
        for p in package.placed
        if p.rendered
    ]
    snapshot = dict(package.snapshot)
    for key in ("sections", "dropped_sections"):  # the address of a source may carry a password
        snapshot[key] = [
            {**s, "source_uri": mask.text(s["source_uri"])} if s.get("source_uri") else s for s in snapshot.get(key, ())
        ]
    value = {**told_as_masked(package.snapshot, snapshot), "content": texts}
    return inert_json(json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True)) + "\n"


def refuse_in_ci(environment: Mapping[str, str]) -> None:
    """Raises UsageError where ``CI`` is set."""
    if environment.get("CI", "").lower() not in ("", "0", "false"):
        raise UsageError(
            "snapshots are not written where CI is set",
            help="write them on your own machine and commit them; `ctxc snapshot check` compares here",
        )


def write(folder: Path, texts: Mapping[str, str], wanted: Iterable[str], environment: Mapping[str, str]) -> list[str]:
    """Write the snapshots of some fixtures; their file names. Raises UsageError in CI."""
    refuse_in_ci(environment)
    written = []
    for name in wanted:
        path = folder / f"{file_name(name)}.json"
        write_text(path, texts[name])
        written.append(path.name)
    return written


def remove(folder: Path, orphans: Iterable[str], environment: Mapping[str, str]) -> list[str]:
    """Remove snapshots whose fixtures are gone; their file names. Raises UsageError in CI."""
    refuse_in_ci(environment)
    removed = []
    for name in orphans:
        path = folder / f"{file_name(name)}.json"
        try:
            path.unlink()
        except OSError as error:
            raise CtxcError(f"cannot remove {path.name!r}: {error.strerror}", help="remove it by hand") from error
        removed.append(path.name)
    return removed


# --- reading ------------------------------------------------------------------------------------------------------


def read_folder(folder: Path, name: str) -> dict[str, View]:
    """The snapshots of a folder by fixture id; ``name`` is what messages call it. Raises UnreadableSource."""
    found: dict[str, View] = {}
    for path in sorted(folder.glob("*.json")):
        for view in _read(path, f"{name}/{path.name}"):
            if view.fixture_id in found:
                raise UnreadableSource(
                    f"{name}/{path.name}: a second snapshot of fixture {view.fixture_id!r}", help="remove one"
                )
            found[view.fixture_id] = view
    return found


def read_saved(path: Path, name: str) -> tuple[dict[str, View], bool]:
    """Snapshots of a file (a snapshot, or the output of ``ctxc compile --format json``) or a folder, by fixture id.

    With them, whether they stand for a whole project. Raises UnreadableSource.
    """
    if path.is_dir():
        return read_folder(path, name), True
    views = _read(path, name)
    return {v.fixture_id: v for v in views}, len(views) != 1


def _read(path: Path, name: str) -> list[View]:
    from ctxc.compare.views import view_of_snapshot
    from ctxc.source.disk import read_named

    data = read_named(path, name, MAX_BYTES, help="name a file that `ctxc snapshot save` wrote")
    try:
        value = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise UnreadableSource(f"{name} is not JSON: {error}", help="save it again: `ctxc snapshot save`") from error
    packages = value.get("packages") if isinstance(value, dict) else None
    try:
        for saved in [p.get("snapshot") for p in packages] if isinstance(packages, list) else [value]:
            _check_form(saved)
        if isinstance(packages, list):
            return [view_of_snapshot(p.get("snapshot"), _texts(p.get("content"))) for p in packages]
        return [view_of_snapshot(value, _texts(value.get("content") if isinstance(value, dict) else None))]
    except UnreadableSource as error:
        raise UnreadableSource(f"{name}: {error.message}", help=error.help) from error
    except AttributeError:
        raise UnreadableSource(f"{name}: no snapshot is in it", help="save it again: `ctxc snapshot save`") from None


@cache
def _form() -> Validator:
    from ctxc.app.schemas import schema_text
    from ctxc.parse.validate import Validator

    return Validator(json.loads(schema_text("snapshot")))


def _check_form(saved: Any) -> None:
    """A snapshot of this format has to be what its schema says: what compares it relies on that."""
    from ctxc.compiler.snapshot import SCHEMA

    if not isinstance(saved, dict) or saved.get("schema") != SCHEMA:
        return  # said where it is read
    found: list[Problem] = []
    _form().check(saved, found)
    for problem in found:
        raise UnreadableSource(
            # Not the problem's own words: they quote what stands there, which may be a secret.
            f"the saved snapshot is damaged: {problem.pointer} is not what `ctxc schema snapshot` says",
            help="save it again: `ctxc snapshot save`",
        )


def _texts(content: Any) -> dict[str, str]:
    """Rendered texts by section id; what was masked is not there."""
    if not isinstance(content, list):
        return {}
    return {
        c["section_id"]: c["text"]
        for c in content
        if isinstance(c, dict)
        and isinstance(c.get("section_id"), str)
        and isinstance(c.get("text"), str)
        and not c.get("masked")
    }


# --- comparing ----------------------------------------------------------------------------------------------------


def diff_snapshot(workspace: Workspace, request: DiffRequest, base: Side, head: Side) -> Change:
    """The change from saved snapshots to a tree. Raises UnreadableSource where they cannot be compared."""
    from ctxc.app.workspace import compiler_for, load
    from ctxc.compare.views import view_of

    assert head.tree is not None and head.settings is not None
    path = Path(base.snapshot)
    there = path if path.is_absolute() or path.exists() else workspace.root / path
    saved, whole = read_saved(there, base.snapshot)
    if not saved:
        raise NothingMatched(f"{base.snapshot} holds no snapshot: nothing was compared", help="`ctxc snapshot save`")
    project = load(head.tree, head.settings, workspace.store)
    ids = sorted({*saved, *(project.fixtures if whole else ())})
    if request.fixtures or request.templates:
        selection = Selection(fixtures=request.fixtures, templates=request.templates)
        known = [_known(i, saved, project) for i in ids]
        selection.check(known, project.findings, head.settings.fixtures[0], lost=lost_fixtures(project))
        ids = [k.fixture_id for k in known if selection.holds(k)]
    compiler = compiler_for(project, _options(request.provider, request.model), workspace.store)
    packages = {i: compiler.compile(project.fixtures[i]) for i in ids if i in project.fixtures}
    new = {i: view_of(p, project) for i, p in packages.items()}
    old = {i: saved[i] for i in ids if i in saved}
    return _compared(workspace, project, old, new, base.snapshot, request.context, head=head.revision)


def _known(name: str, saved: Mapping[str, View], project: Project) -> _Named:
    fixture = project.fixtures.get(name)
    if fixture is not None:
        return _Named(fixture.id, fixture.template, fixture.conversation)
    return _Named(name, str(saved[name].part("template", "id") or ""), "")


def _compared(
    workspace: Workspace,
    project: Project,
    old: Mapping[str, View],
    new: Mapping[str, View],
    name: str,
    context: int,
    *,
    head: Revision | None = None,
) -> Change:
    from ctxc import __version__
    from ctxc.app.diff_compare import compare_views, count_with
    from ctxc.compare.sections import Teller
    from ctxc.compare.summary import edits, totals

    for fixture_id in sorted(old.keys() & new.keys()):
        _comparable(fixture_id, old[fixture_id], new[fixture_id])
    found: Sequence[FixtureChange] = compare_views(
        old, new, Teller(context, None, project.sources), count_with(project, workspace.store), (None, project)
    )
    told = edits(found)
    return Change(
        version=__version__,
        base=Revision(rev=f"snapshot:{name}", kind="snapshot", label=f"snapshot {name}"),
        head=head or Revision(rev="", kind="worktree", label="the work tree"),
        fixtures=tuple(found),
        edits=told,
        totals=totals(found, (), (), told, compiled=len(new)),
        whole=True,
    )


def of_fixture(change: Change, fixture_id: str) -> Change:
    """What one fixture has of a change, with sums of its own."""
    from ctxc.compare.summary import edits, totals

    mine = tuple(f for f in change.fixtures if f.fixture_id == fixture_id)
    told = edits(mine)
    return replace(change, fixtures=mine, edits=told, totals=totals(mine, (), (), told, compiled=len(mine)))


def _comparable(fixture_id: str, old: View, new: View) -> None:
    """Counts of two tokenizers say nothing about each other; raises UnreadableSource."""
    one, other = (
        [v.part("tokenizer", "id"), v.part("tokenizer", "digest"), v.part("tokenizer", "method")] for v in (old, new)
    )
    if old.has_request and new.has_request and one != other:
        raise UnreadableSource(
            f"not comparable: the saved snapshot of {fixture_id!r} was counted by {one[0]} ({one[2]}), "
            f"this compile by {other[0]} ({other[2]})",
            help="save it again: `ctxc snapshot accept`",
        )
