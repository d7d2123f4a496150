"""What every test may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings
from shell import Run, clean_environment, runner_here

ROOT = Path(__file__).resolve().parent.parent

# A test means the same on a desk, in a hook and in CI: what the machine says is taken away before the first one runs.
IN_CI = bool(os.environ.get("CI"))
for _name in os.environ.keys() - clean_environment().keys() - {"CTXC_SHARED", "CTXC_GEMMA3"}:
    del os.environ[_name]


def shared_root() -> Path | None:
    """The folder of shared material: ``CTXC_SHARED``, else ``shared`` beside the checkout; None where absent."""
    named = os.environ.get("CTXC_SHARED")
    place = Path(named) if named else ROOT.parent / "shared"
    return place if place.is_dir() else None


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared material; skips the test where it is absent."""
    place = shared_root()
    if place is None:
        pytest.skip("needs the shared material (CTXC_SHARED or ../shared), which is not here")
    return place


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the checkout."""
    return ROOT


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--update-goldens`` writes what was recorded again; never in CI, where nobody would look at the difference."""
    parser.addoption("--update-goldens", action="store_true", help="write recorded output again")


def pytest_configure(config: pytest.Config) -> None:
    """Refuse to record in CI; look at the same examples in every ordinary run, at fresh ones with ``-m slow``."""
    settings.register_profile("ordinary", derandomize=True, deadline=None)
    settings.register_profile("thorough", deadline=None)
    settings.load_profile("thorough" if "slow" in (config.getoption("-m") or "") else "ordinary")
    if config.getoption("--update-goldens") and IN_CI:
        raise pytest.UsageError("--update-goldens is refused where CI is set: record on your machine and commit")


@pytest.fixture
def update_goldens(request: pytest.FixtureRequest) -> bool:
    """Whether recorded output is to be written again."""
    return bool(request.config.getoption("--update-goldens"))


@pytest.fixture
def run_here(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """``run_here(folder, "compile", CTXC_MODEL="gpt-4o")``: the command inside this process."""
    return runner_here(monkeypatch, capfdbinary)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave ``slow`` tests out unless they are asked for with ``-m slow``."""
    if "slow" in (config.getoption("-m") or ""):
        return
    skip = pytest.mark.skip(reason="slow: run with -m slow")
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(skip)
