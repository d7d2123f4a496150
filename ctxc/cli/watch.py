"""``--watch``: the same command again whenever a file changes. On a terminal only, until it is interrupted."""

from __future__ import annotations

import time
from collections.abc import Callable

from ctxc.base.errors import CtxcError, UsageError
from ctxc.cli.console import report_error
from ctxc.cli.session import Session

SECONDS = 0.3
"""Between two looks at the files."""


def watch_project(session: Session, once: Callable[[Session], int]) -> int:
    """Run ``once`` now and after every change; ends only by an interrupt (status 130)."""
    from ctxc.app.watching import named, stamp

    if not session.console.on_terminal:
        raise UsageError("--watch needs a terminal", help="run the command without it")
    while True:
        session.console.clear()
        session.forget()
        try:
            more = named(session.workspace())
            session.forget()  # what changed since was not looked at yet: the stamp stands before the reading
            seen = stamp(session.workspace(), more)
            once(session)
        except CtxcError as error:
            # What is wrong now may be mended by the next save: a watcher says it and stays.
            report_error(error)
            seen, more = (), ()
        session.console.note("watching; Ctrl-C ends")
        _wait(session, seen, more)


def _wait(session: Session, seen: object, more: tuple[str, ...]) -> None:
    from ctxc.app.watching import stamp

    while True:
        time.sleep(SECONDS)
        try:
            session.forget()
            if stamp(session.workspace(), more) != seen:
                return
        except CtxcError:
            if seen != ():
                return
