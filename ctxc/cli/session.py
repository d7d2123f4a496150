"""What every command starts from: the global options, the console, and the workspace when it is first needed."""

# No ``from __future__ import annotations``: typer would evaluate each of the options four times.

import os
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ctxc.base.errors import UnreadableSource
from ctxc.base.values import dataclass
from ctxc.cli.console import Console

if TYPE_CHECKING:
    from ctxc.app.workspace import Workspace


FORMAT = "Output format (default: text)."
FORMATS = "text (default), concise, github, gitlab, json, jsonl, junit, markdown, sarif"
"""The formats of findings. Written out: looking for them costs a start of compile and lint more than it is worth."""
CONTEXT = "Lines around an edit (default: 2)."


def GLOBALS(
    *,
    project: Annotated[
        str | None,
        typer.Option(
            "--project", "-C", metavar="DIR", help="Folder of the project; other paths are relative to the current one."
        ),
    ] = None,
    cache_dir: Annotated[
        str | None,
        typer.Option("--cache-dir", metavar="DIR", help="Keep caches here instead of the user's cache folder."),
    ] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Neither read nor write a cache.")] = False,
    color: Annotated[
        Literal["auto", "always", "never"] | None,
        typer.Option(
            "--color",
            metavar="auto|always|never",
            help="Colour the output (auto: on a terminal; NO_COLOR and FORCE_COLOR count).",
        ),
    ] = None,
    quiet: Annotated[
        int,
        typer.Option(
            "--quiet", "-q", count=True, show_default=False, help="No notes; twice: no report, only the exit status."
        ),
    ] = 0,
    verbose: Annotated[
        int,
        typer.Option(
            "--verbose", "-v", count=True, show_default=False, help="Say what was done and why; twice: everything."
        ),
    ] = 0,
    now: Annotated[
        str | None,
        typer.Option("--now", metavar="DATE", help="The date by which waivers and suppressions expire (2027-03-31)."),
    ] = None,
) -> None:
    """The options that every command takes; a declaration, never called."""


@dataclass(slots=True, kw_only=True)
class Session:
    """One run of a command. The environment and the current folder are read here and handed down."""

    options: Mapping[str, Any]
    environment: Mapping[str, str]
    console: Console
    _workspace: "Workspace | None" = field(default=None)

    @property
    def start(self) -> Path:
        """The folder from which the project is looked for."""
        named = self.options.get("project") or self.environment.get("CTXC_PROJECT")
        if named:
            return Path(named)
        try:
            return Path.cwd()
        except OSError as error:
            raise UnreadableSource(
                f"the current folder cannot be read: {error.strerror or type(error).__name__}",
                help="go to a folder that exists, or name the project's with -C",
            ) from error

    @property
    def now(self) -> str:
        """The date that ``--now`` or ``CTXC_NOW`` gives, else today in UTC; ``YYYY-MM-DD``."""
        given = self.options.get("now") or self.environment.get("CTXC_NOW")
        if given:
            return _date(given)
        from datetime import UTC, datetime

        return datetime.now(UTC).date().isoformat()

    def workspace(self, **flags: Any) -> "Workspace":
        """The project with its settings and caches; ``flags`` are settings that the command line gave."""
        if self._workspace is None:
            from ctxc.app.workspace import open_workspace

            self._workspace = open_workspace(
                self.start,
                flags={k: v for k, v in flags.items() if v is not None},
                environment=self.environment,
                cache_dir=self.options.get("cache_dir"),
                no_cache=bool(self.options.get("no_cache")),
            )
        return self._workspace

    def forget(self) -> None:
        """Let go of the workspace, so that the next use reads the files again."""
        self._workspace = None


def session(context: typer.Context) -> Session:
    """The session of a command's context; its environment is the process's own."""
    from ctxc.base.errors import UsageError

    options = {k.removeprefix("ctxc."): v for k, v in context.meta.items() if k.startswith("ctxc.")}
    environment = dict(os.environ)
    quiet, verbose = options.get("quiet", 0), options.get("verbose", 0)
    if quiet and verbose:
        raise UsageError("--quiet and --verbose contradict each other", help="give one of them")
    color = options.get("color") or environment.get("CTXC_COLOR") or "auto"
    if color not in ("auto", "always", "never"):
        raise UsageError(f"CTXC_COLOR is {color!r}", help="it may be auto, always or never")
    if options.get("now"):
        _date(options["now"])
    console = Console(color=color, verbosity=verbose - quiet, environment=environment)
    return Session(options=options, environment=environment, console=console)


def _date(text: str) -> str:
    from datetime import date

    from ctxc.base.errors import UsageError

    try:
        return date.fromisoformat(text[:10]).isoformat()
    except ValueError:
        raise UsageError(f"{text!r} is not a date", help="write --now 2027-03-31") from None
