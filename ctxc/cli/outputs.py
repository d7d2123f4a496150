"""``--format`` and ``--output``: one run, several artefacts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ctxc.app.naming import advice
from ctxc.base.errors import UsageError
from ctxc.cli.console import Console
from ctxc.report import View, format_ids

MACHINE = frozenset({"json", "jsonl", "sarif", "junit", "gitlab"})
"""Formats that are data: no guard may change more than their escapes."""


def check_format(name: str, known: Sequence[str] = ()) -> str:
    """The name of an output format (one of ``known``, if given); raises UsageError for one that does not exist."""
    known = known or format_ids()
    if name in known:
        return name
    raise UsageError(f"there is no output format {name!r}", help=advice(name, known))


def parse_outputs(given: list[str], known: Sequence[str] = ()) -> list[tuple[str, Path]]:
    """``FORMAT:FILE`` of each ``--output``; raises UsageError for what is not of this form."""
    found: list[tuple[str, Path]] = []
    for text in given:
        name, colon, file = text.partition(":")
        if not colon or not file:
            raise UsageError(f"--output {text!r} is not FORMAT:FILE", help="write --output sarif:ctxc.sarif")
        if any(Path(file) == path for _, path in found):
            raise UsageError(f"--output names {file} twice", help="give each format a file of its own")
        found.append((check_format(name, known), Path(file)))
    return found


def emit(
    console: Console,
    draw: Callable[[str, View], str],
    *,
    chosen: str | None,
    outputs: list[tuple[str, Path]],
    source: Callable[[str], str | None],
    root: Path,
) -> None:
    """Print the report in the chosen format and write the others; in GitHub Actions text comes with annotations."""
    from dataclasses import replace

    from ctxc.app.output import write_text
    from ctxc.app.places import folder_in_repository

    folder = folder_in_repository(root)
    plain = View(source=source, folder=folder)
    texts: Mapping[str, str] = {name: draw(name, plain) for name, _ in outputs}
    for name, path in outputs:
        write_text(path, texts[name])
    name = chosen or "text"
    text = draw(name, replace(console.view(), source=source, folder=folder))
    if name == "text":
        console.prose(text)
    else:
        console.report(text, machine=name in MACHINE, commands=name == "github")
    if chosen is None and console.in_actions:
        console.report(draw("github", plain), commands=True)
