"""Explain a rule: what it finds, why it matters, a bad and a good example, how to mend it.

RULE is a code (CTX201) or a name (token-ceiling). Without one, or with --all, every rule is listed; with --all and
--format markdown the whole reference is printed.
"""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from ctxc.cli import completion
from ctxc.cli.session import FORMAT, session


def run(
    ctx: typer.Context,
    *,
    rules: Annotated[
        list[str] | None,
        typer.Argument(metavar="RULE...", help="Codes or names.", autocompletion=completion.rules),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every rule.")] = False,
    format: Annotated[
        Literal["text", "markdown", "json"],
        typer.Option("--format", "-f", metavar="text|markdown|json", show_default=False, help=FORMAT),
    ] = "text",
) -> int:
    from ctxc.app.rule_reference import describe, find, listing, reference, rule_rows
    from ctxc.base.errors import UsageError

    if rules and everything:
        raise UsageError("--all and a rule contradict each other", help="leave out one of them")
    console = session(ctx).console
    if rules:
        text = describe(find(rules), format)
        if format == "text":
            console.prose(text, code="    ")
        else:
            console.report(text, machine=format == "json")
    elif everything and format == "markdown":
        console.report(reference())
    elif format == "text":
        from ctxc.report._lists import rules_text

        console.report(rules_text(rule_rows(), console.view()))
    else:
        console.report(listing(format), machine=format == "json")
    return 0
