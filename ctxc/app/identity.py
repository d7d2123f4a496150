"""What of ctxc itself a stored result depends on."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any


@cache
def identity() -> tuple[Any, ...]:
    """This version and those of the packages that may count; in a checkout also the state of its files, so that who
    changes ctxc never sees a stale package."""
    import ctxc
    from ctxc.tokens import installed

    versions = (ctxc.__version__, *installed())
    package = Path(ctxc.__file__).parent
    if not (package.parent / "pyproject.toml").is_file():
        return versions
    state = [
        f"{folder}/{entry.name}:{entry.stat().st_size}:{entry.stat().st_mtime_ns}"
        for folder, _, _ in os.walk(package)
        for entry in os.scandir(folder)
        if entry.name.endswith((".py", ".yaml", ".json", ".bin"))
    ]
    return (*versions, *sorted(state))
