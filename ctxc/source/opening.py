"""Opening the tree that a command asks for: the work tree, the index, or a commit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ctxc.base.errors import RevisionError
from ctxc.source.tree import Tree
from ctxc.source.worktree import WorkTree

if TYPE_CHECKING:
    from ctxc.source.git import Repository


def open_tree(
    root: str | Path, *, repository: Repository | None = None, revision: str = "", staged: bool = False
) -> Tree:
    """The project below ``root``: at a revision, as it is staged, or (by default) as it is on disk.

    With a repository the work tree leaves out what git ignores and keeps what is untracked. Raises RevisionError for
    a revision without a repository or one that does not resolve, UnreadableSource for a root that is no folder.
    """
    if repository is None:
        if revision or staged:
            what = f"'{revision}'" if revision else "the index"
            help = "run it inside a repository, or name a folder of one"
            raise RevisionError(f"{what} cannot be read: '{root}' is not inside a git repository", help=help)
        return WorkTree(root)
    if not revision and not staged:
        return open_work_tree(root, repository)
    from ctxc.source.commits import CommitTree, IndexTree

    prefix = repository.prefix_of(root)
    if revision:
        return CommitTree(repository, repository.resolve(revision), prefix=prefix, revision=revision)
    return IndexTree(repository, prefix=prefix)


def open_work_tree(root: str | Path, repository: Repository) -> WorkTree:
    """The files on disk below ``root``, without those that git ignores."""
    prefix = repository.prefix_of(root)
    start = f"{prefix}/" if prefix else ""

    def hidden(folders: tuple[str, ...]) -> frozenset[str]:
        wanted = tuple((start + folder).rstrip("/") for folder in folders)
        found = repository.ignored(wanted if all(wanted) else ())
        if any(start.startswith(path) for path in found if path.endswith("/")):
            return frozenset()  # the whole project is ignored: then git's list says nothing about its files
        return frozenset(path.removeprefix(start).rstrip("/") for path in found)

    return WorkTree(root, hidden=hidden)
