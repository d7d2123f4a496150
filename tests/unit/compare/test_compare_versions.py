"""Bumps: how far a version went up, and whether that is as far as it has to be."""

from __future__ import annotations

import pytest

from ctxc.compare.bumps import bump_of, suffices


@pytest.mark.parametrize(
    ("base", "head", "expected"),
    [
        ("1", "1", "none"), ("1", "v1", "none"), ("1", "2", "major"), ("v3", "v12", "major"), ("12", "11", "down"),
        ("1.4.0", "1.4.1", "patch"), ("1.4.9", "1.5.0", "minor"), ("1.9.9", "2.0.0", "major"), ("1.10.0", "1.9.0", "down"),
        ("1.9.0", "1.10.0", "minor"), ("2", "2.0.0", "other"), ("", "1", "other"), ("1.0.0-rc1", "1.0.1", "patch"),
        ("2026-11", "2026-12", "other"),
    ],
)  # fmt: skip
def test_how_far_a_version_went_up(base: str, head: str, expected: str) -> None:
    assert bump_of(base, head) == expected


@pytest.mark.parametrize(
    ("bump", "needed", "head", "expected"),
    [
        ("none", "none", "1", True), ("none", "patch", "1", False), ("major", "major", "2", True),
        ("minor", "major", "1.1.0", False), ("major", "patch", "2.0.0", True), ("patch", "minor", "1.0.1", False),
        ("down", "patch", "1", False), ("other", "major", "2026-12", True), ("minor", "minor", "1.1.0", True),
    ],
)  # fmt: skip
def test_whether_a_bump_suffices(bump: str, needed: str, head: str, expected: bool) -> None:
    assert suffices(bump, needed, head) is expected
