"""Keep golden snapshots of compiled fixtures in the tree and compare with them; keep releases and go back to them.

ACTION is one of: save (write what has no snapshot yet), check (compare; exit status 1 where something differs, is
missing or is left over), review (show each difference and ask), accept (write all that differ, remove what is left
over). They lie in tests/snapshots, one JSON file a fixture, with the rendered texts; sensitive ones are masked. None of
these is written where CI is set. FIXTURE is an id or a glob of ids; without one the whole project is meant.

bundle FILE writes a lock of every version and hash that ships together (default: ctxc.bundle.json); it is the base for
`ctxc gate --against snapshot:FILE`. restore FILE goes back to one: templates, fragments, policies, contracts, tools and
fixtures as they were, from the repository or from a bundle that was written --with-content.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from ctxc.app import snapshots
from ctxc.app.bundle import DEFAULT
from ctxc.app.selection import Selection
from ctxc.base.errors import NothingMatched, UsageError
from ctxc.cli import completion
from ctxc.cli.console import Console
from ctxc.cli.session import CONTEXT, Session, session
from ctxc.report._encode import visible
from ctxc.report._tally import plural
from ctxc.report.diffs import DiffView, render


def run(
    ctx: typer.Context,
    *,
    action: Annotated[
        Literal["save", "check", "review", "accept", "bundle", "restore"],
        typer.Argument(metavar="ACTION", help="What to do."),
    ],
    fixtures: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FIXTURE...", help="Ids or globs of ids; a FILE for a bundle.", autocompletion=completion.fixtures
        ),
    ] = None,
    directory: Annotated[
        str | None, typer.Option("--dir", metavar="DIR", help=f"Where they lie (default: {snapshots.FOLDER}).")
    ] = None,
    context: Annotated[
        int, typer.Option("--context", "-U", metavar="N", min=0, max=100, show_default=False, help=CONTEXT)
    ] = 2,
    format: Annotated[
        Literal["text", "json", "markdown", "html"],
        typer.Option(
            "--format",
            "-f",
            metavar="text|json|markdown|html",
            show_default=False,
            help="check: output format (default: text).",
        ),
    ] = "text",
    with_content: Annotated[
        bool, typer.Option("--with-content", help="bundle: also the files themselves, as they are.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="restore: only say what would be done.")] = False,
    force: Annotated[bool, typer.Option("--force", help="restore: overwrite also what git does not have.")] = False,
) -> int:
    current = session(ctx)
    if with_content and action != "bundle":
        raise UsageError("--with-content goes with bundle")
    if (dry_run or force) and action != "restore":
        raise UsageError("--dry-run and --force go with restore")
    if action == "bundle":
        return _bundle(current, _file(fixtures or [], DEFAULT), with_content=with_content)
    if action == "restore":
        return _restore(current, _file(fixtures or [], ""), dry_run=dry_run, force=force)
    if action != "check":
        snapshots.refuse_in_ci(current.environment)
    if action == "review" and not current.console.on_terminal:
        raise UsageError("review needs a terminal", help="use `ctxc snapshot check` and `ctxc snapshot accept`")
    workspace = current.workspace()
    folder = Path(directory) if directory else workspace.root / snapshots.FOLDER
    name = directory or snapshots.FOLDER
    checked = snapshots.check(workspace, folder, Selection(fixtures=tuple(fixtures or ())), name=name, context=context)
    match action:
        case "save":
            return _save(current, folder, checked)
        case "accept":
            return _accept(current, folder, checked)
        case "review":
            return _review(current, folder, checked)
        case _:
            return _check(current.console, name, checked, format)


def _file(given: list[str], default: str) -> Path:
    if len(given) > 1 or not (given or default):
        raise UsageError("one FILE is meant", help="write `ctxc snapshot restore FILE`")
    return Path(given[0] if given else default)


def _bundle(current: Session, path: Path, *, with_content: bool) -> int:
    """Write a bundle, and say where one that holds hashes only cannot be gone back to yet."""
    from ctxc.app.bundle import bundle_text, make_bundle
    from ctxc.app.output import write_text

    bundle, missing = make_bundle(current.workspace(), with_content=with_content)
    write_text(path, bundle_text(bundle))
    at = f" at {bundle.commit[:12]}" if bundle.commit else ""
    current.console.report(
        f"{bundle.id}: {plural(len(bundle.objects), 'object')}, {plural(len(bundle.prefixes), 'prefix')}, "
        f"{plural(len(bundle.files), 'file')}{at}, written to {path}\n"
    )
    if missing and not with_content:
        more = f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""
        current.console.note(
            f"git does not have {visible(missing[0])}{more}: commit first, or add --with-content, to go back later"
        )
    return 0


def _restore(current: Session, path: Path, *, dry_run: bool, force: bool) -> int:
    """Go back to a bundle and hold what came out against it; status 1 where it is not what the bundle says."""
    from ctxc.app.bundle import read_bundle
    from ctxc.app.restore import compare, restore

    bundle = read_bundle(path, str(path))
    done = restore(current.workspace(), bundle, name=str(path), force=force, write=not dry_run)
    for word, paths in (("write", done.written), ("remove", done.removed)):
        for name in paths:
            current.console.report(f"{word} {visible(name)}\n")
    for name in done.left:
        current.console.note(f"{visible(name)} is not as it was: set the table [tool.ctxc] in it by hand")
    if dry_run:
        current.console.report(f"{visible(bundle.id)}: nothing was written\n")
        return 0
    current.forget()
    untrue = compare(current.workspace(), bundle)
    if untrue:
        current.console.report(f"not {visible(bundle.id)}: {visible('; '.join(untrue))}\n")
        current.console.note(f"the bundle was written by ctxc {visible(bundle.version)}")
        return 1
    current.console.report(
        f"{visible(bundle.id)}: {plural(len(done.written), 'file')} written, {len(done.removed):,} removed; "
        f"{plural(len(bundle.fixtures), 'fixture')} compile to what they did\n"
    )
    return 0


def _save(current: Session, folder: Path, checked: snapshots.Checked) -> int:
    written = snapshots.write(folder, checked.texts, checked.missing, current.environment)
    current.console.report(f"{plural(len(written), 'snapshot')} written, {len(checked.same):,} as they were\n")
    for name in checked.differ:
        current.console.note(f"{name} differs from its snapshot: `ctxc snapshot review`, or `accept`")
    for name in checked.orphans:
        current.console.note(f"{name}: its fixture is gone: `ctxc snapshot accept` removes the snapshot")
    return 0


def _accept(current: Session, folder: Path, checked: snapshots.Checked) -> int:
    wanted = sorted((*checked.differ, *checked.missing))
    written = snapshots.write(folder, checked.texts, wanted, current.environment)
    removed = snapshots.remove(folder, checked.orphans, current.environment)
    current.console.report(
        f"{plural(len(written), 'snapshot')} written, {len(removed):,} removed, {len(checked.same):,} as they were\n"
    )
    return 0


def _check(console: Console, folder: str, checked: snapshots.Checked, format: str) -> int:
    if not checked.same and not checked.differ:
        raise NothingMatched(
            f"there is no snapshot in {folder}: nothing was compared",
            help="`ctxc snapshot save` writes them",
        )
    view = DiffView(view=console.view())
    if checked.differ or format != "text":
        console.report(render(format, checked.change, view), machine=format == "json")
    for name in checked.missing:
        console.note(f"{name} has no snapshot: `ctxc snapshot save`")
    for name in checked.orphans:
        console.note(f"{name}: its fixture is gone: `ctxc snapshot accept` removes the snapshot")
    if format == "text" and not checked.differ:
        console.report(f"{plural(len(checked.same), 'snapshot')} the same\n")
    return 0 if checked.is_fine else 1


def _asked() -> str:
    """What to do with a difference: a, s or q; anything else is asked again."""
    while True:
        answer = typer.prompt("accept, skip or quit? [a/s/q]", default="s", show_default=False).strip().lower()
        if answer in ("a", "accept", "s", "skip", "q", "quit"):
            return str(answer[0])


def _review(current: Session, folder: Path, checked: snapshots.Checked) -> int:
    """Show each difference and ask what to do with it; status 1 where something is left."""
    console, left = current.console, 0
    for number, name in enumerate(checked.differ, 1):
        change = snapshots.of_fixture(checked.change, name)
        console.report(render("text", change, DiffView(view=console.view())) + "\n")
        console.note(f"{number} of {len(checked.differ)}: {name}")
        answer = _asked()
        if answer == "q":
            left += len(checked.differ) - number + 1
            break
        if answer == "a":
            snapshots.write(folder, checked.texts, [name], current.environment)
        else:
            left += 1
    if checked.missing:
        console.note(f"{plural(len(checked.missing), 'fixture')} without a snapshot: `ctxc snapshot save`")
    console.report(f"{plural(left, 'difference')} left\n")
    return 1 if left else 0
