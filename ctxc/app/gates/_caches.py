"""Which caches a gate may believe: none that a change could have brought along."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ctxc.app.config import find_root
from ctxc.app.gates._request import in_ci
from ctxc.app.places import cache_folder


def why_no_cache(start: Path, environment: Mapping[str, str], cache_dir: str | None) -> str:
    """Why the cache that a command would use is not used by a gate; empty where it is.

    A cache says what a file compiles to. One inside of the repository can be committed with the change that it judges,
    and one that a CI system carries from run to run is written by jobs that judged other people's changes.
    """
    folder = cache_folder(environment, cache_dir)
    if folder is None:
        return ""
    root, _ = find_root(start)
    tops = {root.resolve()}
    tops |= {here for here in (root.resolve(), *root.resolve().parents) if (here / ".git").exists()}
    if any(folder.resolve().is_relative_to(top) for top in tops):
        return f"the cache at {folder} lies in the project: a gate does not believe it"
    if in_ci(environment):
        return "caches are not believed where CI is set (--trust-cache)"
    return ""
