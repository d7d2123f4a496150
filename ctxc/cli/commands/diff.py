"""Show what a model will see differently between two revisions.

BASE is a revision (anything that `git rev-parse` takes) or snapshot:FILE; HEAD is the work tree unless a revision is
named, or --staged for what the next commit would hold. Without BASE a pull request is compared with its target, a
branch with the commit that it left, and the default branch with its last commit.

Both sides are compiled by this ctxc, as far as the changed files can reach; the other fixtures are unchanged by
construction, and --all compiles them as well. Sections are matched by id, tools by name. In the text [-removed-] and
{+added+} words stand where they are in the source.

The exit status is 0, also where something differs; with --exit-code it is 1 then, and it is 1 where a source of head
is broken or a fixture does not compile there. 2: a side that cannot be read, or a base that is the head itself.
"""

# No ``from __future__ import annotations``: typer would evaluate each of these many options four times, which is 3% of
# the time of a diff that is known already.

from typing import Annotated

import typer

from ctxc.app.diff import Drawing, draw_diff
from ctxc.app.diff_sides import DiffRequest
from ctxc.base.errors import UsageError
from ctxc.cli import completion
from ctxc.cli.session import CONTEXT, FORMAT, session
from ctxc.model.facets import FACETS

FORMATS = ("text", "json", "markdown", "html")


def run(
    ctx: typer.Context,
    *,
    base: Annotated[str | None, typer.Argument(metavar="[BASE]", help="A revision, or snapshot:FILE.")] = None,
    head: Annotated[str | None, typer.Argument(metavar="[HEAD]", help="A revision (default: the work tree).")] = None,
    staged: Annotated[bool, typer.Option("--staged", help="Head is the index: what the next commit holds.")] = False,
    rev: Annotated[str | None, typer.Option("--rev", metavar="REV", help="Head, as an option.")] = None,
    against: Annotated[str | None, typer.Option("--against", metavar="REV", help="BASE, as an option.")] = None,
    allow_same: Annotated[bool, typer.Option("--allow-same", help="BASE may be the head itself.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Compile every fixture on both sides.")] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="FACET",
            help=f"Only this: {', '.join(FACETS)}.",
            autocompletion=completion.fixed(*FACETS),
        ),
    ] = None,
    fixture: Annotated[
        list[str] | None,
        typer.Option(
            "--fixture", metavar="ID", help="Only fixtures of this id or glob.", autocompletion=completion.fixtures
        ),
    ] = None,
    template: Annotated[
        list[str] | None,
        typer.Option(
            "--template", metavar="ID", help="Only fixtures of this template.", autocompletion=completion.templates
        ),
    ] = None,
    context: Annotated[
        int, typer.Option("--context", "-U", metavar="N", min=0, max=100, show_default=False, help=CONTEXT)
    ] = 2,
    stat: Annotated[bool, typer.Option("--stat", help="One line for each change, no texts.")] = False,
    provider: Annotated[
        str,
        typer.Option(
            "--provider", metavar="ID", help="Compile head for this one.", autocompletion=completion.providers
        ),
    ] = "",
    model: Annotated[str, typer.Option("--model", metavar="NAME", help="Compile head for this one.")] = "",
    against_provider: Annotated[
        str,
        typer.Option(
            "--against-provider", metavar="ID", help="Compile base for this one.", autocompletion=completion.providers
        ),
    ] = "",
    against_model: Annotated[
        str, typer.Option("--against-model", metavar="NAME", help="Compile base for this one.")
    ] = "",
    format: Annotated[
        str,
        typer.Option(
            "--format",
            "-f",
            metavar="|".join(FORMATS),
            show_default=False,
            help=FORMAT,
            autocompletion=completion.fixed(*FORMATS),
        ),
    ] = "text",
    output: Annotated[
        list[str] | None,
        typer.Option("--output", metavar="FORMAT:FILE", help="Also write this; may be given several times."),
    ] = None,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit with 1 where something differs.")] = False,
    trust: Annotated[
        bool, typer.Option("--trust-repository", help="Read a repository that belongs to somebody else.")
    ] = False,
) -> int:
    current = session(ctx)
    outputs = []
    if output or format not in FORMATS:
        from ctxc.cli.outputs import check_format, parse_outputs

        check_format(format, FORMATS)
        outputs = parse_outputs(output or [], FORMATS)
    facets = _facets(only or [])
    if (model or provider) and not (against_model or against_provider) and not _one(base, against, "BASE"):
        raise UsageError("one model is no comparison", help="name the other: --against-model, or a BASE revision")
    workspace = current.workspace()
    console = current.console
    view = console.view()
    shown = Drawing(
        format=format, color=view.color, width=view.width, verbosity=view.verbosity, stat=stat, facets=facets
    )
    request = DiffRequest(
        base=_one(base, against, "BASE"),
        head=_one(head, rev, "HEAD"),
        staged=staged,
        allow_same=allow_same,
        provider=provider,
        model=model,
        against_provider=against_provider,
        against_model=against_model,
        fixtures=tuple(fixture or ()),
        templates=tuple(template or ()),
        context=context,
        whole=everything,
        trust_repository=trust,
    )
    drawings = [Drawing(format=name, stat=stat, facets=facets) for name, _ in outputs]
    drawn = draw_diff(workspace, request, [shown, *drawings])
    for note in (*workspace.notes, *drawn.notes):
        console.note(note, level=1)
    if outputs:
        from ctxc.app.output import write_text

        for (_, path), text in zip(outputs, drawn.texts[1:], strict=True):
            write_text(path, text)
    console.report(drawn.texts[0], machine=format == "json")
    return 1 if drawn.broken or (exit_code and drawn.differs) else 0


def _one(argument: str | None, option: str | None, what: str) -> str:
    if argument and option:
        raise UsageError(f"{what} is given twice: {argument!r} and {option!r}", help="leave out one of them")
    return argument or option or ""


def _facets(given: list[str]) -> tuple[str, ...]:
    found = tuple(part for text in given for part in text.split(",") if part)
    for name in found:
        if name not in FACETS:
            from ctxc.app.naming import advice

            raise UsageError(f"there is no facet {name!r}", help=advice(name, FACETS))
    return found
