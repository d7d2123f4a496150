"""The two sides of a diff: what the command line names, or what is compared where it names nothing.

A base that was asked for is there or the command ends; a base that nobody asked for and that does not exist is never
reported as "no differences". An explicit base that is the head itself compares nothing and is refused.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from ctxc.app import config as configuration
from ctxc.base.errors import ConfigError, CtxcError, RevisionError, UsageError
from ctxc.base.values import dataclass
from ctxc.model.revision import Revision

if TYPE_CHECKING:
    from ctxc.app.workspace import Workspace
    from ctxc.model.project import Settings
    from ctxc.source.git import Repository
    from ctxc.source.tree import Tree

SNAPSHOT = "snapshot:"
"""In front of the path of a saved snapshot, where a revision is asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffRequest:
    """What to compare. Empty texts mean: not said.

    ``base`` is a revision or ``snapshot:FILE``; ``head`` a revision; ``staged`` takes the index as head. ``model`` and
    ``provider`` are those of head, ``against_model`` and ``against_provider`` those of base. ``whole`` compiles
    everything instead of what the changed files can reach. ``context``: equal lines around an edit.
    """

    base: str = ""
    head: str = ""
    staged: bool = False
    allow_same: bool = False
    provider: str = ""
    model: str = ""
    against_provider: str = ""
    against_model: str = ""
    fixtures: tuple[str, ...] = ()
    templates: tuple[str, ...] = ()
    context: int = 3
    whole: bool = False
    trust_repository: bool = False

    @property
    def compares_models(self) -> bool:
        """Whether the two sides are compiled for different models, so that one tree can be both sides."""
        return (self.provider, self.model) != (self.against_provider, self.against_model)


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One side: its tree with the settings that stand in it, or (``snapshot``) the path of what was saved."""

    revision: Revision
    tree: Tree | None = None
    settings: Settings | None = None
    root_id: str = ""  # git's id of the project's folder in a commit; equal ids are equal trees
    snapshot: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """Both sides, and the repository that they are read from (to be closed), if any."""

    base: Side
    head: Side
    repository: Repository | None = None
    notes: tuple[str, ...] = ()


def open_sides(workspace: Workspace, request: DiffRequest) -> Sides:
    """Both sides of a request. Raises RevisionError, UsageError and ConfigError, all of them status 2."""
    if request.staged and request.head:
        raise UsageError("--staged and a head revision contradict each other", help="give one of them")
    repository = _repository(workspace, request)
    try:
        return _opened(workspace, request, repository)
    except BaseException:
        if repository is not None:
            repository.close()
        raise


def _repository(workspace: Workspace, request: DiffRequest) -> Repository | None:
    from ctxc.source.git import Repository
    from ctxc.source.gitdir import bare_repository
    from ctxc.source.gitdir import looks_like_git_dir as is_bare

    root = workspace.root
    if not any(os.path.lexists(folder / ".git") for folder in (root, *root.parents)):
        needs_git = request.head or request.staged or (request.base and not request.base.startswith(SNAPSHOT))
        if "GIT_DIR" not in workspace.environment and is_bare(root):
            if not request.head or not request.base:
                raise bare_repository(root)
            # Both sides are named: nothing of a work tree is needed.
            return Repository.discover(root, environ=workspace.environment, trust=request.trust_repository, bare=True)
        if needs_git and "GIT_DIR" not in workspace.environment:
            named = f"'{request.base or request.head}'" if request.base or request.head else "the index"
            raise RevisionError(
                f"{named} cannot be read: '{root}' is not inside a git repository",
                help="run it inside a repository, or compare with a saved snapshot: --against snapshot:FILE",
            )
        if "GIT_DIR" not in workspace.environment:
            return None
    return Repository.discover(root, environ=workspace.environment, trust=request.trust_repository)


def _look_up(repository: Repository, names: Iterable[str]) -> None:
    """Ask git for the revisions at once; what is wrong with one is said when it is used."""
    with suppress(CtxcError):
        repository.resolve_all(names)


def _opened(workspace: Workspace, request: DiffRequest, repository: Repository | None) -> Sides:
    if repository is not None:
        _look_up(repository, (name for name in (request.base, request.head) if not name.startswith(SNAPSHOT)))
    head = _head(workspace, request, repository)
    notes = repository.place.notes if repository is not None else ()
    if request.base.startswith(SNAPSHOT):
        path = request.base.removeprefix(SNAPSHOT)
        if not path:
            raise UsageError("snapshot: names no file", help="write snapshot:FILE")
        base = Side(revision=Revision(rev=request.base, kind="snapshot", label=path), snapshot=path)
    elif request.base:
        base = _explicit(workspace, request, repository, head)
    elif request.compares_models:
        base = head
    else:
        base = _default(workspace, repository)
        notes = (*notes, f"base: {base.revision.how}")
    return Sides(
        base=_as(base, request.against_provider, request.against_model),
        head=_as(head, request.provider, request.model),
        repository=repository,
        notes=notes,
    )


def _as(side: Side, provider: str, model: str) -> Side:
    return replace(side, revision=replace(side.revision, provider=provider, model=model)) if provider or model else side


def _head(workspace: Workspace, request: DiffRequest, repository: Repository | None) -> Side:
    if request.head.startswith(SNAPSHOT):
        raise UsageError("a saved snapshot can be the base only", help="write --against snapshot:FILE")
    if request.head:
        assert repository is not None
        return _at(workspace, repository, request.head)
    from ctxc.source.opening import open_tree

    if request.staged:
        tree = open_tree(workspace.root, repository=repository, staged=True)
        return Side(
            revision=Revision(rev="--staged", kind="index", label="the index"),
            tree=tree,
            settings=_settings(workspace, tree, "the index"),
        )
    if repository is not None and request.trust_repository:
        tree = open_tree(workspace.root, repository=repository)
    else:
        tree = workspace.tree
    return Side(
        revision=Revision(rev="", kind="worktree", label="the work tree"), tree=tree, settings=workspace.settings
    )


def _at(workspace: Workspace, repository: Repository, name: str, other: Side | None = None) -> Side:
    """The project at a revision. ``other`` is the other side: an equal tree is configured alike."""
    from ctxc.source.commits import CommitTree

    commit = repository.resolve(name)
    tree = CommitTree(repository, commit, prefix=repository.prefix_of(workspace.root), revision=name)
    return Side(
        revision=Revision(rev=name, kind="commit", commit=commit, label=tree.label),
        tree=tree,
        settings=other.settings
        if other is not None and tree.root_id and other.root_id == tree.root_id
        else _settings(workspace, tree, tree.label),
        root_id=tree.root_id,
    )


def _settings(workspace: Workspace, tree: Tree, label: str) -> Settings:
    """The settings in a tree, under the same flags and environment as everything else."""
    flags = {v.name: v.value for v in workspace.config.values if v.origin == f"--{v.name}"}
    if _is_configured_alike(workspace, tree):
        return workspace.settings
    try:
        source = configuration.source_in_tree(tree)
        return configuration.resolve(source, flags=flags, environment=workspace.environment).settings
    except ConfigError as error:
        raise ConfigError(f"{error.message} (in {label})", help=error.help, location=error.location) from error


def _is_configured_alike(workspace: Workspace, tree: Tree) -> bool:
    """Whether a tree is configured by the very bytes that configure the work tree: then nothing has to be parsed."""
    name = workspace.config.path
    try:
        there = {n: tree.read(n) for n in (configuration.FILE, configuration.PYPROJECT) if tree.exists(n)}
        if configuration.PYPROJECT in there and not configuration.has_table(there[configuration.PYPROJECT]):
            del there[configuration.PYPROJECT]
        if list(there) != ([name] if name else []):
            return False
        return not name or _bare(there[name]) == _bare(configuration.read_bytes(workspace.root / name, name))
    except CtxcError:
        return False


def _bare(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n")


def _explicit(workspace: Workspace, request: DiffRequest, repository: Repository | None, head: Side) -> Side:
    """A base that was named. It must not be the head itself: then nothing would be compared."""
    if repository is None:
        raise RevisionError(
            f"'{request.base}' cannot be read: there is no repository",
            help="run it inside a repository, or compare with a saved snapshot: --against snapshot:FILE",
        )
    base = _at(workspace, repository, request.base, head)
    if request.allow_same or request.compares_models:
        return base
    same = f"the base '{request.base}' is the head itself ({base.revision.commit[:12]})"
    help = "name an older revision; --allow-same compares it with itself"
    if head.revision.kind == "commit":
        if head.revision.commit == base.revision.commit:
            raise RevisionError(same, help=help)
    elif base.revision.commit == repository.head() and _is_clean(base, head):
        raise RevisionError(f"{same}, and nothing is changed in {head.revision.label}", help=help)
    return base


def _is_clean(base: Side, head: Side) -> bool:
    from ctxc.source.changes import is_same

    assert base.tree is not None and head.tree is not None and head.settings is not None
    # Most changes are in the project's own folders; only without any is everything else looked at.
    settings = head.settings
    folders = (*settings.templates, *settings.fragments, *settings.policies, *settings.fixtures)
    return is_same(base.tree, head.tree, folders) and is_same(base.tree, head.tree, ())


def _default(workspace: Workspace, repository: Repository | None) -> Side:
    """The base where none was named: of a pull request its target, else the commit that the branch left."""
    if repository is None:
        raise RevisionError(
            "there is nothing to compare with: the project is in no git repository",
            help="compare with a saved snapshot: --against snapshot:FILE",
        )
    from ctxc.source.base_revision import default_base

    choice = default_base(repository, workspace.environment)
    commit = choice.require()
    if commit is None:
        raise RevisionError(
            f"there is nothing to compare with: {choice.explanation}", help=choice.help or "name a base: ctxc diff BASE"
        )
    side = _at(workspace, repository, commit)
    label = f"{commit[:12]} ({choice.how.value})"
    revision = replace(side.revision, rev=commit[:12], label=label, how=choice.explanation)
    return replace(side, revision=revision)
