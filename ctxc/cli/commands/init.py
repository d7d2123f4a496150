"""Write a small working project that compile, lint and gate pass.

Only what is missing is written; a file that is there is left as it is. The YAML files name their JSON Schemas, so that
an editor completes and checks them while they are typed.
"""

from __future__ import annotations

from typing import Annotated

import typer

from ctxc.app.init import write_starter
from ctxc.cli.session import session


def run(
    ctx: typer.Context,
    *,
    directory: Annotated[
        str | None, typer.Argument(metavar="[DIR]", help="Folder of the project (default: the current one).")
    ] = None,
) -> int:
    current = session(ctx)
    folder = current.start / directory if directory else current.start
    lines = []
    done = write_starter(folder)
    for written in done:
        kept = "is there" if written.same else "is there, with other content: left alone"
        state = "written" if written.fresh else kept
        lines.append(f"{written.path}: {state}\n")
    current.console.report("".join(lines))
    fresh = sum(w.fresh for w in done)
    where = f"cd {directory} && " if directory else ""
    current.console.note(f"{fresh} files written; next: {where}ctxc compile" if fresh else "nothing to write")
    return 0
