"""Explain a compiled fixture: where its tokens go, or why the model sees a section or does not.

Without SECTION: the token tree of the whole request, largest first, and what was dropped. With SECTION (a section id,
the id of a template's section, a fragment, an evidence id): its trail through all stages, in which of the four states
it stopped (discoverable, selected, loaded, authorised), and what would bring it in. With --cache: what the provider's
prompt cache makes of it after the earlier turns of its conversation (or the other fixtures of its template), and the
reason for each loss in the provider's own words.
"""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from ctxc.app.explain import explain_fixture
from ctxc.base.errors import UsageError
from ctxc.cli import completion
from ctxc.cli.session import FORMAT, Session, session
from ctxc.report import View, render
from ctxc.report._explain import explain_json, explain_text


def run(
    ctx: typer.Context,
    *,
    fixture: Annotated[str, typer.Argument(metavar="FIXTURE", help="Its id.", autocompletion=completion.fixtures)],
    section: Annotated[
        str | None, typer.Argument(metavar="[SECTION]", help="What to follow.", autocompletion=completion.sections)
    ] = None,
    provider: Annotated[
        str, typer.Option("--provider", metavar="ID", help="Compile for this one.", autocompletion=completion.providers)
    ] = "",
    model: Annotated[str, typer.Option("--model", metavar="NAME", help="Compile for this one.")] = "",
    cache: Annotated[bool, typer.Option("--cache", help="What a prompt cache reads of it, and why not more.")] = False,
    format: Annotated[
        Literal["text", "json"], typer.Option("--format", "-f", metavar="text|json", show_default=False, help=FORMAT)
    ] = "text",
) -> int:
    current = session(ctx)
    workspace = current.workspace()
    if cache:
        return _cache(current, fixture, section, provider, model, format)
    explanation, report = explain_fixture(workspace, fixture, section or "", provider=provider, model=model)
    if format == "json":
        current.console.report(explain_json(explanation), machine=True)
    else:
        current.console.prose(explain_text(explanation, current.console.view()))
    for line in render("concise", report, View()).splitlines():
        current.console.note(line)
    workspace.close()
    return 1 if explanation.outcome == "invalid" else 0


def _cache(current: Session, fixture: str, section: str | None, provider: str, model: str, format: str) -> int:
    from ctxc.app.cache import explain_cache
    from ctxc.report._cache_json import cache_json
    from ctxc.report._cache_text import explain_cache_text

    if section is not None:
        raise UsageError("--cache explains a whole request", help="leave out SECTION")
    found = explain_cache(current.workspace(), fixture, provider=provider, model=model)
    if format == "json":
        current.console.report(cache_json([found]), machine=True)
    else:
        current.console.prose(explain_cache_text(found, current.console.view()))
    return 0
