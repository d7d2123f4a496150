"""Which revision a change is judged against when the user names none.

On the merge commit that a CI service makes of a pull request: its first parent, read from the commit object, because
a clone of depth 1 does not have the parent itself. Else what the CI service's variables say. Else the merge base with
the default branch: a branch is compared with the commit it left, not with a tip that moved on.

A merge commit is taken for the service's own where the service's variables say that HEAD is the commit it made, or
where nothing better is known: an author of a pull request can write any merge commit, and must not choose the base
that judges the request.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from ctxc.base.errors import RevisionError
from ctxc.base.values import dataclass
from ctxc.source.git import FETCH_HELP, SHORT, Repository
from ctxc.source.objects import Commit, is_oid
from ctxc.source.paths import shown


class How(StrEnum):
    """By which rule a base was chosen."""

    PULL_REQUEST_MERGE = "pull-request-merge"
    CI_VARIABLE = "ci-variable"
    MERGE_BASE = "merge-base"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseChoice:
    """The base, and why it is that one.

    ``commit`` None and ``missing`` False: there is no base (first commit, no default branch), and the gates that need
    one do not apply. ``missing``: there is one, but this clone does not have it; ``require`` raises then, because a
    pull request that is not compared must not pass. ``is_head``: the base is HEAD itself, as on the default branch;
    only a work tree that differs from it holds a change.
    """

    commit: str | None
    how: How
    explanation: str
    help: str = ""
    missing: bool = False
    is_head: bool = False

    def require(self) -> str | None:
        """The commit, None where there is no base; raises RevisionError where it is missing from the clone."""
        if self.missing:
            raise RevisionError(self.explanation, help=self.help)
        return self.commit


class _Branch(NamedTuple):
    """A variable that holds the name of the branch that a change goes to, and what must hold for it to count."""

    name: str
    unless: tuple[str, tuple[str, ...]] | None = None  # a variable, and its values that mean "no pull request"


# Variables of CI services, from their documentation, November 2026. Ids come first: they need no reference.
_COMMITS = (
    "CI_MERGE_REQUEST_DIFF_BASE_SHA",  # GitLab: the merge base itself
    "BITBUCKET_PR_DESTINATION_COMMIT",
    "CIRRUS_BASE_SHA",
)
_BRANCHES = (
    _Branch("GITHUB_BASE_REF"),  # GitHub, Gitea, Forgejo: empty unless it is a pull request
    _Branch("CI_MERGE_REQUEST_TARGET_BRANCH_NAME"),  # GitLab
    _Branch("BITBUCKET_PR_DESTINATION_BRANCH"),
    _Branch("SYSTEM_PULLREQUEST_TARGETBRANCH"),  # Azure Pipelines: refs/heads/main, or main
    _Branch("CHANGE_TARGET"),  # Jenkins, multibranch
    _Branch("BUILDKITE_PULL_REQUEST_BASE_BRANCH"),
    _Branch("CIRRUS_BASE_BRANCH"),
    _Branch("DRONE_TARGET_BRANCH", ("DRONE_PULL_REQUEST", ("",))),
    _Branch("CI_COMMIT_TARGET_BRANCH"),  # Woodpecker
    _Branch("TRAVIS_BRANCH", ("TRAVIS_PULL_REQUEST", ("", "false"))),
    _Branch("APPVEYOR_REPO_BRANCH", ("APPVEYOR_PULL_REQUEST_NUMBER", ("",))),
)
_REVISIONS = ("PRE_COMMIT_FROM_REF",)  # pre-commit run --from-ref, and its pre-push hook

_GITHUB_MERGE_REF = re.compile(r"refs/pull/\d+/merge\Z")
_GITHUB_QUEUE_REF = re.compile(r"refs/heads/gh-readonly-queue/.+/pr-\d+-([0-9a-f]{40}|[0-9a-f]{64})\Z")
_GITHUB_MERGE_SUBJECT = re.compile(r"Merge ([0-9a-f]{40}|[0-9a-f]{64}) into ([0-9a-f]{40}|[0-9a-f]{64})\Z")
_DEFAULT_BRANCHES = (
    "refs/remotes/origin/HEAD",
    "refs/remotes/origin/main",
    "refs/remotes/origin/master",
    "refs/heads/main",
    "refs/heads/master",
)
_BRANCH_NAME = re.compile(
    r"[^\x00-\x20\x7f~^:?*\[\\-][^\x00-\x20\x7f~^:?*\[\\]*\Z"
)  # git-check-ref-format(1), narrower


def default_base(repository: Repository, environ: Mapping[str, str]) -> BaseChoice:
    """The base for the repository's HEAD. ``environ`` is the environment of the command; nothing else is read."""
    head_id = repository.head()
    if head_id is None:
        return _none("the repository has no commit yet")
    head = repository.commit(head_id)
    return (
        _from_service_merge(repository, head, environ)
        or _from_variables(repository, head, environ)
        or _from_default_branch(repository, head, environ)
    )


def _from_service_merge(repository: Repository, head: Commit, environ: Mapping[str, str]) -> BaseChoice | None:
    """HEAD is the commit that the CI service made to test the change merged into its target."""
    queue = _GITHUB_QUEUE_REF.match(environ.get("GITHUB_REF", ""))
    if queue and environ.get("GITHUB_SHA") == head.oid:
        return _chosen(repository, queue[1], How.PULL_REQUEST_MERGE, f"the merge queue's base {queue[1][:SHORT]}", head)
    if len(head.parents) < 2:
        return None
    return _first_parent(repository, head) if _made_by_service(head, environ) else None


def _made_by_service(head: Commit, environ: Mapping[str, str]) -> bool:
    def is_head(name: str) -> bool:
        return environ.get(name, head.oid) == head.oid

    github = environ.get("GITHUB_REF")
    if github is None and "GITHUB_SHA" not in environ and environ.get("GITHUB_BASE_REF"):
        return True  # a step that was given only some of GitHub's variables: it is a pull request, and HEAD a merge
    return bool(
        (_GITHUB_MERGE_REF.match(github or "") and is_head("GITHUB_SHA"))
        or (_GITHUB_MERGE_REF.match(environ.get("BUILD_SOURCEBRANCH", "")) and is_head("BUILD_SOURCEVERSION"))
        or (environ.get("CI_MERGE_REQUEST_TARGET_BRANCH_SHA") and is_head("CI_COMMIT_SHA"))
        or (environ.get("TRAVIS_PULL_REQUEST", "false") not in {"", "false"} and is_head("TRAVIS_COMMIT"))
    )


def _first_parent(repository: Repository, head: Commit) -> BaseChoice:
    what = f"the first parent {head.parents[0][:SHORT]} of the pull request's merge commit {head.oid[:SHORT]}"
    return _chosen(repository, head.parents[0], How.PULL_REQUEST_MERGE, what, head)


def _from_variables(repository: Repository, head: Commit, environ: Mapping[str, str]) -> BaseChoice | None:
    for name in _COMMITS:
        value = environ.get(name, "")
        if value:
            return _from_commit_variable(repository, head, name, value)
    for branch in _BRANCHES:
        value = environ.get(branch.name, "")
        if value and not (branch.unless and environ.get(branch.unless[0], "") in branch.unless[1]):
            return _from_branch_variable(repository, head, branch.name, value)
    for name in _REVISIONS:
        value = environ.get(name, "")
        if value:
            try:
                commit = repository.resolve(value)
            except RevisionError as error:
                return _missing(f"{name} names the base '{shown(value)}': {error.message}", How.CI_VARIABLE, error.help)
            return _merge_base(repository, head, commit, How.CI_VARIABLE, f"{name} ('{shown(value)}')")
    return None


def _from_commit_variable(repository: Repository, head: Commit, name: str, value: str) -> BaseChoice:
    """A variable that holds an id, possibly a short one (Bitbucket)."""
    try:
        commit = value if is_oid(value) else repository.resolve(value)
    except RevisionError as error:
        return _missing(f"{name} names the base '{shown(value)}': {error.message}", How.CI_VARIABLE, error.help)
    if not repository.has_commit(commit):
        return _chosen(repository, commit, How.CI_VARIABLE, f"{name} ({commit[:SHORT]})", head)
    return _merge_base(repository, head, commit, How.CI_VARIABLE, name)


def _from_branch_variable(repository: Repository, head: Commit, name: str, value: str) -> BaseChoice:
    short = value.removeprefix("refs/heads/")
    candidates = [f"refs/remotes/origin/{short}", f"refs/heads/{short}"]
    for reference in candidates:
        tip = repository.objects.commit(reference) if _BRANCH_NAME.match(short) else None
        if tip is not None:
            return _merge_base(repository, head, tip.oid, How.CI_VARIABLE, f"{name} ('{shown(short)}')")
    where = " and ".join(shown(reference) for reference in candidates)
    message = f"{name} says that the change goes to '{shown(short)}', but this clone has no such branch ({where})"
    return _missing(
        message, How.CI_VARIABLE, f"{FETCH_HELP}, or `git fetch origin {shown(short)}:{shown(candidates[0])}`"
    )


def _from_default_branch(repository: Repository, head: Commit, environ: Mapping[str, str]) -> BaseChoice:
    named = environ.get("CI_DEFAULT_BRANCH", "")  # GitLab; its clones have no origin/HEAD
    candidates = [f"refs/remotes/origin/{named}"] if named and _BRANCH_NAME.match(named) else []
    tip = name = None
    for reference in (*candidates, *_DEFAULT_BRANCHES):
        tip = repository.objects.commit(reference)
        if tip is not None:
            name = reference.removeprefix("refs/remotes/").removeprefix("refs/heads/")
            break
    if tip is not None:
        base = _common(repository, head, tip.oid)
        if base is not None:
            return _chosen(repository, base, How.MERGE_BASE, f"the merge base with {name}, {base[:SHORT]}", head)
    if _says_pull_request(head):
        return _first_parent(repository, head)
    if tip is None:
        return _without_default_branch(repository, head)
    if repository.is_shallow():
        # Not an error: nobody asked for a base, and nothing says that this is a pull request.
        return _none(f"the history that HEAD shares with {name} is not in this shallow clone", FETCH_HELP)
    return _none(f"HEAD has no history in common with {name}")


def _without_default_branch(repository: Repository, head: Commit) -> BaseChoice:
    """A lone merge commit on a detached HEAD is compared with its first parent, where that is in the clone."""
    reason = "there is no default branch to compare with (origin/HEAD, main, master)"
    if len(head.parents) < 2 or repository.branch() is not None:
        return _none(reason)
    parent = _first_parent(repository, head)
    return _none(f"{reason}, and {parent.explanation}", parent.help) if parent.missing else parent


def _says_pull_request(head: Commit) -> bool:
    """Whether the commit is worded as GitHub words its test merges: ``Merge HEAD into BASE``, with its own parents."""
    match = _GITHUB_MERGE_SUBJECT.match(head.subject)
    return match is not None and head.parents == (match[2], match[1])


def _common(repository: Repository, head: Commit, tip: str) -> str | None:
    """The merge base; in a shallow clone git does not see that a tip is HEAD's own parent, the commit says so."""
    return tip if tip in head.parents else repository.merge_base(head.oid, tip)


def _merge_base(repository: Repository, head: Commit, tip: str, how: How, source: str) -> BaseChoice:
    base = _common(repository, head, tip)
    if base is not None:
        return _chosen(repository, base, how, f"the merge base with {source}, {base[:SHORT]}", head)
    if repository.is_shallow():
        message = f"the merge base with {source} is not in this clone, which is shallow"
        return _missing(message, how, FETCH_HELP)
    return _missing(f"HEAD has no history in common with {source}", how, "see whether the right branch is checked out")


def _chosen(repository: Repository, commit: str, how: How, what: str, head: Commit) -> BaseChoice:
    if repository.has_commit(commit):
        return BaseChoice(commit=commit, how=how, explanation=what, is_head=commit == head.oid)
    error = repository.missing(commit, what)
    help = f"{error.help}, or `git fetch --depth=1 origin {commit}`"
    return BaseChoice(commit=commit, how=how, explanation=error.message, help=help, missing=True)


def _missing(explanation: str, how: How, help: str) -> BaseChoice:
    return BaseChoice(commit=None, how=how, explanation=explanation, help=help, missing=True)


def _none(explanation: str, help: str = "") -> BaseChoice:
    return BaseChoice(commit=None, how=How.NONE, explanation=explanation, help=help)
