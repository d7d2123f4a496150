"""The report of a release in those formats that say more of it than its findings, one file each.

A module of this package whose name does not begin with an underscore is a format; it defines
``render(release, view) -> str``. In every other format a release is drawn as its findings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxc.base import registry
from ctxc.report import View
from ctxc.report import format_ids as finding_formats
from ctxc.report import render as render_findings

if TYPE_CHECKING:
    from ctxc.model.release import Release


def format_ids() -> tuple[str, ...]:
    """Names of all formats in which a release can be written, sorted."""
    return tuple(sorted({*registry.names(__name__), *finding_formats()}))


def render(format_id: str, release: Release, view: View) -> str:
    """A release in a format; raises KeyError for a format that does not exist."""
    if format_id in registry.names(__name__):
        text: str = registry.load(__name__, format_id).render(release, view)
        return text
    return render_findings(format_id, release.report, view)
