"""A small project on disk: what ``ctxc init`` writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxc.app.init import write_starter


@pytest.fixture
def starter(tmp_path: Path) -> Path:
    """The root of a fresh starter project, with no git around it."""
    root = tmp_path / "project"
    write_starter(root)
    return root
