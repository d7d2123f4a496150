"""Simulate the provider's prompt cache over fixtures or a log of requests.

Shows for each call which tokens would be read from the cache, written into it and paid in full, why not more was read,
what it costs, and where breakpoints pay: every placement that the provider's rules allow is tried.

FIXTURE is an id or a glob of ids, of fixtures or of conversations; without any the whole project is played: each
conversation turn by turn, the other fixtures of a template as traffic with their weights. --requests takes requests
that were sent, one JSON object a line: the request itself, or {"request": ..., "usage": ..., "at": ..., "url": ...}
with what was recorded of it, which is shown beside. Nothing is sent anywhere. The exit status is 1 where the provider
would refuse a call for its cache marks.
"""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from ctxc.app.cache import assess_fixtures, assess_log
from ctxc.app.output import write_text
from ctxc.app.selection import Selection
from ctxc.base.errors import UsageError
from ctxc.cli import completion
from ctxc.cli.console import read_standard_input
from ctxc.cli.outputs import parse_outputs
from ctxc.cli.session import FORMAT, session

_FORMATS = ("text", "json", "markdown", "html")


def run(
    ctx: typer.Context,
    *,
    fixtures: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FIXTURE...", help="Ids or globs, of fixtures or conversations.", autocompletion=completion.fixtures
        ),
    ] = None,
    requests: Annotated[
        str | None,
        typer.Option(
            "--requests", metavar="FILE", help="A log of raw requests, one JSON object a line; - reads stdin."
        ),
    ] = None,
    template: Annotated[
        list[str] | None,
        typer.Option(
            "--template", metavar="ID", help="Only fixtures of this template.", autocompletion=completion.templates
        ),
    ] = None,
    provider: Annotated[
        str,
        typer.Option(
            "--provider",
            metavar="ID",
            help="Whose cache (default: as the project or the log says).",
            autocompletion=completion.providers,
        ),
    ] = "",
    model: Annotated[str, typer.Option("--model", metavar="NAME", help="Which model.")] = "",
    tokenizer: Annotated[
        str, typer.Option("--tokenizer", metavar="ID", help="Count with this tokenizer instead.")
    ] = "",
    start: Annotated[
        Literal["auto", "cold", "warm"],
        typer.Option(
            "--start",
            metavar="auto|cold|warm",
            help="What the cache holds before the first call (auto: as its recorded usage shows).",
        ),
    ] = "auto",
    format: Annotated[
        Literal["text", "json", "markdown", "html"],
        typer.Option("--format", "-f", metavar="text|json|markdown|html", show_default=False, help=FORMAT),
    ] = "text",
    output: Annotated[
        list[str] | None,
        typer.Option("--output", metavar="FORMAT:FILE", help="Also write this; may be given several times."),
    ] = None,
    allow_empty: Annotated[bool, typer.Option("--allow-empty", help="Nothing to play is fine.")] = False,
) -> int:
    from ctxc.report._cache import draw_cache

    current = session(ctx)
    if requests is not None and (fixtures or template):
        raise UsageError("--requests and fixtures exclude each other", help="give one of them")
    targets = parse_outputs(output or [], _FORMATS)
    workspace = current.workspace()
    if requests is not None:
        stdin = read_standard_input() if requests == "-" else None
        found = assess_log(
            workspace, requests, provider=provider, model=model, tokenizer=tokenizer, start=start, stdin=stdin
        )
    else:
        selection = Selection(fixtures=tuple(fixtures or ()), templates=tuple(template or ()), allow_empty=allow_empty)
        found = assess_fixtures(workspace, selection, provider=provider, model=model, tokenizer=tokenizer, start=start)
    for note in workspace.notes:
        current.console.note(note, level=1)
    for name, path in targets:
        from ctxc.report import View

        write_text(path, draw_cache(name, found, View()))
    text = draw_cache(format, found, current.console.view())
    if format == "text":
        current.console.prose(text)
    else:
        current.console.report(text, machine=format == "json")
    return 1 if any(call.problems and call.reason == "refused" for a in found for call in a.calls) else 0
