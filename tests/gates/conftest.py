"""What the tests of gates share."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "git"))  # repos.py: real repositories

from gate_world import GateWorld


@pytest.fixture
def world(tmp_path: Path) -> GateWorld:
    """A project in which no gate finds anything, committed."""
    return GateWorld(tmp_path / "project")
