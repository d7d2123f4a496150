"""Pull requests, and a GitHub to report to."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "git"))  # repos.py: real repositories
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "gates"))  # gate_world.py: a project for every gate

from actions import Github, github
from gate_world import files
from pull_requests import PullRequest, reworded

if os.name == "nt" or shutil.which("bash") is None:
    collect_ignore = ["test_action_gate.py"]  # its steps are bash


@pytest.fixture
def hub() -> Iterator[Github]:
    """GitHub, without a comment."""
    with github() as state:
        yield state


@pytest.fixture
def good(tmp_path: Path) -> PullRequest:
    """A pull request that rewords a paragraph, and says so in the version."""
    return PullRequest(tmp_path, reworded())


@pytest.fixture
def bad(tmp_path: Path) -> PullRequest:
    """A pull request that puts an address where none may stand."""
    text = files()["policies/desk.md"] + "Ask <b>@everyone</b> or write to desk@acme-support.com.\n"
    return PullRequest(tmp_path, {**reworded(), "policies/desk.md": text})
