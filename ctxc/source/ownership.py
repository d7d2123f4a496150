"""Whether a repository belongs to the person who runs ctxc.

Git refuses the repositories of other users, because their configuration can run programs. The hardened environment
runs none, and in doing so bypasses git's check (``--git-dir`` is explicit, ``safe.directory`` is not read); so
the check is made here, with the same rule: the work tree, the ``.git`` entry and the git directory belong to the user,
or the user's own configuration says ``safe.directory``. ctxc never writes that setting.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from ctxc.base.errors import RevisionError
from ctxc.source.gitdir import GitPlace
from ctxc.source.process import find_git, hardened_environment, run_command, user_environment


def check_owner(place: GitPlace, environ: Mapping[str, str]) -> None:
    """Raise RevisionError unless the repository is the user's own or the user's configuration trusts it."""
    stranger = _stranger(place, environ) if hasattr(os, "geteuid") else _stranger_by_git(place, environ)
    if stranger is None or _is_declared_safe(place, environ):
        return
    named = place.work_tree or place.git_dir
    raise RevisionError(
        f"the repository '{named}' belongs to another user ({stranger})",
        help=f"if you trust it: --trust-repository, or `git config --global --add safe.directory '{named}'`",
    )


def own_ids(environ: Mapping[str, str]) -> frozenset[int]:
    """User ids that count as oneself: the effective one, and for root under sudo the one who called it."""
    effective = os.geteuid()
    caller = environ.get("SUDO_UID", "")
    return frozenset({effective, int(caller)} if effective == 0 and caller.isdecimal() else {effective})


def _stranger(place: GitPlace, environ: Mapping[str, str]) -> str | None:
    """Which part of the repository somebody else owns; None where all is one's own."""
    own = own_ids(environ)
    for part in (place.work_tree, place.dot_git, place.git_dir):
        if part is not None and (owner := os.lstat(part).st_uid) not in own:
            return f"'{part.name}' has user id {owner}, you are {os.geteuid()}"
    return None


def _stranger_by_git(place: GitPlace, environ: Mapping[str, str]) -> str | None:
    """The same question put to git, for platforms without user ids: it refuses before it reads a configuration."""
    folder = place.work_tree or place.git_dir
    command = [find_git(environ), "rev-parse", "--absolute-git-dir"]
    found = run_command(command, hardened_environment(environ), folder, name="rev-parse")
    return "git says so" if found.status and "dubious ownership" in found.stderr else None


def _is_declared_safe(place: GitPlace, environ: Mapping[str, str]) -> bool:
    """Whether ``safe.directory`` of the user, the machine or the command's environment names the repository."""
    command = [find_git(environ), "config", "--null", "--type=path", "--get-all", "safe.directory"]
    found = run_command(command, user_environment(environ), place.git_dir.parent, name="config")
    if found.status:
        return False
    folder = place.work_tree or place.git_dir
    safe = False
    for value in found.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1]:
        if not value:
            safe = False  # an empty value takes back what was said before it (git-config(1))
        elif value == "*":
            safe = True
        elif value.endswith("/*"):
            safe = safe or Path(value[:-2]).resolve() in folder.parents
        elif Path(value).is_absolute():
            safe = safe or Path(value).resolve() == folder
    return safe
