"""A repository: revisions, commits, what the index holds, what is untracked. Reads only, and only hardened.

The commands are rev-parse, symbolic-ref, cat-file, ls-files, merge-base (and config, for ``safe.directory``). No work
tree, clone, branch or checkout is made, and nothing that the repository configures is run (``ctxc.source.process``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import NamedTuple

from ctxc.base.errors import RevisionError, UsageError
from ctxc.source.gitdir import GitPlace, find_place
from ctxc.source.objects import Commit, Objects, is_oid
from ctxc.source.ownership import check_owner
from ctxc.source.paths import shown
from ctxc.source.process import Git

_NOTHING: Mapping[str, str] = MappingProxyType({})
_UNSAFE = re.compile(r"[\x00-\x1f\x7f]")
_FROM_HEAD = re.compile(r"(?:HEAD|@)(?:[~^][0-9]*)*")
_AMBIGUOUS = re.compile(r"warning: refname '(.*)' is ambiguous")
_MAX_REVISION = 1024  # characters; reference names have at most 255 bytes a component
SHORT = 12  # hex digits of a commit in messages

FETCH_HELP = (
    "fetch what is missing: `fetch-depth: 0` for actions/checkout, `GIT_DEPTH: 0` in GitLab, or "
    "`git fetch --deepen=100`, `git fetch --unshallow`"
)
_PARTIAL_HELP = "fetch the objects (`git fetch --refetch --no-filter`), or see what `git fsck` says"


class IndexEntry(NamedTuple):
    """One entry of the index: mode, object id, merge stage (0: none), path relative to the work tree."""

    mode: str
    oid: str
    stage: int
    path: str


class Repository:
    """One repository that may be read. Close it, or use it in a ``with``, to end its git process early."""

    def __init__(self, place: GitPlace, environ: Mapping[str, str] = _NOTHING) -> None:
        self.place = place
        extra = dict(place.extra)
        if place.index_file is not None:
            extra["GIT_INDEX_FILE"] = str(place.index_file)
        self._git = Git(environ, git_dir=place.git_dir, work_tree=place.work_tree, extra=extra)
        self.objects = Objects(self._git)
        self._resolved: dict[str, str] = {}

    @classmethod
    def discover(
        cls, path: str | Path, *, environ: Mapping[str, str] = _NOTHING, trust: bool = False, bare: bool = False
    ) -> Repository | None:
        """The repository in which a folder lies; None where there is none.

        ``environ`` is the environment of the command: ``PATH`` for git itself, what git sets for hooks, and where
        the user's configuration lies. ``trust`` skips the check of the owner; ``bare`` takes the folder itself where it
        is a bare repository. Raises RevisionError for a repository
        of another user, a bare one that is not named, and where git is not installed.
        """
        place = find_place(Path(path), environ, bare=bare)
        if place is None:
            return None
        if not trust:
            check_owner(place, environ)
        return cls(place, environ)

    def __enter__(self) -> Repository:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the git process that reads objects."""
        self.objects.close()

    def prefix_of(self, root: str | Path) -> str:
        """A folder inside the work tree as a path relative to its top (empty: the top). Raises UsageError."""
        if self.place.work_tree is None:
            return ""
        try:
            relative = Path(root).resolve().relative_to(self.place.work_tree)
        except ValueError:
            raise UsageError(f"'{root}' is not inside the repository '{self.place.work_tree}'") from None
        return "" if relative == Path() else relative.as_posix()

    def resolve(self, revision: str) -> str:
        """The commit id of anything that ``git rev-parse`` takes.

        Raises RevisionError for what names no commit of this clone, is ambiguous, or could be an option.
        """
        known = self._resolved.get(revision)
        if known is None:
            known = self._resolved[revision] = self._resolve(revision)
        return known

    def resolve_all(self, revisions: Iterable[str]) -> None:
        """Look several revisions up in one process, so that ``resolve`` knows them.

        HEAD and its ancestors mean one thing only: the process that reads objects is asked for them. Nothing is said of
        a revision that fails, and nothing is kept where git had anything to remark: ``resolve`` will.
        """
        revisions = tuple(revisions)
        self.objects.start()
        for name in revisions:
            if name not in self._resolved and _FROM_HEAD.fullmatch(name) and len(name) <= _MAX_REVISION:
                commit = self.objects.commit(name)
                if commit is not None:
                    self._resolved[name] = commit.oid
        names = [r for r in dict.fromkeys(revisions) if r not in self._resolved and _is_plain(r)]
        if len(names) < 2:
            return
        peeled = [f"{name}^{{commit}}" for name in names]
        found = self._git.run("rev-parse", "--end-of-options", *peeled, accept=(0, 1, 128))
        # Older versions of git print the option as well where --verify is not given, which takes one revision only.
        ids = [line for line in found.text.split("\n") if line != "--end-of-options"]
        if found.status == 0 and not found.stderr and len(ids) == len(names) and all(map(is_oid, ids)):
            self._resolved.update(zip(names, ids, strict=True))

    def head(self) -> str | None:
        """The commit id of HEAD; None before the first commit."""
        found = self.objects.commit("HEAD")
        return found.oid if found is not None else None

    def branch(self) -> str | None:
        """The full name of the branch that HEAD is on, ``refs/heads/...``; None where HEAD is detached."""
        found = self._git.run("symbolic-ref", "--quiet", "HEAD", accept=(0, 1))
        return found.text if found.status == 0 else None

    def commit(self, oid: str) -> Commit:
        """The commit of a full id. Raises RevisionError where its object is not in this clone."""
        found = self.objects.commit(oid)
        if found is None:
            raise self.missing(oid, f"commit {oid[:SHORT]}")
        return found

    def has_commit(self, oid: str) -> bool:
        """Whether a commit and its tree are in this clone."""
        found = self.objects.commit(oid)
        return found is not None and self.objects.look_up(f"{found.tree}^{{tree}}") is not None

    def merge_base(self, one: str, other: str) -> str | None:
        """The best common ancestor of two commit ids; None where the clone knows none."""
        if not (is_oid(one) and is_oid(other)):
            raise RevisionError("a merge base is asked for two commit ids", help="resolve both revisions first")
        found = self._git.run("merge-base", one, other, accept=(0, 1, 128))
        return found.text if found.status == 0 and is_oid(found.text) else None

    def is_shallow(self) -> bool:
        """Whether the clone's history is cut."""
        return self._git.run("rev-parse", "--is-shallow-repository").text == "true"

    def object_format(self) -> str:
        """``sha1`` or ``sha256``."""
        return self._git.run("rev-parse", "--show-object-format").text

    def index_entries(self, prefix: str = "") -> tuple[IndexEntry, ...]:
        """What the index holds below a folder of the work tree, as git sorts it."""
        found = self._git.run("ls-files", "--stage", "-z", "--", *([f"{prefix}/"] if prefix else []))
        entries: list[IndexEntry] = []
        for record in found.stdout.split(b"\0")[:-1]:
            facts, _, name = record.partition(b"\t")
            mode, oid, stage = facts.decode("ascii").split(" ")
            entries.append(IndexEntry(mode, oid, int(stage), name.decode("utf-8", "surrogateescape")))
        return tuple(entries)

    def untracked(self, prefix: str = "") -> tuple[str, ...]:
        """Paths of the work tree below a folder that are neither in the index nor ignored, sorted.

        Ignored is what ``.gitignore`` files and ``.git/info/exclude`` say; a list of the user's own
        (``core.excludesFile``) is not read, so that two people see the same tree.
        """
        return self._others(("--exclude-standard",), (prefix,) if prefix else ())

    def ignored(self, prefixes: tuple[str, ...] = ()) -> tuple[str, ...]:
        """Untracked paths below some folders that are ignored, sorted; a folder as a whole ends in ``/``."""
        options = ("--ignored", "--exclude-standard", "--directory")
        return self._others(options, tuple(prefix for prefix in prefixes if prefix))

    def missing(self, oid: str, what: str) -> RevisionError:
        """The exception for an object that is not in this clone: what was looked for, why, and the remedies."""
        if self.is_shallow():
            return RevisionError(f"{what} is not in this clone, which is shallow (object {oid})", help=FETCH_HELP)
        return RevisionError(f"{what} is not in this repository (object {oid})", help=_PARTIAL_HELP)

    def _others(self, options: tuple[str, ...], prefixes: tuple[str, ...]) -> tuple[str, ...]:
        if self.place.work_tree is None:
            return ()
        found = self._git.run("ls-files", "--others", *options, "-z", "--", *prefixes)
        names = found.stdout.split(b"\0")[:-1]
        return tuple(sorted(name.decode("utf-8", "surrogateescape") for name in names))

    def _resolve(self, revision: str) -> str:
        name = shown(revision)
        if not revision or revision.startswith("-") or _UNSAFE.search(revision) or len(revision) > _MAX_REVISION:
            raise RevisionError(f"'{name}' cannot be a revision", help="name a branch, a tag or a commit")
        try:
            revision.encode("utf-8")
        except UnicodeEncodeError:
            raise RevisionError(f"'{name}' is not valid UTF-8", help="name a branch, a tag or a commit") from None
        # ``:/text`` reaches to the end of the argument, and only ever finds a commit.
        peeled = revision if revision.startswith(":/") else f"{revision}^{{commit}}"
        found = self._git.run("rev-parse", "--verify", "--end-of-options", peeled, accept=(0, 1, 128))
        if found.status == 0 and is_oid(found.text):
            # HEAD is always the repository's own HEAD; a tag of that name changes nothing.
            doubtful = [match[1] for match in _AMBIGUOUS.finditer(found.stderr) if match[1] != "HEAD"]
            if doubtful:
                help = f"write 'refs/heads/{doubtful[0]}' or 'refs/tags/{doubtful[0]}'"
                raise RevisionError(f"'{name}' is ambiguous: more than one reference has that name", help=help)
            return found.text
        raise self._unresolved(revision, found.complaint)

    def _unresolved(self, revision: str, complaint: str) -> RevisionError:
        """Why a revision names no commit here: misspelt, a range, or cut off from a shallow clone."""
        from ctxc.source.refs import similar_names

        name = shown(revision)
        if ".." in revision:
            help = "name one revision; two are given as two arguments: ctxc diff BASE HEAD"
            return RevisionError(f"'{name}' is a range, not a revision", help=help)
        if self.is_shallow():
            message = f"'{name}' is not a revision of this clone, which is shallow ({complaint})"
            return RevisionError(message, help=FETCH_HELP)
        near = similar_names(self.place, revision)
        help = f"did you mean {' or '.join(near)}?" if near else "see `git branch --all` and `git tag`"
        return RevisionError(f"'{name}' is not a revision of this repository ({complaint})", help=help)


def _is_plain(revision: str) -> bool:
    """Whether a revision is one that may stand beside others on a command line of git."""
    if not revision.isascii() or revision.startswith(("-", ":", "^")) or ".." in revision:
        return False
    return bool(revision) and len(revision) <= _MAX_REVISION and not _UNSAFE.search(revision)
