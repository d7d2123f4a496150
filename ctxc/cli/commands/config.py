"""Show the settings that apply, and where each comes from.

Flags win over CTXC_* variables, these over ctxc.yaml or [tool.ctxc] in pyproject.toml, the file over the defaults.
"""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from ctxc.base.errors import UsageError
from ctxc.cli.session import FORMAT, session
from ctxc.report._lists import settings_json, settings_text


def run(
    ctx: typer.Context,
    *,
    origin: Annotated[bool, typer.Option("--origin", help="Print where each value comes from.")] = False,
    clear_cache: Annotated[bool, typer.Option("--clear-cache", help="Empty the cache.")] = False,
    format: Annotated[
        Literal["text", "json"], typer.Option("--format", "-f", metavar="text|json", show_default=False, help=FORMAT)
    ] = "text",
) -> int:
    current = session(ctx)
    workspace = current.workspace()
    if clear_cache:
        if workspace.cache is None:
            raise UsageError("there is no cache to clear", help="leave out --no-cache, or name one with --cache-dir")
        from ctxc.tokens import clear

        workspace.store.close()
        current.console.report(f"{clear(workspace.cache):,} bytes freed in {workspace.cache}\n")
        return 0
    config = workspace.config
    values = [(v.name, v.value, v.origin) for v in config.values]
    if format == "json":
        current.console.report(settings_json(".", config.path, values), machine=True)
    else:
        current.console.report(settings_text(config.path, values, current.console.view(), origins=origin))
    for note in workspace.notes:
        current.console.note(note)
    return 0
