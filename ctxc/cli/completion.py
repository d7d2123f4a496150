"""Names that a shell completes. A project that cannot be loaded completes nothing."""

from __future__ import annotations

from collections.abc import Callable

import typer


def _names(context: typer.Context, kind: str, incomplete: str) -> list[str]:
    try:
        from ctxc.app.listing import names
        from ctxc.cli.session import session

        return [n for n in names(session(context).workspace(), kind) if n.startswith(incomplete)]
    except Exception:
        # A broken project must not print anything into somebody's command line.
        return []


def fixtures(ctx: typer.Context, incomplete: str) -> list[str]:
    """Fixture ids."""
    return _names(ctx, "fixtures", incomplete)


def templates(ctx: typer.Context, incomplete: str) -> list[str]:
    """Template ids."""
    return _names(ctx, "templates", incomplete)


def providers(ctx: typer.Context, incomplete: str) -> list[str]:
    """Provider profile ids."""
    return _names(ctx, "providers", incomplete)


def sections(ctx: typer.Context, incomplete: str) -> list[str]:
    """What can be followed in the fixture that the line names already."""
    try:
        from ctxc.app.api import find_fixture
        from ctxc.app.explain import followable
        from ctxc.cli.session import session

        project = session(ctx).workspace().project
        names = followable(project, find_fixture(project, ctx.params.get("fixture") or ""))
    except Exception:
        return []
    return [n for n in names if n.startswith(incomplete)]


def formats(incomplete: str) -> list[str]:
    """Output formats."""
    from ctxc.report import format_ids

    return [f for f in format_ids() if f.startswith(incomplete)]


def rules(incomplete: str) -> list[str]:
    """Codes and names of rules; of a list with commas, its last one."""
    from ctxc.model.codes import CODES

    before, comma, last = incomplete.rpartition(",")
    names = [*CODES, *(name for name, _ in CODES.values())]
    return [f"{before}{comma}{n}" for n in names if n.startswith(last)]


def gates(incomplete: str) -> list[str]:
    """Gates."""
    from ctxc.app.gates import gate_ids

    return [g for g in gate_ids() if g.startswith(incomplete)]


def fixed(*choices: str) -> Callable[[str], list[str]]:
    """A completer of a closed set."""

    def complete(incomplete: str) -> list[str]:
        return [c for c in choices if c.startswith(incomplete)]

    return complete
