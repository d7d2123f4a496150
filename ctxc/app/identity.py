"""What of ctxc itself a stored result depends on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
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
    return (*versions, sha256("\n".join(sorted(_state(str(package)))).encode("utf-8", "surrogateescape")).hexdigest())


def _state(folder: str) -> Iterator[str]:
    """Path, size and time of every file below a folder that ctxc reads."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith((".py", ".yaml", ".json", ".bin")):
                found = entry.stat()
                yield f"{entry.path}:{found.st_size}:{found.st_mtime_ns}"
            elif entry.name != "__pycache__" and entry.is_dir(follow_symlinks=False):
                yield from _state(entry.path)
