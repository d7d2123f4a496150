"""Judge a change to context before it ships, by the policies of the project.

Nine steps (schema, budget, forbidden, injection, regression, citations, cost, latency, prefix), then versions,
compatibility, tools, coverage and the policies themselves. Each says what it looked at; one that no policy configures
says so. --format markdown or html is the whole release report.

The base is a revision, or snapshot:FILE for a release bundle; without --against a pull request is compared with its
target, a branch with the commit that it left. Where CI is set the policies, waivers, suppressions, baseline and locks
of the base judge as well: a change cannot loosen what judges it. There no cache is believed.

The exit status is 1 where something is at or above --fail-on (default: error), and 2 where nothing could be judged: no
fixtures, no policies, a file or a base that cannot be read.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ctxc.app.gate import GateRequest, gate_workspace
from ctxc.base.errors import UnreadableSource, UsageError
from ctxc.cli import completion
from ctxc.cli.outputs import check_format, emit, parse_outputs
from ctxc.cli.session import FORMATS, Session, session
from ctxc.report.releases import format_ids, render

if TYPE_CHECKING:
    from ctxc.detect.injection import Payload


def run(
    ctx: typer.Context,
    *,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="GATE",
            help="Only this gate; may be given several times.",
            autocompletion=completion.gates,
        ),
    ] = None,
    against: Annotated[
        str, typer.Option("--against", metavar="REV", help="The base: a revision, or snapshot:FILE for a bundle.")
    ] = "",
    rev: Annotated[str, typer.Option("--rev", metavar="REV", help="Judge this revision, not the work tree.")] = "",
    staged: Annotated[bool, typer.Option("--staged", help="Judge the index: what the next commit holds.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Try the payloads in every fixture.")] = False,
    payloads: Annotated[
        list[str] | None,
        typer.Option("--payloads", metavar="FILE", help="Also these payloads (JSON Lines with id and text)."),
    ] = None,
    policy_source: Annotated[
        Literal["base", "head"] | None,
        typer.Option(
            "--policy-source",
            metavar="base|head",
            help="base: its policies judge as well (the default where CI is set).",
        ),
    ] = None,
    fail_on: Annotated[
        Literal["error", "warning", "info", "never"] | None,
        typer.Option(
            "--fail-on",
            metavar="error|warning|info|never",
            help="Severity from which the exit status is 1 (default: error).",
        ),
    ] = None,
    allow_same: Annotated[bool, typer.Option("--allow-same", help="The base may be the head itself.")] = False,
    update_locks: Annotated[
        bool, typer.Option("--update-locks", help="Write budgets.lock and tools.lock.json instead; tighter only.")
    ] = False,
    accept: Annotated[
        bool, typer.Option("--accept", help="With --update-locks: take in more tokens and changed tools as well.")
    ] = False,
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            "-f",
            metavar="FORMAT",
            help=f"{FORMATS}, html.",
            autocompletion=completion.fixed(*format_ids()),
        ),
    ] = None,
    output: Annotated[
        list[str] | None,
        typer.Option("--output", metavar="FORMAT:FILE", help="Also write this; may be given several times."),
    ] = None,
    trust_cache: Annotated[
        bool, typer.Option("--trust-cache", help="Believe the user's cache also where CI is set.")
    ] = False,
    trust: Annotated[
        bool, typer.Option("--trust-repository", help="Read a repository that belongs to somebody else.")
    ] = False,
) -> int:
    current = session(ctx)
    if accept and not update_locks:
        raise UsageError("--accept goes with --update-locks")
    if update_locks:
        given = (only, against, rev, staged, everything, payloads, policy_source, fail_on, allow_same, format, output,
                 trust_cache, trust)  # fmt: skip
        if any(given):
            raise UsageError(
                "--update-locks judges nothing: it goes with --accept alone",
                help="write both locks from the work tree, then judge in a run of its own",
            )
        return _update_locks(current, accept=accept)
    outputs = parse_outputs(output or [], format_ids())
    chosen = check_format(format, format_ids()) if format else None
    current = _judging(current, trust_cache=trust_cache)
    workspace = current.workspace()
    request = GateRequest(
        against=against,
        head=rev,
        staged=staged,
        only=tuple(g.strip() for text in only or () for g in text.split(",") if g.strip()),
        everything=everything,
        payloads=_payloads(payloads or []),
        policy_source=policy_source or "",
        fail_on=fail_on or "",
        allow_same=allow_same,
        trust_repository=trust,
    )
    judged = gate_workspace(workspace, request, now=current.now)
    for note in (*workspace.notes, *judged.notes):
        current.console.note(note, level=1)
    for warning in judged.warnings:
        current.console.note(warning)
    emit(
        current.console,
        lambda name, view: render(name, judged.release, view),
        chosen=chosen,
        outputs=outputs,
        source=judged.sources(),
        root=workspace.root,
    )
    return 1 if judged.report.reaches(judged.report.fail_on) else 0


def _judging(current: Session, *, trust_cache: bool) -> Session:
    """The session without a cache that a change could have brought along, and with a clock that it did not set."""
    from ctxc.app.gates._caches import why_no_cache
    from ctxc.app.gates._request import in_ci

    if in_ci(current.environment) and (current.options.get("now") or current.environment.get("CTXC_NOW")):
        raise UsageError(
            "the date is not given where CI is set: a waiver ends on the day on which it ends",
            help="leave out --now and CTXC_NOW",
        )
    named = current.options.get("cache_dir")
    reason = why_no_cache(current.start, current.environment, named)
    if not reason or (trust_cache and "lies in the project" not in reason):
        return current
    current.console.note(reason, level=1)
    return replace(current, options={**current.options, "no_cache": True})


def _payloads(files: list[str]) -> tuple[Payload, ...]:
    if not files:
        return ()
    from ctxc.detect.injection import parse_payloads

    found: list[Payload] = []
    for name in files:
        try:
            found += parse_payloads(Path(name).read_text(encoding="utf-8"))
        except OSError as error:
            raise UnreadableSource(f"cannot read {name!r}: {error.strerror}", help="name a file of payloads") from error
        except ValueError as error:
            raise UnreadableSource(
                f"{name!r} holds no payloads: {error}", help="write JSON Lines with id and text"
            ) from error
    return tuple(found)


def _update_locks(current: Session, *, accept: bool) -> int:
    """Write the locks and say what changed; status 1 where something was refused."""
    from ctxc.app.locks import update_locks
    from ctxc.report._tally import plural

    refused = 0
    for update in update_locks(current.workspace(), accept=accept, now=current.now):
        noun = "budget" if update.path.startswith("budgets") else "tool"
        told = ", ".join(
            f"{len(names):,} {word}"
            for names, word in (
                (update.added, "new"),
                (update.tightened, "lower"),
                (update.loosened, "accepted"),
                (update.removed, "gone"),
            )
            if names
        )
        current.console.report(f"{update.path}: {plural(update.entries, noun)} ({told or 'as they were'})\n")
        for name in update.refused:
            what = "takes more than its lock" if noun == "budget" else "is not the tool that was pinned"
            current.console.note(f"{name} {what}: --accept takes it in")
        refused += len(update.refused)
    return 1 if refused else 0
