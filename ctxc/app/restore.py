"""A bundle as a tree that can be judged against, and going back to it: every file of it, as one.

The bytes come from the bundle itself, or from the repository that has its blobs; each is held against its hash before
anything is written. What would be lost is not overwritten unless that was asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from ctxc.app.bundle import blob_of, fixtures_of
from ctxc.app.gates._side import GateSide
from ctxc.base.errors import CtxcError, RevisionError, UnreadableSource
from ctxc.base.values import dataclass
from ctxc.model.bundle import Bundle, BundledFile

if TYPE_CHECKING:
    from ctxc.app.workspace import Workspace
    from ctxc.source.git import Repository
    from ctxc.source.memory import MemoryTree

_PYPROJECT = "pyproject.toml"
_MAX_BLOB = 64 << 20


def contents(bundle: Bundle, repository: Repository | None, name: str) -> dict[str, bytes]:
    """The bytes of every file by path. Raises RevisionError where some of them are nowhere to be had."""
    found: dict[str, bytes] = {f.path: f.content for f in bundle.files if f.content is not None}
    wanted = [f for f in bundle.files if f.content is None]
    if wanted:
        found |= _from_git(wanted, repository, name)
    return found


def _from_git(wanted: Sequence[BundledFile], repository: Repository | None, name: str) -> dict[str, bytes]:
    if repository is None:
        raise RevisionError(
            f"{name} holds hashes only, and there is no repository that could have its files",
            help="run it inside the repository, or write bundles with --with-content",
        )
    from ctxc.source.links import Fault
    from ctxc.source.objects import ObjectMissing

    try:
        blobs = repository.objects.read_blobs([f.blob for f in wanted], _MAX_BLOB)
    except ObjectMissing as missing:
        first = next(f.path for f in wanted if f.blob == missing.oid)
        shallow = " (this clone is shallow)" if repository.is_shallow() else ""
        raise RevisionError(
            f"{name} holds hashes only, and this repository does not have '{first}' ({missing.oid[:12]}){shallow}",
            help="fetch the commit that it was made from (`fetch-depth: 0` for actions/checkout), "
            "or write bundles with --with-content",
        ) from None
    found: dict[str, bytes] = {}
    for file in wanted:
        data = blobs[file.blob]
        if isinstance(data, Fault) or sha256(data).hexdigest() != file.sha256:
            raise UnreadableSource(
                f"'{file.path}' in the repository is not what {name} says", help="write the bundle again"
            )
        found[file.path] = data
    return found


def tree_of(bundle: Bundle, files: Mapping[str, bytes], name: str) -> MemoryTree:
    """The project as it was bundled."""
    from ctxc.source.memory import MemoryTree

    return MemoryTree(files, label=f"{name} ({bundle.id})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What going back changed: paths written, paths removed, paths that differ and are not touched."""

    written: tuple[str, ...]
    removed: tuple[str, ...]
    left: tuple[str, ...] = ()


def restore(workspace: Workspace, bundle: Bundle, *, name: str, force: bool = False, write: bool = True) -> Restored:
    """Make the project what a bundle says; with ``write=False`` only say what would be done.

    Raises UnreadableSource for paths that a bundle may not write, RevisionError where its files are not to be had,
    CtxcError where something would be lost that git does not have.
    """
    from ctxc.source.git import Repository

    with_git = Repository.discover(workspace.root, environ=workspace.environment)
    try:
        files = contents(bundle, with_git, name)
        plan = _plan(workspace, bundle, files)
        for path in (*plan.written, *plan.removed):
            _check_path(workspace.root, path, name)
        if not force:
            _check_saved(workspace, plan, with_git)
    finally:
        if with_git is not None:
            with_git.close()
    if write:
        for path in plan.written:
            _write(workspace.root / path, files[path])
        for path in plan.removed:
            (workspace.root / path).unlink()
    return plan


def _plan(workspace: Workspace, bundle: Bundle, files: Mapping[str, bytes]) -> Restored:
    written: list[str] = []
    left: list[str] = []
    for path, data in sorted(files.items()):
        if _now(workspace.root / path) == data:
            continue
        # The file of a whole package is not ours: only the table in it is, and somebody has to look.
        (left if path == _PYPROJECT else written).append(path)
    folders = {f for paths in bundle.folders.values() for f in paths}
    there = workspace.tree.list_paths(sorted(folders))
    return Restored(written=tuple(written), removed=tuple(p for p in there if p not in files), left=tuple(left))


def _now(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _check_path(root: Path, path: str, name: str) -> None:
    """A bundle writes sources of the project, nothing that a tool or a CI system would run."""
    parts = path.split("/")
    if any(p.startswith(".") for p in parts) and parts[0] != ".ctxc":
        raise UnreadableSource(f"{name} would write '{path}', which no bundle may", help="look at who made it")
    target = (root / path).resolve()
    if not target.is_relative_to(root.resolve()):
        raise UnreadableSource(f"'{path}' leads out of the project", help="remove the link")


def _check_saved(workspace: Workspace, plan: Restored, repository: Repository | None) -> None:
    """Refuse to lose what is nowhere else."""
    lost = []
    for path in (*plan.written, *plan.removed):
        data = _now(workspace.root / path)
        if data is None:
            continue
        if repository is None or repository.objects.look_up(blob_of(data, repository)) is None:
            lost.append(path)
    if lost:
        more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
        raise CtxcError(
            f"'{lost[0]}'{more} would be overwritten, and git does not have what is in it now",
            help="commit it first; --force overwrites it",
        )


def _write(path: Path, data: bytes) -> None:
    from ctxc.app.output import write_bytes

    write_bytes(path, data)


def compare(workspace: Workspace, bundle: Bundle) -> tuple[str, ...]:
    """How a project differs from a bundle: its id, and fixtures that compile to something else. Empty: not at all."""
    side = GateSide(workspace.tree, workspace.settings, workspace.store, kept=workspace.cache is not None)
    return compare_side(side, bundle)


def compare_side(side: GateSide, bundle: Bundle) -> tuple[str, ...]:
    """The same for a side that is open already."""
    told = []
    found = side.bundle()
    if found != bundle.id:
        told.append(f"this is {found}, not {bundle.id}")
    now = {f.fixture: f for f in fixtures_of(side)}
    then = {f.fixture: f for f in bundle.fixtures}
    others = sorted(n for n in now.keys() | then.keys() if now.get(n) != then.get(n))
    if others:
        more = f" and {len(others) - 1} more" if len(others) > 1 else ""
        told.append(f"fixture {others[0]!r}{more} compiles to something else")
    return tuple(told)
