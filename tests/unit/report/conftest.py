"""Reports to print."""

from __future__ import annotations

import pytest
from report_samples import make_report, sample_run

from ctxc.model.report import CompileRun, Report


@pytest.fixture
def plain() -> Report:
    """Two findings, a suppressed one, three gates."""
    return make_report()


@pytest.fixture
def run() -> CompileRun:
    """Three fixtures: one fine, one estimated, one that is not as expected."""
    return sample_run()
