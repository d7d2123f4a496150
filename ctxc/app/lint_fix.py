"""Mending: fixes are written, and what is left is judged again, because one mend may make another possible."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ctxc.app.fixes import Change, plan
from ctxc.app.lint import Linted
from ctxc.app.output import write_text
from ctxc.base.errors import CtxcError

if TYPE_CHECKING:
    from pathlib import Path

    from ctxc.source.tree import Tree

ROUNDS = 5
"""Most rounds of mending; a fix that makes its own finding again would go on for ever."""


def changes(linted: Linted, *, unsafe: bool) -> tuple[Change, ...]:
    """What the fixes of a report would change; suppressed findings are left alone."""
    wanted = {e.location.path for f in linted.report.findings if f.fix for e in f.fix.edits}
    sources = {path: text for path in sorted(wanted) if (text := _text(linted.tree, path)) is not None}
    return plan(linted.report.findings, sources, unsafe=unsafe)


def mend(judge: Callable[[], Linted], root: Path, *, unsafe: bool) -> tuple[Linted, tuple[str, ...]]:
    """Judge and mend until nothing more can be mended; the last report, and what was done in words."""
    done: list[str] = []
    linted = judge()
    for _ in range(ROUNDS):
        found = changes(linted, unsafe=unsafe)
        if not found:
            break
        for change in found:
            write_text(root / change.path, change.after)
            done.extend(change.titles)
        linted = judge()
    return linted, tuple(done)


def _text(tree: Tree, path: str) -> str | None:
    """The text of a file as it stands; None where it is no text, so that it is not written back differently."""
    try:
        return tree.read(path, limit=16 << 20).decode("utf-8")
    except (CtxcError, UnicodeDecodeError):
        return None
