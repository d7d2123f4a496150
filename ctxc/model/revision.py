"""What one side of a comparison is called. Apart, because a command knows its sides before it compares anything."""

from __future__ import annotations

from ctxc.base.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """One side. ``kind``: commit, index, worktree or snapshot; ``rev`` is what the user or a default called it.

    ``how`` says why a base is that one where nobody named it. ``provider`` and ``model``: only where the side was
    compiled for another than the project says. ``errors``: findings that kept files from being loaded.
    """

    rev: str
    kind: str
    commit: str = ""
    label: str = ""
    how: str = ""
    provider: str = ""
    model: str = ""
    errors: int = 0
