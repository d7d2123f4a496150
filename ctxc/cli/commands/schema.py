"""Print the JSON Schema of a file kind or of an output format.

Without KIND the names are listed.
"""

from __future__ import annotations

from typing import Annotated

import typer

from ctxc.app.schemas import kinds, schema_text
from ctxc.cli.session import session


def _complete(incomplete: str) -> list[str]:
    return [k for k in kinds() if k.startswith(incomplete)]


def run(
    ctx: typer.Context,
    *,
    kind: Annotated[
        str | None, typer.Argument(metavar="[KIND]", help="template, fixture, compile ...", autocompletion=_complete)
    ] = None,
) -> int:
    text = schema_text(kind) if kind else "".join(k + "\n" for k in kinds())
    session(ctx).console.report(text, machine=kind is not None)
    return 0
