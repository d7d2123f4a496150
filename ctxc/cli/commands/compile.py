"""Compile fixtures into provider requests that explain themselves.

Prints one row a fixture: how the compile ended, tokens used of those available (~ where the count is an estimate),
sections kept, cut and dropped, and the tokens of the stable prefix that a provider can cache.

Without arguments the whole project is compiled. FIXTURE is an id or a glob of ids. The exit status is 1 for a source
that is invalid, an outcome that a fixture does not expect, and an expectation that does not hold; 2 where nothing
matches.
"""

# No ``from __future__ import annotations``, as in diff.py.

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import typer

from ctxc.app.compiling import CompileOptions, compile_fixtures, failing
from ctxc.app.output import encoded, file_name, write_all
from ctxc.app.selection import Selection
from ctxc.base.errors import UsageError
from ctxc.base.escaping import inert_json
from ctxc.cli import completion
from ctxc.cli.console import Console
from ctxc.cli.outputs import check_format, emit, parse_outputs
from ctxc.cli.session import FORMATS, Session, session
from ctxc.cli.watch import watch_project
from ctxc.model.report import CompileRun
from ctxc.report import View, render_run


def run(
    ctx: typer.Context,
    *,
    fixtures: Annotated[
        list[str] | None,
        typer.Argument(metavar="FIXTURE...", help="Ids or globs of ids.", autocompletion=completion.fixtures),
    ] = None,
    fixture: Annotated[
        list[str] | None,
        typer.Option("--fixture", metavar="ID", help="The same, as an option.", autocompletion=completion.fixtures),
    ] = None,
    template: Annotated[
        list[str] | None,
        typer.Option(
            "--template", metavar="ID", help="Only fixtures of this template.", autocompletion=completion.templates
        ),
    ] = None,
    provider: Annotated[
        str, typer.Option("--provider", metavar="ID", help="Compile for this one.", autocompletion=completion.providers)
    ] = "",
    model: Annotated[str, typer.Option("--model", metavar="NAME", help="Compile for this one.")] = "",
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            "-f",
            metavar="FORMAT",
            help=f"{FORMATS}.",
            autocompletion=completion.formats,
        ),
    ] = None,
    output: Annotated[
        list[str] | None,
        typer.Option("--output", metavar="FORMAT:FILE", help="Also write this; may be given several times."),
    ] = None,
    directory: Annotated[
        str | None,
        typer.Option(
            "-o",
            metavar="DIR",
            help="Write one JSON file a fixture: its package, or with --request that, if it has one.",
        ),
    ] = None,
    request: Annotated[
        bool, typer.Option("--request", help="Print only the provider requests, ready to send, one a line.")
    ] = False,
    with_content: Annotated[
        bool, typer.Option("--with-content", help="Add the texts of the sections, masked where sensitive.")
    ] = False,
    fail_on: Annotated[
        Literal["error", "warning", "info", "never"] | None,
        typer.Option(
            "--fail-on",
            metavar="error|warning|info|never",
            help="Severity from which the exit status is 1 (default: error).",
        ),
    ] = None,
    allow_empty: Annotated[bool, typer.Option("--allow-empty", help="Nothing to compile is fine.")] = False,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Compile again whenever a file changes.")] = False,
) -> int:
    current = session(ctx)
    if request and (format or output):
        raise UsageError("--request prints requests and nothing else", help="leave out --format and --output")
    outputs = parse_outputs(output or [])
    chosen = check_format(format) if format else None
    selection = Selection(
        fixtures=(*(fixtures or ()), *(fixture or ())), templates=tuple(template or ()), allow_empty=allow_empty
    )
    options = CompileOptions(
        provider=provider,
        model=model,
        with_content=with_content,
        with_packages=request
        or directory is not None
        or any(name in ("json", "jsonl") for name in (chosen, *(name for name, _ in outputs))),
    )

    def once(current: Session) -> int:
        workspace = current.workspace()
        outcome = compile_fixtures(workspace, selection, options)
        for note in (*workspace.notes, *outcome.notes):
            current.console.note(note, level=1)
        severity = str(fail_on or workspace.settings.extra["fail-on"])
        judged = replace(outcome.run, report=replace(outcome.run.report, fail_on=severity))
        if directory is not None:
            _write(outcome.run, Path(directory), request=request)
        if request:
            _print_requests(outcome.run, current.console, quietly=directory is not None)
        else:
            emit(
                current.console,
                lambda name, view: render_run(name, judged, view),
                chosen=chosen,
                outputs=outputs,
                source=workspace.sources(),
                root=workspace.root,
            )
        return 1 if failing(outcome.run, severity) else 0

    return watch_project(current, once) if watch else once(current)


def _write(run: CompileRun, directory: Path, *, request: bool) -> None:
    files: dict[Path, bytes] = {}
    refused: list[Path] = []
    for compiled in run.compiled:
        path = directory / f"{file_name(compiled.row.fixture_id)}.json"
        text = compiled.request() if request else compiled.package()
        if text is None:
            refused.append(path)
        else:
            files[path] = encoded(text + "\n")
    # Nobody shall send the request that a fixture had before it was refused.
    write_all(files, gone=refused)


def _print_requests(run: CompileRun, console: Console, *, quietly: bool) -> None:
    """The requests on stdout; what kept one from being made on stderr."""
    texts = [compiled.request() for compiled in run.compiled]
    if not quietly:
        console.report("".join(inert_json(text) + "\n" for text in texts if text is not None), machine=True)
    for compiled, text in zip(run.compiled, texts, strict=True):
        if text is None:
            console.note(f"{compiled.row.fixture_id}: {compiled.row.outcome}, no request")
    for line in render_run("concise", replace(run, compiled=()), View()).splitlines():
        console.note(line)
