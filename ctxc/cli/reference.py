"""The command reference as Markdown, from the commands themselves: ``docs/cli.md``, which a test compares."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ctxc.cli.app import help_record, is_global, root_command

INTRODUCTION = """\
# Command reference

Generated from the commands; `pytest --update-goldens tests/arch/test_docs.py` writes it again.

Exit statuses: 0 fine; 1 findings at or above `--fail-on`; 2 wrong usage, bad configuration, unreadable input, or
nothing matched; 3 a fault inside ctxc; 130 interrupted. The status never depends on `--format`.

Environment: `CTXC_PROJECT`, `CTXC_CACHE_DIR`, `CTXC_NO_CACHE`, `CTXC_COLOR` and `CTXC_NOW` stand for global options;
`CTXC_PROVIDER`, `CTXC_MODEL`, `CTXC_FAIL_ON` and so on for the settings that `ctxc config --origin` lists;
`CTXC_DEBUG=1` shows the traceback of an internal fault. `NO_COLOR`, `FORCE_COLOR` and `TERM=dumb` count as usual.
"""


def reference() -> str:
    """The whole reference, ending with a line feed."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    root = root_command()
    yield INTRODUCTION
    context = root.make_context("ctxc", [], resilient_parsing=True)
    yield "## Global options\n"
    yield "They may stand before or after the command.\n"
    yield from _table(p.get_help_record(context) for p in root.get_params(context) if is_global(p))
    yield from _table(p.get_help_record(context) for p in root.get_params(context) if not is_global(p))
    for name in root.list_commands(context):
        command = root.get_command(context, name)
        assert command is not None
        below = command.make_context(name, [], parent=context, resilient_parsing=True)
        usage = " ".join(command.collect_usage_pieces(below))
        yield f"## ctxc {name}\n"
        yield f"    ctxc {name} {usage}\n"
        yield (command.help or "") + "\n"
        yield from _table(help_record(p, below) for p in command.get_params(below) if not is_global(p))


def _table(records: Any) -> Iterator[str]:
    rows = [(name, text) for name, text in filter(None, records)]
    if not rows:
        return
    yield "| | |\n|---|---|"
    for name, text in rows:
        yield f"| `{_cell(name)}` | {_cell(text)} |"
    yield ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
