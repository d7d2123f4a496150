"""Check the installation: vocabularies, cache, git, Python, terminal; each with its remedy.

The exit status is 1 where something is broken; what is merely missing is a warning.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Literal

import typer

from ctxc.app.doctor import checks
from ctxc.cli.session import FORMAT, session
from ctxc.report._lists import doctor_json, doctor_text


def run(
    ctx: typer.Context,
    *,
    format: Annotated[
        Literal["text", "json"], typer.Option("--format", "-f", metavar="text|json", show_default=False, help=FORMAT)
    ] = "text",
) -> int:
    current = session(ctx)
    console = current.console
    view = console.view()
    where = f"{view.width} columns" if view.width is not None else "not a terminal"
    described = f"{where}, {'colours' if view.color else 'no colours'}, UTF-8"
    found = checks(current.workspace(), encoding=console.encoding, terminal=described)
    values = [asdict(c) for c in found]
    if format == "json":
        console.report(doctor_json(values), machine=True)
    else:
        console.prose(doctor_text(values, view))
    return 1 if any(c.status == "error" for c in found) else 0
