"""List what a project holds: templates, fixtures, fragments and the rest.

KIND is one of templates, fixtures, fragments, contracts, toolsets, profiles, policies, providers and tokenizers.
Without it everything that the project itself holds is listed.
"""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from ctxc.app.listing import kinds, listing, project_kinds
from ctxc.app.naming import counted, unloaded
from ctxc.cli import completion
from ctxc.cli.session import FORMAT, session
from ctxc.report._lists import lists_json, lists_text


def run(
    ctx: typer.Context,
    *,
    kind: Annotated[
        list[str] | None,
        typer.Argument(metavar="KIND...", help="What to list.", autocompletion=completion.fixed(*kinds())),
    ] = None,
    format: Annotated[
        Literal["text", "json"], typer.Option("--format", "-f", metavar="text|json", show_default=False, help=FORMAT)
    ] = "text",
) -> int:
    current = session(ctx)
    workspace = current.workspace()
    wanted = kind or [k for k in project_kinds() if listing(workspace, k)] or list(project_kinds())
    groups = {k: listing(workspace, k) for k in wanted}
    errors = unloaded(workspace.project.findings)
    if format == "json":
        current.console.report(lists_json(groups), machine=True)
    else:
        current.console.report(lists_text(groups, current.console.view()))
    if errors:
        current.console.note(f"{counted(errors)} from being loaded: `ctxc compile` shows them")
    workspace.close()
    return 0
