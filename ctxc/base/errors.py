"""The exceptions that end a command. Findings are data and never raised; these are exit status 2 (or 1, or 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctxc.base.spans import Location


class CtxcError(Exception):
    """What stops a command before it can report: wrong usage, unreadable input, a base that is not there.

    ``message`` says what is wrong, ``help`` how to mend it, ``location`` where it stands, if anywhere.
    """

    exit_status = 2

    def __init__(self, message: str, *, help: str = "", location: Location | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.help = help
        self.location = location


class UsageError(CtxcError):
    """The command line asks for something that makes no sense."""


class ConfigError(CtxcError):
    """The project's own configuration cannot be used."""


class NothingMatched(CtxcError):
    """A selection matched nothing: reporting success would be a green tick for nothing."""


class InvalidSource(CtxcError):
    """What was asked for is there and could not be loaded: the message is the finding that kept it from being."""

    exit_status = 1


class UnreadableSource(CtxcError):
    """A file that was asked for cannot be read: missing, not a regular file, too large, outside the tree."""


class RevisionError(CtxcError):
    """A revision was asked for and cannot be read."""


class MissingTokenizer(CtxcError):
    """A vocabulary that exact counts need is not installed or does not match its digest."""


class InternalFault(CtxcError):
    """A promise inside ctxc was broken; the user did nothing wrong."""

    exit_status = 3
