"""A bundle as a tree that can be judged against, and going back to it: every file of it, as one.

The bytes come from the bundle itself, or from the repository that has its blobs; each is held against its hash before
anything is written. What would be lost is not overwritten unless that was asked for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from ctxc.app.bundle import blob_of, fixtures_of
from ctxc.app.gates._side import GateSide
from ctxc.base.errors import CtxcError, RevisionError, UnreadableSource
from ctxc.base.values import dataclass
from ctxc.model.bundle import Bundle, BundledFile
from ctxc.source.paths import shown

if TYPE_CHECKING:
    from ctxc.app.workspace import Workspace
    from ctxc.model.project import Settings
    from ctxc.source.git import Repository
    from ctxc.source.memory import MemoryTree
    from ctxc.source.tree import Tree

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
    """Make the project what a bundle says, all of it or nothing; with ``write=False`` only say what would be done.

    Raises UnreadableSource for paths that a bundle may not write and for one that is not what it says, RevisionError
    where its files are not to be had, CtxcError where something would be lost that git does not have.
    """
    from ctxc.source.git import Repository

    with_git = Repository.discover(workspace.root, environ=workspace.environment)
    try:
        files = contents(bundle, with_git, name)
        plan = _plan(workspace, bundle, files)
        for path in plan.written:
            _check_kind(path, files[path], with_git, name)
        for path in (*plan.written, *plan.removed):
            _check_place(workspace.root, path)
        if not force:
            _check_saved(workspace, plan, with_git)
    finally:
        if with_git is not None:
            with_git.close()
    _check_true(workspace, bundle, files, name)
    if write:
        from ctxc.app.output import write_all

        write_all({workspace.root / path: files[path] for path in plan.written})
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
    # A bundle does not say what the folders of this project are: what it names beside them is not emptied.
    folders = [f"{f.strip('/')}/" for paths in bundle.folders.values() for f in paths]
    settings = workspace.settings
    own = workspace.tree.list_paths(
        sorted({*settings.templates, *settings.fragments, *settings.policies, *settings.fixtures})
    )
    removed = tuple(p for p in own if p not in files and p.startswith(tuple(folders)))
    return Restored(written=tuple(written), removed=removed, left=tuple(left))


def _now(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


_RUN = re.compile(
    r"\.(?:bash|bat|cfg|cjs|cmd|com|dll|dylib|exe|gemspec|gradle|ini|ipynb|jar|jsx?|ksh|lua|mjs|mk|php|pl|plist|ps1|psm1"
    r"|pth|py|py[ciwx]|rb|scpt|sh|so|tcl|toml|tsx?|vbs|zsh)\Z"
    r"|\A(?:brewfile|containerfile|dockerfile|gemfile|gnumakefile|jenkinsfile|justfile|makefile|package\.json|procfile"
    r"|rakefile|tiltfile|vagrantfile)\Z"
)  # names of files that tools run, in small letters


def _check_kind(path: str, data: bytes, repository: Repository | None, name: str) -> None:
    """A bundle writes sources of the project. What a tool, a shell or a CI system would run comes from git alone, where
    it was read by somebody, and nothing at all into the folders that configure them."""
    parts = path.split("/")
    if parts[0].startswith(".") and parts[0] != ".ctxc":
        raise UnreadableSource(f"{name} would write '{shown(path)}', which no bundle may", help="look at who made it")
    hidden = any(p.startswith(".") for p in parts[1:])
    if not hidden and _RUN.search(parts[-1].lower()) is None:
        return
    if repository is None or repository.objects.look_up(blob_of(data, repository)) is None:
        raise UnreadableSource(
            f"{name} would write '{shown(path)}', which may be run and which git does not have",
            help="look at who made it; commit the file first if it is yours",
        )


def _check_place(root: Path, path: str) -> None:
    """No link leads out of the project, or anywhere at all from the file itself."""
    place = root / path
    if place.is_symlink():
        raise UnreadableSource(f"'{shown(path)}' is a symbolic link", help="remove the link")
    if not place.resolve().is_relative_to(root.resolve()):
        raise UnreadableSource(f"'{shown(path)}' leads out of the project", help="remove the link")
    if place.is_dir():
        raise UnreadableSource(f"'{shown(path)}' is a folder here", help="move it away")


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
        more = f" and {len(lost) - 1:,} more" if len(lost) > 1 else ""
        raise CtxcError(
            f"'{shown(lost[0])}'{more} would be lost: git does not have what is in it now",
            help="commit it first; --force does without",
        )


def _check_true(workspace: Workspace, bundle: Bundle, files: Mapping[str, bytes], name: str) -> None:
    """Hold a bundle against what its own files come to, before anything is written. That of another version of ctxc may
    differ for no other reason: it is held against what came out, afterwards."""
    from ctxc import __version__

    if bundle.version != __version__:
        return
    tree = tree_of(bundle, files, name)
    untrue = compare_side(GateSide(tree, settings_of(tree, workspace), workspace.store, kept=False), bundle)
    if untrue:
        raise UnreadableSource(
            f"the files of {name} are not what it says: {'; '.join(untrue)}", help="look at who changed it"
        )


def settings_of(tree: Tree, workspace: Workspace) -> Settings:
    """The settings that a tree brings, under the command line and the environment of a workspace."""
    from ctxc.app import config as configuration

    flags = {v.name: v.value for v in workspace.config.values if v.origin == f"--{v.name}"}
    source = configuration.source_in_tree(tree)
    return configuration.resolve(source, flags=flags, environment=workspace.environment).settings


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
        more = f" and {len(others) - 1:,} more" if len(others) > 1 else ""
        told.append(f"fixture {others[0]!r}{more} compile{'' if more else 's'} to something else")
    return tuple(told)
