"""Where things lie outside a project: the user's cache folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

NAME = "ctxc"


def cache_folder(environment: Mapping[str, str], named: str | None = None) -> Path | None:
    """The folder for caches; None where the user has no home at all.

    ``named`` (``--cache-dir``) wins over ``CTXC_CACHE_DIR``, then the platform's own place: ``XDG_CACHE_HOME`` or
    ``~/.cache``, ``~/Library/Caches``, ``%LOCALAPPDATA%``.
    """
    given = named or environment.get("CTXC_CACHE_DIR")
    if given:
        return Path(given).expanduser().absolute()
    if os.name == "nt":
        base = environment.get("LOCALAPPDATA")
        return Path(base) / NAME / "cache" if base else None
    xdg = environment.get("XDG_CACHE_HOME")
    if xdg and Path(xdg).is_absolute():  # the specification tells readers to ignore a relative one
        return Path(xdg) / NAME
    home = environment.get("HOME")
    if not home:
        return None
    return Path(home) / ("Library/Caches" if sys.platform == "darwin" else ".cache") / NAME


def folder_in_repository(root: Path) -> str:
    """Where a project lies in its git repository: ``services/desk/``; empty at its top, and where there is none."""
    here = root.resolve()
    for top in (here, *here.parents):
        if os.path.exists(top / ".git"):  # noqa: PTH110 - a folder that may not be searched ends no command
            return f"{here.relative_to(top).as_posix()}/" if here != top else ""
    return ""
