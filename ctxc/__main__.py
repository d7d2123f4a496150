"""The entry point: a fast path for ``--version``, and the only place that maps exceptions to exit statuses.

======  ==========================================================================================
status  meaning
======  ==========================================================================================
0       fine
1       findings at or above ``--fail-on``
2       wrong usage, bad configuration, unreadable input, nothing matched
3       a fault inside ctxc
130     interrupted
======  ==========================================================================================
"""

from __future__ import annotations

import sys

OK, FINDINGS, USAGE, FAULT, INTERRUPTED = 0, 1, 2, 3, 130

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line (default: the process's own) and return its exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if given in (["--version"], ["-V"]) and _print_version():
            return OK
        return _run(given)
    except KeyboardInterrupt:
        return INTERRUPTED  # while the modules were still being loaded


def run() -> NoReturn:
    """Run the process's command line and end the process: what ``ctxc`` and ``python -m ctxc`` call.

    The streams are flushed and the caches closed by then. Taking every object apart first would cost a tenth of the
    time, so the process ends at once, unless a profiler or a debugger wants to have the last word.
    """
    import os

    status = main()
    if sys.getprofile() or sys.gettrace() or _is_monitored():
        sys.exit(status)
    os._exit(status)


def _is_monitored() -> bool:
    """Whether a tool watches through ``sys.monitoring``, as cProfile and coverage do from Python 3.12 on (PEP 669)."""
    monitoring = getattr(sys, "monitoring", None)
    return monitoring is not None and any(monitoring.get_tool(number) for number in range(6))


def _print_version() -> bool:
    """Print the version with nothing but this module imported (typer alone costs six times as much).

    False where it could not be printed: the whole command then tries again, and says why.
    """
    from ctxc import __version__

    out = sys.stdout
    try:
        if out is not None:
            out.write(f"ctxc {__version__}\n")
            out.flush()
    except OSError:
        return False
    return True


def _run(arguments: list[str]) -> int:
    import gc

    # What a command makes mostly lives until it ends; looking for garbage again and again finds nothing.
    gc.set_threshold(400_000, 20, 20)
    from ctxc.cli.console import prepare_streams, report_error, settle_streams

    try:
        prepare_streams()
        from ctxc.cli.app import invoke

        return settle_streams(invoke(arguments))
    except KeyboardInterrupt:
        return settle_streams(INTERRUPTED)
    except SystemExit as stop:
        # Typer's completion options end in sys.exit.
        return settle_streams(stop.code if isinstance(stop.code, int) else OK if stop.code is None else USAGE)
    except BaseException as error:
        # BaseException: a panic inside a Rust extension derives from it, and may not end in a traceback either.
        return settle_streams(report_error(error, arguments))


if __name__ == "__main__":
    run()
