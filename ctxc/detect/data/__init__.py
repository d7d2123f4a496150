"""The data files of the detectors, read as text."""

from __future__ import annotations

from pathlib import Path


def read(name: str) -> str:
    """The text of one data file, by its file name."""
    return Path(__file__).with_name(name).read_text(encoding="utf-8")
