"""Whether this installation can do its work, each thing with its remedy."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ctxc.base.errors import CtxcError
from ctxc.base.values import dataclass
from ctxc.tokens import extras

if TYPE_CHECKING:
    from ctxc.app.workspace import Workspace

EXTRAS = (
    *extras.EXTRAS,
    extras.Extra(module="jinja2", name="chat-template", purpose="requests through a model's own chat template"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at; ``status`` is ok, warning or error."""

    id: str
    status: str
    message: str
    remedy: str = ""


def checks(workspace: Workspace, *, encoding: str, terminal: str) -> tuple[Check, ...]:
    """All checks, in the order in which they are printed; ``encoding`` and ``terminal`` are those of the output."""
    return (
        _python(),
        _configuration(workspace),
        *_vocabularies(),
        *_tokenizers(workspace),
        _yaml(),
        _patterns(),
        _cache(workspace),
        *_git(workspace),
        _terminal(encoding, terminal),
        *_extras(),
    )


def _python() -> Check:
    from ctxc import __version__

    version = ".".join(map(str, sys.version_info[:3]))
    return Check(id="python", status="ok", message=f"ctxc {__version__} on Python {version}")


def _configuration(workspace: Workspace) -> Check:
    what = workspace.config.path or "no configuration file"
    return Check(id="project", status="ok", message=f"{workspace.root} ({what})")


def _vocabularies() -> Iterator[Check]:
    from ctxc.tokens.vocabulary import VOCABULARIES, load_ranks

    for name, vocabulary in sorted(VOCABULARIES.items()):
        try:
            ranks = load_ranks(vocabulary)
        except CtxcError as error:
            yield Check(id="vocabulary", status="error", message=error.message, remedy=error.help)
            continue
        text = f"{name}: {len(ranks):,} tokens, sha256 as published"
        yield Check(id="vocabulary", status="ok", message=text)


def _tokenizers(workspace: Workspace) -> Iterator[Check]:
    """Those that the project asks for beside what ships: an extra's, and vocabulary files."""
    from ctxc import tokens
    from ctxc.app.tokenizers import known_tokenizers

    try:
        known = known_tokenizers(workspace.project, workspace.store)
    except CtxcError as error:
        yield Check(id="tokenizer", status="error", message=error.message, remedy=error.help)
        return
    for t in known:
        if not t.is_used or (tokens.ships(t.id) and not t.path):
            continue
        name = f"{t.id} ({t.path})" if t.path else t.id
        if t.needs:
            text = f"{name} is asked for and needs {t.needs}" if not t.path else t.needs
            yield Check(id="tokenizer", status="error", message=text, remedy=t.remedy)
            continue
        profiles = ", ".join((*t.counts_for, *t.estimates_for))
        yield Check(id="tokenizer", status="ok", message=f"{name}, {t.digest[:16]}, counts for {profiles}")


def _yaml() -> Check:
    import yaml

    if yaml.__with_libyaml__:
        return Check(id="yaml", status="ok", message=f"PyYAML {yaml.__version__} with libyaml")
    return Check(
        id="yaml",
        status="warning",
        message=f"PyYAML {yaml.__version__} without libyaml: large projects load several times slower",
        remedy="install a wheel of PyYAML that has it: pip install --force-reinstall --only-binary :all: pyyaml",
    )


def _patterns() -> Check:
    try:
        import re2

        re2.compile("a")
    except ImportError as error:
        return Check(
            id="patterns",
            status="error",
            message=f"google-re2 cannot be imported: {error}",
            remedy="pip install --force-reinstall google-re2",
        )
    return Check(id="patterns", status="ok", message="google-re2 matches in linear time")


def _cache(workspace: Workspace) -> Check:
    folder = workspace.cache
    if folder is None:
        return Check(
            id="cache",
            status="warning",
            message="no cache: every run counts and compiles everything again",
            remedy="leave out --no-cache, or name a folder with --cache-dir",
        )
    size = sum(p.stat().st_size for p in folder.glob("*") if p.is_file()) if folder.is_dir() else 0
    place = folder if folder.exists() else next((p for p in folder.parents if p.exists()), folder)
    if not place.is_dir():
        return Check(
            id="cache",
            status="warning",
            message=f"{place} is a file, and the cache is a folder: every run works everything out again",
            remedy="move the file away, or name a folder with --cache-dir or CTXC_CACHE_DIR",
        )
    if not os.access(place, os.W_OK):
        return Check(
            id="cache",
            status="warning",
            message=f"{folder} cannot be written: what is not in it is worked out in every run",
            remedy="change its permissions, or name another folder with --cache-dir or CTXC_CACHE_DIR",
        )
    return Check(id="cache", status="ok", message=f"{folder} ({size:,} bytes)")


def _git(workspace: Workspace) -> Iterator[Check]:
    from ctxc.source.git import Repository
    from ctxc.source.process import find_git, hardened_environment, run_command

    try:
        command = find_git(workspace.environment)
        environment = hardened_environment(workspace.environment)
        version = run_command([command, "--version"], environment, Path(command).parent, name="git")
    except CtxcError as error:
        yield Check(id="git", status="warning", message=error.message, remedy=error.help)
        return
    yield Check(id="git", status="ok", message=version.text.strip())
    try:
        repository = Repository.discover(workspace.root, environ=workspace.environment)
    except CtxcError as error:
        yield Check(id="repository", status="warning", message=error.message, remedy=error.help)
        return
    if repository is None:
        yield Check(
            id="repository",
            status="warning",
            message="the project is not inside a git repository: diff and gate have nothing to compare with",
            remedy="git init",
        )
        return
    with repository:
        if repository.is_shallow():
            yield Check(
                id="repository",
                status="warning",
                message="the clone is shallow: the base of a change may be missing",
                remedy="fetch it: `fetch-depth: 0` for actions/checkout, or `git fetch --unshallow`",
            )
        else:
            yield Check(id="repository", status="ok", message="readable, with its history")


def _terminal(encoding: str, terminal: str) -> Check:
    if encoding.lower().replace("-", "") not in ("utf8", "utf8sig"):
        return Check(
            id="terminal",
            status="warning",
            message=f"the output was opened as {encoding}; ctxc writes UTF-8 all the same",
            remedy="set PYTHONUTF8=1, or a UTF-8 locale such as LANG=C.UTF-8",
        )
    return Check(id="terminal", status="ok", message=terminal)


def _extras() -> Iterator[Check]:
    for extra in EXTRAS:
        if extra.version:
            text = f"{extra.module} {extra.version}: {extra.purpose}"
            yield Check(id="extra", status="ok", message=text)
        else:
            text = f"{extra.module} is not installed: {extra.purpose}"
            yield Check(id="extra", status="ok", message=text, remedy=f"to have it: {extra.remedy}")
