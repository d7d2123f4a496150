"""One JSON document, ``ctxc.report/1`` with ``release``. Canonical, one line."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from ctxc.model.release import Release
from ctxc.report import View
from ctxc.report._json import dump
from ctxc.report.json import report_value


def render(release: Release, view: View) -> str:
    """The report, and under ``release`` everything that the release report tells."""
    return dump({**report_value(release.report), "release": release_value(release)}) + "\n"


def release_value(release: Release) -> dict[str, Any]:
    """A release as plain values, without the report."""
    return {f.name: _plain(getattr(release, f.name)) for f in fields(release) if f.name != "report"}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(v) for v in value]
    if hasattr(value, "__dataclass_fields__"):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    return value
