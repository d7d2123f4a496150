"""Count the tokens of a request, of JSON that could be sent, or of plain text.

FILE is a provider request of any shape (raw, or a line of a log with what was recorded), messages alone, an answer to
MCP's tools/list (each tool's size as the provider receives it, fields that it never sees kept apart, names made legal),
other JSON, or plain text; - or nothing reads the standard input. Prints the count with its method and error band, and
where the tokens are, largest first. Nothing is sent anywhere.
"""

from __future__ import annotations

import sys
from typing import Annotated, Literal

import typer

from ctxc.app.tokens import count_input
from ctxc.cli import completion
from ctxc.cli.console import is_terminal, read_standard_input
from ctxc.cli.session import FORMAT, session
from ctxc.report._tokens import tokens_json, tokens_text


def run(
    ctx: typer.Context,
    *,
    file: Annotated[str, typer.Argument(metavar="[FILE]", help="What to count; - is the standard input.")] = "-",
    provider: Annotated[
        str,
        typer.Option(
            "--provider",
            metavar="ID",
            help="Count for this provider (default: as the request or the project says).",
            autocompletion=completion.providers,
        ),
    ] = "",
    model: Annotated[str, typer.Option("--model", metavar="NAME", help="Count for this model.")] = "",
    tokenizer: Annotated[
        str, typer.Option("--tokenizer", metavar="ID", help="Count with this tokenizer instead.")
    ] = "",
    kind: Annotated[
        Literal["auto", "text"],
        typer.Option("--kind", metavar="auto|text", help="text: plain text, whatever it looks like."),
    ] = "auto",
    format: Annotated[
        Literal["text", "json"], typer.Option("--format", "-f", metavar="text|json", show_default=False, help=FORMAT)
    ] = "text",
) -> int:
    current = session(ctx)
    stdin = None
    if file == "-":
        if is_terminal(sys.stdin):
            current.console.note("reading from the terminal; end with Ctrl-D")
        stdin = read_standard_input()
    workspace = current.workspace()
    counted = count_input(workspace, file, provider=provider, model=model, tokenizer=tokenizer, kind=kind, stdin=stdin)
    for note in workspace.notes:
        current.console.note(note, level=1)
    if format == "json":
        current.console.report(tokens_json(counted), machine=True)
    else:
        view = current.console.view()
        current.console.prose(tokens_text(counted, view, every=current.console.verbosity > 0))
    return 0
