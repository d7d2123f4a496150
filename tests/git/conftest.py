"""Fixtures for tests on real repositories."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from repos import Repo

from ctxc.source.git import Repository


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """An empty repository."""
    return Repo(tmp_path / "repo")


class Opener:
    """Opens repositories and closes them when the test ends."""

    def __init__(self) -> None:
        self.opened: list[Repository] = []

    def __call__(self, repo: Repo, **more: str) -> Repository:
        """The repository, with more variables in its environment."""
        found = Repository.discover(repo.path, environ={**repo.environ, **more})
        assert found is not None
        self.opened.append(found)
        return found


@pytest.fixture
def opened() -> Iterator[Opener]:
    """``opened(repo, GIT_DIR=...)`` is a ``Repository``."""
    opener = Opener()
    yield opener
    for repository in opener.opened:
        repository.close()
