"""The two sides of a gate: what is judged, and what it is compared with, if there is anything."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ctxc.app.diff_sides import SNAPSHOT, DiffRequest, Side, Sides, open_sides
from ctxc.base.errors import RevisionError
from ctxc.base.values import dataclass

if TYPE_CHECKING:
    from ctxc.app.workspace import Workspace
    from ctxc.model.bundle import Bundle
    from ctxc.source.git import Repository


@dataclass(frozen=True, slots=True, kw_only=True)
class GateSides:
    """Both sides. ``base`` is None where there is nothing to compare with; ``why`` says how it came to that.

    ``bundle`` is what the base was read from, if it is a release bundle.
    ``same``: base and head are one tree, as on the default branch. ``changed_at`` is when what is judged was committed,
    in seconds since 1970 (None: it is not committed, or git does not say). ``base_is_head``: nobody asked for a base,
    and the one that was found is HEAD itself.
    """

    head: Side
    base: Side | None
    repository: Repository | None
    why: str = ""
    same: bool = False
    bundle: Bundle | None = None
    changed_at: int | None = None
    base_is_head: bool = False
    notes: tuple[str, ...] = ()

    def compared(self) -> Sides:
        """Both as a diff takes them; there has to be a base."""
        assert self.base is not None
        return Sides(base=self.base, head=self.head, repository=self.repository)

    def close(self) -> None:
        """End the git process."""
        if self.repository is not None:
            self.repository.close()


def open_gate_sides(workspace: Workspace, request: DiffRequest) -> GateSides:
    """The sides of a request. An explicit base is there or the command ends (RevisionError); none at all is allowed
    where nobody asked for one and none exists."""
    if request.base:
        sides = open_sides(workspace, request)
        base, bundle = sides.base, None
        if base.snapshot:
            base, bundle = _bundled(workspace, base, sides.repository)
        return GateSides(
            head=sides.head,
            base=base,
            repository=sides.repository,
            why=base.revision.label,
            bundle=bundle,
            same=_is_same(base, sides.head),
            changed_at=_changed_at(workspace, sides.repository, sides.head),
            notes=sides.notes,
        )
    commit, how, why = _default_base(workspace, request)
    if not commit:
        return _without_base(workspace, request, why)
    sides = open_sides(workspace, replace(request, base=commit, allow_same=True))
    label = f"{commit[:12]} ({how})"
    base = replace(sides.base, revision=replace(sides.base.revision, rev=commit[:12], label=label, how=why))
    return GateSides(
        head=sides.head,
        base=base,
        repository=sides.repository,
        why=why,
        same=_is_same(base, sides.head),
        changed_at=_changed_at(workspace, sides.repository, sides.head),
        base_is_head=sides.repository is not None and sides.repository.head() == commit,
        notes=sides.notes,
    )


def _bundled(workspace: Workspace, side: Side, repository: Repository | None) -> tuple[Side, Bundle]:
    """A release bundle as a side with a tree. Raises UnreadableSource, RevisionError."""
    from ctxc.app.bundle import read_bundle
    from ctxc.app.restore import contents, settings_of, tree_of

    path = Path(side.snapshot)
    there = path if path.is_absolute() or path.exists() else workspace.root / path
    bundle = read_bundle(there, side.snapshot)
    tree = tree_of(bundle, contents(bundle, repository, side.snapshot), side.snapshot)
    settings = settings_of(tree, workspace)
    revision = replace(side.revision, label=f"{side.snapshot} ({bundle.id})", commit=bundle.commit)
    return Side(revision=revision, tree=tree, settings=settings), bundle


def _default_base(workspace: Workspace, request: DiffRequest) -> tuple[str, str, str]:
    """The commit to compare with where none was named, by which rule, and why; raises where one has to be there."""
    from ctxc.source.base_revision import default_base
    from ctxc.source.git import Repository

    repository = Repository.discover(workspace.root, environ=workspace.environment, trust=request.trust_repository)
    if repository is None:
        return "", "", "the project is in no git repository"
    try:
        choice = default_base(repository, workspace.environment)
        why = f"{choice.explanation}: {choice.help}" if choice.help else choice.explanation
        return choice.require() or "", choice.how.value, why
    finally:
        repository.close()


def _without_base(workspace: Workspace, request: DiffRequest, why: str) -> GateSides:
    """Head alone: the work tree, the index or a commit."""
    if not request.head and not request.staged:
        # Comparing the work tree with itself opens it in the same way as everywhere else.
        from ctxc.model.change import Revision

        head = Side(
            revision=Revision(rev="", kind="worktree", label="the work tree"),
            tree=workspace.tree,
            settings=workspace.settings,
        )
        return GateSides(head=head, base=None, repository=None, why=why)
    asked = request.head or "HEAD"
    if request.staged:
        raise RevisionError(f"there is nothing to compare the index with: {why}", help="name a base with --against")
    sides = open_sides(workspace, replace(request, base=asked, allow_same=True))
    return GateSides(
        head=sides.head, base=None, repository=sides.repository, why=why, notes=sides.notes,
        changed_at=_changed_at(workspace, sides.repository, sides.head),
    )  # fmt: skip


def _is_same(base: Side, head: Side) -> bool:
    """Whether nothing can differ between the two."""
    if base.tree is None or head.tree is None:
        return False
    if base.root_id and base.root_id == head.root_id:
        return True
    if head.revision.kind == "commit" or head.settings is None:
        return False
    from ctxc.source.changes import is_same

    settings = head.settings
    folders = (*settings.templates, *settings.fragments, *settings.policies, *settings.fixtures)
    return is_same(base.tree, head.tree, folders) and is_same(base.tree, head.tree, ())


def _changed_at(workspace: Workspace, repository: Repository | None, head: Side) -> int | None:
    """When the judged commit was made; of a pull request's merge commit, when its own head was.

    A work tree or an index whose project is that of HEAD is as old as HEAD is, whatever else lies there: what an
    evaluation has just written, for example. One that differs was changed at a time that nobody knows.
    """
    if repository is None:
        return None
    if head.revision.kind == "commit":
        oid: str | None = head.revision.commit
    else:
        oid = _clean_at(workspace, repository, head)
    commit = repository.objects.commit(oid) if oid else None
    if commit is None:
        return None
    newest = commit.parents[1] if len(commit.parents) > 1 else commit.oid
    found = repository.objects.look_up(newest)
    if found is None or found.type != "commit":
        return None
    for line in found.data.split(b"\n\n", 1)[0].split(b"\n"):
        if line.startswith(b"committer "):
            parts = line.rsplit(b" ", 2)
            return int(parts[1]) if len(parts) == 3 and parts[1].isdigit() else None
    return None


def _clean_at(workspace: Workspace, repository: Repository, head: Side) -> str | None:
    """HEAD, where the project is as it is there."""
    from ctxc.app.config import FILE, PYPROJECT
    from ctxc.source.changes import is_same
    from ctxc.source.commits import CommitTree

    oid, settings = repository.head(), head.settings
    if oid is None or head.tree is None or settings is None:
        return None
    there = CommitTree(repository, oid, prefix=repository.prefix_of(workspace.root), revision="HEAD")
    folders = (*settings.templates, *settings.fragments, *settings.policies, *settings.fixtures)
    return oid if is_same(there, head.tree, (*folders, FILE, PYPROJECT)) else None


__all__ = ["SNAPSHOT", "GateSides", "open_gate_sides"]
