"""For a terminal: findings, gates, what ships and what was waived, and the tally below."""

from __future__ import annotations

from ctxc.model.release import Release
from ctxc.report import View
from ctxc.report._encode import visible
from ctxc.report._paint import Style, paint
from ctxc.report.releases import _words
from ctxc.report.text import drawn


def render(release: Release, view: View) -> str:
    """The report with what a release adds to it between the gates and the last line."""
    lines = [paint(visible(_words.judged(release)), "dim", view)]
    lines.append(f"ships {visible(_words.ships(release))}")
    change = _words.changed(release)
    if change:
        lines.append(visible(change))
    for waiver in release.waivers:
        style: Style = "dim" if waiver.state in ("used", "not_judged") else "warn"
        lines.append(paint(f"waiver {visible(_words.waived(waiver))}", style, view))
    return drawn(release.report, view, "\n".join(lines) + "\n")
