"""Find mistakes in the sources while they are being typed.

Judges the whole project, or the files and folders that are named. `-` with --stdin-filename reads one file from the
standard input, in place of the file of that name. Each finding has a code: `ctxc rule CODE` explains it.

The exit status is 1 for a finding at or above --fail-on (default: error), 2 for wrong usage or a broken configuration.
"""

# No ``from __future__ import annotations``, as in diff.py.

import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import typer

from ctxc.app.lint import Linted, LintOptions, lint, new_baseline
from ctxc.base.errors import UnreadableSource, UsageError
from ctxc.cli import completion
from ctxc.cli.console import read_standard_input
from ctxc.cli.outputs import check_format, emit, parse_outputs
from ctxc.cli.session import FORMATS, Session, session
from ctxc.report import render

_TIERS = completion.fixed("default", "strict", "audit")


def run(
    ctx: typer.Context,
    *,
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="PATH...", help="Files or folders; - is standard input.")
    ] = None,
    select: Annotated[
        list[str] | None,
        typer.Option(
            "--select",
            metavar="RULES",
            help="Only these rules: codes, names or beginnings of codes (CTX3).",
            autocompletion=completion.rules,
        ),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option("--ignore", metavar="RULES", help="Not these rules.", autocompletion=completion.rules),
    ] = None,
    tier: Annotated[
        Literal["default", "strict", "audit"] | None,
        typer.Option(
            "--tier",
            metavar="default|strict|audit",
            help="How far to go (default: default).",
            autocompletion=_TIERS,
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
    fix: Annotated[bool, typer.Option("--fix", help="Mend what does not change what a model sees.")] = False,
    unsafe_fixes: Annotated[
        bool, typer.Option("--unsafe-fixes", help="With --fix or --diff: mend other things, too.")
    ] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Print what --fix would change, and change nothing.")] = False,
    staged: Annotated[bool, typer.Option("--staged", help="Judge what is staged in git, not what is on disk.")] = False,
    stdin_filename: Annotated[
        str | None,
        typer.Option("--stdin-filename", metavar="PATH", help="With -: the file that standard input stands for."),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option("--baseline", metavar="FILE", help="Known findings (default: .ctxc/baseline.jsonl, if there)."),
    ] = None,
    no_baseline: Annotated[bool, typer.Option("--no-baseline", help="Show known findings as well.")] = False,
    update_baseline: Annotated[
        bool, typer.Option("--update-baseline", help="Take out of the baseline what is no longer found.")
    ] = False,
    accept_new: Annotated[
        bool, typer.Option("--accept-new", help="With --update-baseline: take in what is found; needs --reason.")
    ] = False,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why new findings are accepted.")] = "",
    plugin: Annotated[
        list[str] | None,
        typer.Option("--plugin", metavar="DIST", help="Also the rules of this installed distribution."),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option("--format", "-f", metavar="FORMAT", help=f"{FORMATS}.", autocompletion=completion.formats),
    ] = None,
    output: Annotated[
        list[str] | None,
        typer.Option("--output", metavar="FORMAT:FILE", help="Also write this; may be given several times."),
    ] = None,
    allow_empty: Annotated[bool, typer.Option("--allow-empty", help="Nothing to judge is fine.")] = False,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Judge again whenever a file changes.")] = False,
) -> int:
    current = session(ctx)
    if diff and fix:
        raise UsageError("--fix and --diff contradict each other", help="--diff shows what --fix would change")
    if unsafe_fixes and not (fix or diff):
        raise UsageError("--unsafe-fixes mends nothing by itself", help="add --fix or --diff")
    if accept_new and not (update_baseline and reason.strip()):
        raise UsageError(
            "--accept-new takes findings into the baseline and needs to know why",
            help='write --update-baseline --accept-new --reason "why they are accepted"',
        )
    if update_baseline and (staged or paths or select or ignore or stdin_filename):
        raise UsageError(
            "the baseline is made from the whole project",
            help="leave out paths, --select, --ignore, --staged and --stdin-filename",
        )
    if update_baseline and current.environment.get("CI"):
        raise UsageError("the baseline is not written where CI is set", help="update it in a checkout and commit it")
    if fix and (staged or "-" in (paths or ())):
        raise UsageError("--fix mends files on disk", help="use --diff to see what would change")
    outputs = parse_outputs(output or [])
    chosen = check_format(format) if format else None
    stdin = _stdin(paths or [], stdin_filename)

    def once(current: Session) -> int:
        def judge() -> Linted:
            current.forget()
            workspace = current.workspace()
            root = workspace.root
            settings = workspace.settings.extra
            where = _at_root(baseline, root) if baseline else str(settings["baseline"])
            if baseline and not no_baseline and not update_baseline and not workspace.tree.exists(where):
                raise UnreadableSource(f"there is no baseline {baseline!r}", help="--update-baseline writes one")
            options = LintOptions(
                select=_words(select),
                ignore=_words(ignore),
                tier=tier or str(settings["tier"]),
                paths=tuple(_at_root(p, root) for p in paths or () if p != "-"),
                plugins=tuple(plugin or ()),
                staged=staged,
                stdin=(_at_root(stdin[0], root), stdin[1]) if stdin is not None else None,
                baseline="" if no_baseline else where,
                allow_empty=allow_empty,
            )
            return lint(workspace, options, now=current.now)

        mended: tuple[str, ...] = ()
        if fix:
            from ctxc.app.lint_fix import mend

            linted, mended = mend(judge, current.workspace().root, unsafe=unsafe_fixes)
        else:
            linted = judge()
        workspace = current.workspace()
        severity = str(fail_on or workspace.settings.extra["fail-on"])
        for note in (*workspace.notes, *linted.notes):
            current.console.note(note, level=1)
        for title in mended:
            current.console.note(f"mended {title}", level=1)
        if mended:
            current.console.note(f"mended {len(mended)} finding{'s' if len(mended) > 1 else ''}")
        if diff:
            from ctxc.app.fixes import unified
            from ctxc.app.lint_fix import changes

            current.console.report(unified(changes(linted, unsafe=unsafe_fixes)))
        else:
            emit(
                current.console,
                lambda name, view: render(name, replace(linted.report, fail_on=severity), view),
                chosen=chosen,
                outputs=outputs,
                source=linted.sources(),
                root=workspace.root,
            )
        if update_baseline:
            named = _at_root(baseline, workspace.root) if baseline else str(workspace.settings.extra["baseline"])
            place = workspace.root / named
            return _update(current, linted, place, accept_new=accept_new, reason=reason)
        return 1 if linted.report.reaches(severity) else 0

    if watch:
        from ctxc.cli.watch import watch_project

        return watch_project(current, once)
    return once(current)


def _update(current: Session, linted: Linted, place: Path, *, accept_new: bool, reason: str) -> int:
    """Write the baseline and say what changed; what was found and not taken in still fails."""
    from ctxc.app.output import write_text

    text, counts = new_baseline(linted, accept_new=accept_new, reason=reason.strip())
    write_text(place, text)
    current.console.note(
        f"the baseline accepts {counts['accepted']} finding{'' if counts['accepted'] == 1 else 's'}: "
        f"{counts['new']} new, {counts['gone']} gone"
    )
    left = 0 if accept_new else len(linted.report.findings) - sum(f.code == "CTX905" for f in linted.report.findings)
    if left:
        current.console.note(f"{left} findings were not taken in; --accept-new --reason TEXT takes them in")
    return 1 if left else 0


def _words(given: list[str] | None) -> tuple[str, ...]:
    return tuple(w.strip() for text in given or () for w in text.split(",") if w.strip())


def _stdin(paths: list[str], name: str | None) -> tuple[str, bytes] | None:
    """What came through the pipe, under the name of the file that it stands for."""
    if "-" not in paths:
        if name:
            raise UsageError("--stdin-filename goes with -", help="write `ctxc lint - --stdin-filename PATH`")
        return None
    if not name:
        raise UsageError("- needs --stdin-filename", help="write `ctxc lint - --stdin-filename PATH`")
    if len(paths) > 1:
        raise UsageError("- stands alone", help="judge the other files in a run of their own")
    return name, read_standard_input()


def _at_root(path: str, root: Path) -> str:
    """A path of the command line, relative to the current folder, as a path of the project."""
    whole = Path(os.path.abspath(path))  # noqa: PTH100  # not resolved: links are followed by the rules of the tree
    for base in (root, root.resolve()):
        if whole == base:
            return ""
        if whole.is_relative_to(base):
            return whole.relative_to(base).as_posix()
    raise UsageError(
        f"{path!r} is not in the project at {str(root)!r}", help="name another project with -C, or a path inside it"
    )
