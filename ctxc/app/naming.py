"""What to say of a name that means nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctxc.model.finding import Finding


def advice(wrong: str, known: Iterable[str], *more: str, listed: bool = True) -> str:
    """The known name that was probably meant, all that are known (unless not ``listed``), and what else may help."""
    from ctxc.parse.problems import nearest

    names = list(known)
    near = nearest(wrong, names)
    parts = [f"did you mean {near}?"] if near else []
    if listed:
        parts.append(f"known: {', '.join(names)}")
    return "; ".join([*parts, *(m for m in more if m)])


def unloaded(findings: Iterable[Finding]) -> int:
    """How many errors kept files from being loaded; that there are none is no error of a file."""
    return sum(f.severity.label == "error" and f.name != "empty-project" for f in findings)


def counted(errors: int) -> str:
    """``1 error kept files``, ``2 errors kept files``."""
    return f"{errors:,} error{'' if errors == 1 else 's'} kept files"
