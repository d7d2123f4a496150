"""What a watcher compares: sizes and times of the project's files. Only to notice a change, never to trust one."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctxc.app.workspace import Workspace

_SKIPPED = frozenset({".git", ".venv", "node_modules", "__pycache__", ".ctxc"})


def named(workspace: Workspace) -> tuple[str, ...]:
    """Files that definitions name; they may lie outside of the folders."""
    project = workspace.project
    sources = {s.source for versions in project.templates.values() for t in versions for s in t.sections}
    texts = {f.text_path for versions in project.fragments.values() for f in versions}
    lists = {t.mcp for versions in project.toolsets.values() for t in versions}
    return tuple(sorted({*sources, *texts, *lists} - {""}))


def stamp(workspace: Workspace, more: Iterable[str] = ()) -> tuple[tuple[str, int, int], ...]:
    """Path, size and time of modification of every file that may matter, ``more`` among them, sorted."""
    settings = workspace.settings
    folders = {*settings.templates, *settings.fragments, *settings.policies, *settings.fixtures}
    found = [_one(workspace.root / name) for name in ("ctxc.yaml", "pyproject.toml", *more)]
    for folder in sorted(folders):
        for here, below, files in os.walk(workspace.root / folder):
            below[:] = [b for b in below if b not in _SKIPPED]
            found += [_one(Path(here) / file) for file in files]
    return tuple(sorted(found))


def _one(path: Path) -> tuple[str, int, int]:
    try:
        status = path.stat()
    except OSError:
        return (str(path), -1, -1)
    return (str(path), status.st_size, status.st_mtime_ns)
