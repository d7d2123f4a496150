"""Which base a change is judged against when none is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from repos import Repo

from ctxc.base.errors import RevisionError
from ctxc.source.base_revision import BaseChoice, How, default_base
from ctxc.source.commits import CommitTree


class Pull:
    """A pull request: ``main`` moved on after ``feature`` left it; ``merge`` is what a CI service tests."""

    def __init__(self, tmp_path: Path) -> None:
        self.repo = repo = Repo(tmp_path / "origin")
        self.fork = repo.commit("fork", {"a.md": "1\n", "b.md": "1\n"})
        repo.git("checkout", "-q", "-b", "feature")
        self.feature = repo.commit("feature", {"a.md": "2\n"})
        repo.git("checkout", "-q", "main")
        self.main = repo.commit("main moved", {"b.md": "2\n"})
        repo.git("checkout", "-q", "--detach", "main")
        self.merge = repo.merge("feature", f"Merge {self.feature} into {self.main}")
        repo.git("update-ref", "refs/pull/1/merge", self.merge)
        repo.git("checkout", "-q", "main")
        self.tmp_path = tmp_path

    def checkout(self, revision: str, depth: int, *, with_main: bool = False) -> Repo:
        """What a CI service has: one reference fetched to a depth, HEAD detached."""
        made = Repo(self.tmp_path / "ci")
        made.git("remote", "add", "origin", self.repo.path.as_uri())
        options = ["-c", "protocol.file.allow=always", "fetch", "-q", "--no-tags", f"--depth={depth}", "origin"]
        made.git(*options, f"+{revision}:refs/remotes/pull/head")
        if with_main:
            made.git(*options, "+refs/heads/main:refs/remotes/origin/main")
        made.git("checkout", "-q", "--detach", "refs/remotes/pull/head")
        return made


@pytest.fixture
def pull(tmp_path: Path) -> Pull:
    return Pull(tmp_path)


def facts(choice: BaseChoice) -> tuple[str | None, str, bool, bool]:
    return choice.commit, choice.how.value, choice.missing, choice.is_head


def test_a_pull_request_merge_at_depth_one_names_its_base(pull: Pull, opened) -> None:
    clone = pull.checkout("refs/pull/1/merge", 1)
    variables = {"GITHUB_REF": "refs/pull/1/merge", "GITHUB_SHA": pull.merge, "GITHUB_BASE_REF": "main"}
    choice = default_base(opened(clone), variables)
    assert facts(choice) == (pull.main, "pull-request-merge", True, False)
    assert (
        f"the first parent {pull.main[:12]} of the pull request's merge commit {pull.merge[:12]}" in choice.explanation
    )
    assert "which is shallow" in choice.explanation
    with pytest.raises(RevisionError) as caught:
        choice.require()
    assert pull.main in caught.value.message
    assert f"git fetch --depth=1 origin {pull.main}" in caught.value.help
    assert "fetch-depth: 0" in caught.value.help
    # The remedy as it is given works.
    clone.git("-c", "protocol.file.allow=always", "fetch", "-q", "--depth=1", "origin", pull.main)
    repository = opened(clone)
    choice = default_base(repository, variables)
    assert facts(choice) == (pull.main, "pull-request-merge", False, False)
    assert CommitTree(repository, choice.require()).read("b.md") == b"2\n"


@pytest.mark.parametrize(
    "variables",
    [
        {"GITHUB_REF": "refs/pull/1/merge", "GITHUB_SHA": "MERGE", "GITHUB_BASE_REF": "main"},
        {"GITHUB_BASE_REF": "main"},
        {"BUILD_SOURCEBRANCH": "refs/pull/1/merge", "BUILD_SOURCEVERSION": "MERGE"},
        {"CI_MERGE_REQUEST_TARGET_BRANCH_SHA": "MAIN", "CI_COMMIT_SHA": "MERGE"},
        {"TRAVIS_PULL_REQUEST": "1", "TRAVIS_COMMIT": "MERGE", "TRAVIS_BRANCH": "main"},
        {},
    ],
    ids=["github", "github-base-ref-only", "azure", "gitlab-merged-results", "travis", "no-variables"],
)
def test_the_merge_commit_of_each_service(pull: Pull, opened, variables: dict[str, str]) -> None:
    clone = pull.checkout("refs/pull/1/merge", 2)
    known = {"MERGE": pull.merge, "MAIN": pull.main}
    choice = default_base(opened(clone), {name: known.get(value, value) for name, value in variables.items()})
    assert facts(choice) == (pull.main, "pull-request-merge", False, False)


def test_a_merge_commit_that_an_author_wrote_does_not_choose_the_base(pull: Pull, opened) -> None:
    """The head of a pull request is a merge commit, worded like GitHub's own, whose first parent suits its author."""
    repo = pull.repo
    repo.git("checkout", "-q", "-b", "evil", "feature")
    evil = repo.commit("loosen the policy", {"a.md": "3\n"})
    repo.git("checkout", "-q", "-b", "side", "feature")
    side = repo.commit("side", {"c.md": "1\n"})
    repo.git("checkout", "-q", "evil")
    head = repo.merge("side", f"Merge {side} into {evil}")
    repo.git("checkout", "-q", "--detach", head)
    variables = {"GITHUB_REF": "refs/pull/1/merge", "GITHUB_SHA": pull.merge, "GITHUB_BASE_REF": "main"}
    assert facts(default_base(opened(repo), variables)) == (pull.fork, "ci-variable", False, False)
    # Without any variable the default branch is asked before the commit's own words.
    assert facts(default_base(opened(repo), {})) == (pull.fork, "merge-base", False, False)


@pytest.mark.parametrize(
    "variables",
    [
        {"GITHUB_BASE_REF": "main", "GITHUB_REF": "refs/pull/1/head"},
        {"CI_MERGE_REQUEST_DIFF_BASE_SHA": "FORK", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "nowhere"},
        {"CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main"},
        {"BITBUCKET_PR_DESTINATION_COMMIT": "SHORT", "BITBUCKET_PR_DESTINATION_BRANCH": "main"},
        {"BITBUCKET_PR_DESTINATION_BRANCH": "main"},
        {"SYSTEM_PULLREQUEST_TARGETBRANCH": "refs/heads/main"},
        {"CHANGE_TARGET": "main"},
        {"BUILDKITE_PULL_REQUEST_BASE_BRANCH": "main"},
        {"CIRRUS_BASE_SHA": "MAIN"},
        {"DRONE_PULL_REQUEST": "3", "DRONE_TARGET_BRANCH": "main"},
        {"CI_COMMIT_TARGET_BRANCH": "main"},
        {"TRAVIS_PULL_REQUEST": "3", "TRAVIS_BRANCH": "main"},
        {"APPVEYOR_PULL_REQUEST_NUMBER": "3", "APPVEYOR_REPO_BRANCH": "main"},
        {"PRE_COMMIT_FROM_REF": "main"},
    ],
    ids=lambda variables: next(iter(variables)),
)
def test_the_variables_of_each_service_lead_to_the_merge_base(pull: Pull, opened, variables: dict[str, str]) -> None:
    clone = pull.repo.clone(pull.tmp_path / "clone")
    clone.git("checkout", "-q", "feature")
    known = {"FORK": pull.fork, "MAIN": pull.main, "SHORT": pull.main[:12]}
    given = {name: known.get(value, value) for name, value in variables.items()}
    choice = default_base(opened(clone), given)
    # Two dots against the tip of main, which moved on, would show b.md going back to 1.
    assert facts(choice) == (pull.fork, "ci-variable", False, False)
    assert choice.require() == pull.fork


@pytest.mark.parametrize(
    "variables",
    [
        {"DRONE_TARGET_BRANCH": "elsewhere"},
        {"TRAVIS_BRANCH": "elsewhere", "TRAVIS_PULL_REQUEST": "false"},
        {"APPVEYOR_REPO_BRANCH": "elsewhere"},
        {"GITHUB_BASE_REF": "", "GITHUB_REF": "refs/heads/feature"},
        {"CI_DEFAULT_BRANCH": "main"},
        {"CI_DEFAULT_BRANCH": "../evil"},
    ],
    ids=lambda variables: next(iter(variables)),
)
def test_variables_of_a_push_are_not_of_a_pull_request(pull: Pull, opened, variables: dict[str, str]) -> None:
    pull.repo.git("checkout", "-q", "feature")
    choice = default_base(opened(pull.repo), variables)
    assert facts(choice) == (pull.fork, "merge-base", False, False)
    assert choice.explanation == f"the merge base with main, {pull.fork[:12]}"


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        (
            {"GITHUB_BASE_REF": "main", "GITHUB_REF": "refs/pull/1/head"},
            "GITHUB_BASE_REF says that the change goes to 'main'",
        ),
        ({"GITHUB_BASE_REF": "--output=x", "GITHUB_REF": "refs/pull/1/head"}, "goes to '--output=x'"),
        ({"GITHUB_BASE_REF": "a b\n", "GITHUB_REF": "refs/pull/1/head"}, r"goes to 'a b\x0a'"),
        ({"CIRRUS_BASE_SHA": "0" * 40}, "CIRRUS_BASE_SHA (000000000000) is not in this clone, which is shallow"),
        ({"BITBUCKET_PR_DESTINATION_COMMIT": "123456"}, "BITBUCKET_PR_DESTINATION_COMMIT names the base '123456'"),
        ({"PRE_COMMIT_FROM_REF": "nope"}, "PRE_COMMIT_FROM_REF names the base 'nope'"),
    ],
    ids=["branch", "option", "control", "commit", "short-commit", "revision"],
)
def test_a_base_that_the_service_names_and_the_clone_lacks(
    pull: Pull, opened, variables: dict[str, str], said: str
) -> None:
    clone = pull.checkout("refs/heads/feature", 1)
    choice = default_base(opened(clone), variables)
    assert choice.missing
    assert choice.how is How.CI_VARIABLE
    assert said in choice.explanation
    assert "fetch-depth: 0" in choice.help
    with pytest.raises(RevisionError):
        choice.require()


def test_a_merge_base_beyond_the_depth_is_missing(pull: Pull, opened) -> None:
    clone = pull.checkout("refs/heads/feature", 1, with_main=True)
    choice = default_base(opened(clone), {"GITHUB_BASE_REF": "main", "GITHUB_REF": "refs/pull/1/head"})
    assert choice.missing
    assert choice.explanation == "the merge base with GITHUB_BASE_REF ('main') is not in this clone, which is shallow"
    # Where nobody says that this is a pull request, there is no base, and the reason is told.
    choice = default_base(opened(clone), {})
    assert facts(choice) == (None, "none", False, False)
    assert "is not in this shallow clone" in choice.explanation
    assert choice.require() is None


def test_the_tip_of_main_is_a_parent_that_the_shallow_clone_cut_off(pull: Pull, opened) -> None:
    clone = pull.checkout("refs/pull/1/merge", 1, with_main=True)
    assert facts(default_base(opened(clone), {})) == (pull.main, "merge-base", False, False)


def test_the_merge_queue_names_its_base(pull: Pull, opened) -> None:
    repo = pull.repo
    repo.git("checkout", "-q", "--detach", "main")
    squashed = repo.commit("squashed", {"a.md": "2\n"})
    variables = {
        "GITHUB_REF": f"refs/heads/gh-readonly-queue/main/pr-7-{pull.main}",
        "GITHUB_SHA": squashed,
        "GITHUB_BASE_REF": "",
    }
    choice = default_base(opened(repo), variables)
    assert facts(choice) == (pull.main, "pull-request-merge", False, False)


def test_a_branch_is_compared_with_the_commit_it_left(pull: Pull, opened) -> None:
    clone = pull.repo.clone(pull.tmp_path / "clone")
    clone.git("checkout", "-q", "feature")
    choice = default_base(opened(clone), {})
    assert facts(choice) == (pull.fork, "merge-base", False, False)
    assert choice.explanation == f"the merge base with origin/HEAD, {pull.fork[:12]}"


def test_on_the_default_branch_the_base_is_head_or_what_is_pushed(pull: Pull, opened) -> None:
    choice = default_base(opened(pull.repo), {})
    assert facts(choice) == (pull.main, "merge-base", False, True)
    clone = pull.repo.clone(pull.tmp_path / "clone")
    clone.commit("local work", {"a.md": "9\n"})
    assert facts(default_base(opened(clone), {})) == (pull.main, "merge-base", False, False)


def test_where_no_base_exists(repo: Repo, opened) -> None:
    choice = default_base(opened(repo), {})
    assert facts(choice) == (None, "none", False, False)
    assert choice.explanation == "the repository has no commit yet"
    repo.commit("one", {"a.md": "a"})
    repo.git("branch", "-m", "main", "trunk")
    choice = default_base(opened(repo), {})
    assert (choice.commit, choice.require()) == (None, None)
    assert choice.explanation == "there is no default branch to compare with (origin/HEAD, main, master)"
    repo.git("checkout", "-q", "--orphan", "main")
    repo.commit("unrelated", {"b.md": "b"})
    repo.git("checkout", "-q", "trunk")
    assert default_base(opened(repo), {}).explanation == "HEAD has no history in common with main"
    named = default_base(opened(repo), {"GITHUB_BASE_REF": "main"})
    assert named.missing
    assert named.explanation == "HEAD has no history in common with GITHUB_BASE_REF ('main')"


def test_a_lone_merge_commit_without_a_default_branch(pull: Pull, opened) -> None:
    repo = pull.repo
    repo.git("checkout", "-q", "-b", "trunk", "main")
    merge = repo.merge("feature", "Merge branch feature")
    clone = Repo(pull.tmp_path / "lone")
    options = ["-c", "protocol.file.allow=always", "fetch", "-q", repo.path.as_uri()]
    clone.git(*options, "--depth=1", f"+{merge}:refs/lone")
    clone.git("checkout", "-q", "--detach", "refs/lone")
    choice = default_base(opened(clone), {})
    assert facts(choice) == (None, "none", False, False)
    assert f"the first parent {pull.main[:12]}" in choice.explanation
    clone.git(*options, "--depth=2", f"+{merge}:refs/lone")
    assert facts(default_base(opened(clone), {})) == (pull.main, "pull-request-merge", False, False)


def test_a_merge_that_is_worded_as_github_words_its_own_is_one_only_with_these_parents(pull: Pull, opened) -> None:
    """On a branch, where nothing else says what a lone merge commit is."""
    repo = pull.repo
    repo.git("checkout", "-q", "-b", "trunk", pull.merge)
    repo.git("branch", "-q", "-D", "main")
    assert facts(default_base(opened(repo), {})) == (pull.main, "pull-request-merge", False, False)
    for words in (f"Merge {pull.main} into {pull.feature}", f"Merge {pull.feature} into {pull.fork}"):
        repo.git("checkout", "-q", "-B", "trunk", pull.main)
        repo.merge("feature", words)
        assert facts(default_base(opened(repo), {})) == (None, "none", False, False)


def test_the_default_branch_that_gitlab_names(pull: Pull, opened) -> None:
    repo = pull.repo
    repo.git("update-ref", "refs/remotes/origin/trunk", pull.main)
    repo.git("checkout", "-q", "feature")
    repo.git("branch", "-q", "-D", "main")
    choice = default_base(opened(repo), {"CI_DEFAULT_BRANCH": "trunk"})
    assert facts(choice) == (pull.fork, "merge-base", False, False)
    assert choice.explanation == f"the merge base with origin/trunk, {pull.fork[:12]}"
    for name in ("", "other", "-trunk", "trunk^{commit}", "../origin/trunk"):
        assert facts(default_base(opened(repo), {"CI_DEFAULT_BRANCH": name})) == (None, "none", False, False)
