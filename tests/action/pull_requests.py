"""A pull request in a real repository, checked out as GitHub's runner does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from actions import Github, Job
from gate_world import files
from repos import Repo


class PullRequest:
    """``main`` with the project, a branch with ``changes``, and the merge commit that GitHub makes of the two."""

    def __init__(self, folder: Path, changes: Mapping[str, str]) -> None:
        self.folder = folder
        self.origin = Repo(folder / "origin")
        self.base = self.origin.commit("base", {**files(), ".gitignore": "reports/\n"})
        self.origin.git("checkout", "-q", "-b", "feature")
        self.head = self.origin.commit("change", changes)
        self.origin.git("checkout", "-q", "--detach", "main")
        self.merge = self.origin.merge("feature", f"Merge {self.head} into {self.base}")
        self.origin.git("update-ref", "refs/pull/7/merge", self.merge)
        self.origin.git("checkout", "-q", "main")

    def job(self, hub: Github, *, depth: int = 2, fork: bool = False, event: str = "pull_request") -> Job:
        """A job on the merge commit, with as much of the history as ``actions/checkout`` fetches for that depth."""
        place = self.folder / f"checkout-{depth}"
        if not place.exists():
            made = Repo(place)
            made.git("remote", "add", "origin", self.origin.path.as_uri())
            made.git(
                "-c", "protocol.file.allow=always", "fetch", "-q", "--no-tags", f"--depth={depth}", "origin",
                "+refs/pull/7/merge:refs/remotes/pull/7/merge",
            )  # fmt: skip
            made.git("checkout", "-q", "--detach", "refs/remotes/pull/7/merge")
        job = Job(place, self.folder / "runner", GITHUB_API_URL=hub.url)
        head = "eve/desk" if fork else "ada/desk"
        value: dict[str, Any] = {
            "pull_request": {
                "number": 7,
                "head": {"repo": {"full_name": head}},
                "base": {"repo": {"full_name": "ada/desk"}},
            }
        }
        job.event(event, value, GITHUB_REF="refs/pull/7/merge", GITHUB_SHA=self.merge, GITHUB_BASE_REF="main")
        return job


def reworded() -> dict[str, str]:
    """The rules in other words, with the versions that this takes."""
    start = files()
    return {
        "policies/desk.md": start["policies/desk.md"].replace(
            "Say so where it does not tell.", "Say where it is silent."
        ),
        "templates/desk.yaml": start["templates/desk.yaml"].replace("version: 1.0.0", "version: 1.1.0"),
        "templates/front.yaml": start["templates/front.yaml"].replace("version: 1\n", "version: 2\n"),
    }
