"""Finding a repository without asking git, so that nothing of it is read before its owner is known.

The repository is the one of the folder that was named: walk up to ``.git``, a folder or (work trees, sub-modules) a
file that names one. What git sets for its hooks (``GIT_DIR``, ``GIT_INDEX_FILE``, the quarantine of a push) is honoured
where it belongs to that repository, and said to be ignored where it belongs to another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from ctxc.base.errors import RevisionError
from ctxc.base.values import dataclass

_MAX_GITFILE_BYTES = 4096 + len("gitdir: \n")
_QUARANTINE = ("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH")


@dataclass(frozen=True, slots=True, kw_only=True)
class GitPlace:
    """Where a repository lies; all paths absolute, links resolved."""

    git_dir: Path
    common_dir: Path
    work_tree: Path | None  # None: bare
    dot_git: Path | None = None  # the ``.git`` entry that led here
    index_file: Path | None = None  # None: git's own choice
    extra: Mapping[str, str] = field(default_factory=dict)  # environment that git needs to see this repository
    notes: tuple[str, ...] = ()  # what of the environment was not followed, for a person


def find_place(start: Path, environ: Mapping[str, str], *, bare: bool = False) -> GitPlace | None:
    """The repository of a folder; None where there is none. Raises RevisionError for one that cannot be used.

    A folder that is a bare repository itself is used where the environment names it, or where ``bare`` says that it is
    meant: any folder can pretend to be one.
    """
    try:
        return _place(start.resolve(), environ, bare=bare)
    except PermissionError as error:
        raise RevisionError(
            f"'{error.filename}' of the repository cannot be read: {error.strerror}", help="check its permissions"
        ) from None


def _place(here: Path, environ: Mapping[str, str], *, bare: bool) -> GitPlace | None:
    named = _named_git_dir(here, environ)
    if named is not None and named == here:  # a hook of a bare repository runs inside it
        return _bare(named, environ)
    found = _walk_up(here)
    if found is None:
        if named is not None:
            return _explicit(named, here, environ)
        if looks_like_git_dir(here):
            if bare:
                return _bare(here, environ)
            raise bare_repository(here)
        return None
    return _with_hook_environment(found, here, environ)


def bare_repository(folder: Path) -> RevisionError:
    """The exception for a command that needs files of a work tree and stands in a bare repository."""
    help = (
        "name two revisions (`ctxc diff BASE HEAD`, `ctxc gate --against BASE --rev HEAD`), or make a checkout of it: "
        f"`git --git-dir={folder} worktree add ../checkout`; a hook names the repository itself (GIT_DIR={folder})"
    )
    return RevisionError(f"'{folder}' is a bare repository: it has no work tree and no index", help=help)


def looks_like_git_dir(folder: Path) -> bool:
    """Whether a folder has what every git directory has."""
    head = folder / "HEAD"
    if not (head.is_file() or head.is_symlink()):
        return False
    return (folder / "commondir").is_file() or ((folder / "objects").is_dir() and (folder / "refs").is_dir())


def _walk_up(here: Path) -> GitPlace | None:
    for folder in (here, *here.parents):
        entry = folder / ".git"
        if entry.is_dir():
            if looks_like_git_dir(entry):
                git_dir = entry.resolve()
                return GitPlace(git_dir=git_dir, common_dir=_common_dir(git_dir), work_tree=folder, dot_git=entry)
        elif entry.is_file():
            git_dir = _follow_gitfile(entry)
            return GitPlace(git_dir=git_dir, common_dir=_common_dir(git_dir), work_tree=folder, dot_git=entry)
    return None


def _follow_gitfile(entry: Path) -> Path:
    """The folder that a ``.git`` file names (gitrepository-layout(5): ``gitdir: PATH``)."""
    help = "repair it with `git worktree repair` or `git submodule update --init`"
    try:
        with entry.open("rb") as handle:
            text = handle.read(_MAX_GITFILE_BYTES + 1).decode("utf-8", "surrogateescape")
    except OSError as error:
        raise RevisionError(f"'{entry}' cannot be read: {error.strerror}", help="check its permissions") from None
    name = text.removeprefix("gitdir: ").rstrip("\r\n")
    if name == text.rstrip("\r\n") or not name or "\0" in name or len(text) > _MAX_GITFILE_BYTES:
        raise RevisionError(f"'{entry}' is not a git directory and does not name one", help=help)
    git_dir = (entry.parent / name).resolve()
    if not looks_like_git_dir(git_dir):
        raise RevisionError(f"'{entry}' names '{git_dir}', which is not a git directory", help=help)
    return git_dir


def _common_dir(git_dir: Path) -> Path:
    """The folder with objects and references: for a linked work tree that of the main one."""
    try:
        with (git_dir / "commondir").open("rb") as handle:
            name = handle.read(_MAX_GITFILE_BYTES).decode("utf-8", "surrogateescape").rstrip("\r\n")
    except OSError:
        return git_dir
    return (git_dir / name).resolve()


def _named_git_dir(here: Path, environ: Mapping[str, str]) -> Path | None:
    name = environ.get("GIT_DIR")
    return (here / name).resolve() if name else None


def _bare(git_dir: Path, environ: Mapping[str, str]) -> GitPlace:
    return GitPlace(git_dir=git_dir, common_dir=_common_dir(git_dir), work_tree=None, extra=_quarantine(environ))


def _explicit(git_dir: Path, here: Path, environ: Mapping[str, str]) -> GitPlace:
    """The repository that ``GIT_DIR`` names, for a folder that lies in no other."""
    if not looks_like_git_dir(git_dir):
        raise RevisionError(f"GIT_DIR names '{git_dir}', which is not a git directory", help="unset GIT_DIR")
    place = _bare(git_dir, environ)
    name = environ.get("GIT_WORK_TREE")
    if not name:
        return place
    index = environ.get("GIT_INDEX_FILE")
    return GitPlace(
        git_dir=place.git_dir,
        common_dir=place.common_dir,
        work_tree=(here / name).resolve(),
        index_file=(here / index).resolve() if index else None,
        extra=place.extra,
        notes=(f"the repository is the one that GIT_DIR names: '{git_dir}'",),
    )


def _with_hook_environment(place: GitPlace, here: Path, environ: Mapping[str, str]) -> GitPlace:
    """The place with what git told its hook, where that is about this repository."""
    work_tree = place.work_tree or here
    notes: list[str] = []
    name = environ.get("GIT_DIR")
    if name:
        # A hook runs at the top of the work tree, and relative values are meant from there.
        named = {(folder / name).resolve() for folder in (work_tree, here)}
        if not named & {place.git_dir, place.common_dir}:
            notes.append(f"GIT_DIR='{name}' is another repository; the one of this folder is used: '{place.git_dir}'")
            return _replaced(place, notes=notes)
    index_file: Path | None = None
    index = environ.get("GIT_INDEX_FILE")
    if index:
        index_file = (work_tree / index).resolve()
        owner = next((folder for folder in index_file.parents if looks_like_git_dir(folder)), None)
        if owner is not None and owner not in {place.git_dir, place.common_dir}:
            notes.append(f"GIT_INDEX_FILE='{index}' belongs to another repository and is not used")
            index_file = None
        elif index_file == place.git_dir / "index":
            index_file = None
    return _replaced(place, notes=notes, index_file=index_file, extra=_quarantine(environ) if name else {})


def _replaced(
    place: GitPlace, *, notes: list[str], index_file: Path | None = None, extra: Mapping[str, str] | None = None
) -> GitPlace:
    return GitPlace(
        git_dir=place.git_dir,
        common_dir=place.common_dir,
        work_tree=place.work_tree,
        dot_git=place.dot_git,
        index_file=index_file,
        extra=extra or {},
        notes=tuple(notes),
    )


def _quarantine(environ: Mapping[str, str]) -> dict[str, str]:
    """Where the objects of a push lie until it is accepted (git-receive-pack(1)); absolute paths only."""
    if "GIT_QUARANTINE_PATH" not in environ:
        return {}
    return {name: environ[name] for name in _QUARANTINE if Path(environ.get(name, "")).is_absolute()}
