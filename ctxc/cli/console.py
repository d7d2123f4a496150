"""The only place that prints: the report on stdout, everything else on stderr.

Commands hand over finished text. What goes to the log of a CI system that reads it for commands passes a guard
there; a reader that closes the pipe early ends the output quietly and does not change the exit status.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, TextIO

from ctxc.app.logs import is_read_log
from ctxc.base.errors import CtxcError, UnreadableSource
from ctxc.base.values import dataclass

if TYPE_CHECKING:
    from ctxc.report import View

OK, USAGE, FAULT = 0, 2, 3
MIN_WIDTH = 40
_OPENED: list[str] = []  # how the standard output was opened, before it was set to UTF-8


def prepare_streams() -> None:
    """UTF-8 on both streams with line feeds as they are, whatever the locale; a lone surrogate prints as its escape."""
    _OPENED[:] = [getattr(sys.stdout, "encoding", None) or "utf-8"]
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


MAX_INPUT = 256 << 20
"""Bytes that are taken from the standard input; what never ends has to stop somewhere."""


def read_standard_input() -> bytes:
    """All of the standard input; raises UnreadableSource where there is none, it fails, or it is over the limit."""
    if sys.stdin is None:
        raise UnreadableSource("the standard input is closed", help="name a file, or pipe one in")
    try:
        data = sys.stdin.buffer.read(MAX_INPUT + 1)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UnreadableSource(
            f"cannot read the standard input: {reason}", help="name a file, or pipe one in"
        ) from error
    if len(data) > MAX_INPUT:
        raise UnreadableSource(f"the standard input is larger than {MAX_INPUT >> 20} MiB", help="split it")
    return data


def settle_streams(status: int) -> int:
    """Flush what was printed and return the status; a pipe that was closed meanwhile is no error."""
    for name in ("stdout", "stderr"):
        stream: TextIO | None = getattr(sys, name)
        if stream is None:
            continue
        try:
            stream.flush()
        except ValueError:
            continue  # closed already
        except OSError as error:
            _silence(stream)
            if not _reader_gone(error):
                # A report that was lost (a full disk) must not look like a success.
                _error(f"the output could not be written: {error.strerror}", "", os.environ)
                status = max(status, USAGE)
    return status


def _reader_gone(error: OSError) -> bool:
    """Whether the other end closed the pipe; Windows calls that an invalid argument."""
    return isinstance(error, BrokenPipeError) or (os.name == "nt" and error.errno == errno.EINVAL)


def _silence(stream: TextIO) -> None:
    """Point a broken stream at the null device, so that nothing fails again while the process ends."""
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
    except (OSError, ValueError):
        pass


def wants_color(choice: str, environment: Mapping[str, str], is_terminal: bool) -> bool:
    """Whether to colour: ``--color``, then ``NO_COLOR``, ``FORCE_COLOR``, ``TERM=dumb``, then the terminal itself."""
    if choice in ("always", "never"):
        return choice == "always"
    if environment.get("NO_COLOR"):
        return False
    force = environment.get("FORCE_COLOR") or environment.get("CLICOLOR_FORCE")
    if force:
        return force != "0"
    return is_terminal and environment.get("TERM") != "dumb" and _understands_escapes()


def _understands_escapes() -> bool:
    """Whether the terminal acts on escape sequences; the classic console of Windows has to be asked to first."""
    if os.name != "nt":
        return True
    import ctypes

    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009  # exists on Windows only
    handle, mode = kernel.GetStdHandle(-11), ctypes.c_ulong()
    return bool(kernel.GetConsoleMode(handle, ctypes.byref(mode)) and kernel.SetConsoleMode(handle, mode.value | 4))


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person may be looking at the stream."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


@dataclass(slots=True, kw_only=True)
class Console:
    """Where a command's text goes. ``verbosity``: -2 prints only the exit status, -1 no notes, 1 and 2 more notes."""

    color: str = "auto"
    verbosity: int = 0
    environment: Mapping[str, str]

    @property
    def in_actions(self) -> bool:
        """Whether the output lands in a log of GitHub Actions."""
        return self.environment.get("GITHUB_ACTIONS") == "true"

    @property
    def encoding(self) -> str:
        """The encoding in which the standard output was opened by the environment."""
        return _OPENED[0] if _OPENED else getattr(sys.stdout, "encoding", None) or "utf-8"

    @property
    def on_terminal(self) -> bool:
        """Whether the report goes to a terminal."""
        return is_terminal(sys.stdout)

    def view(self) -> View:
        """How the report may be drawn on stdout."""
        from ctxc.report import View

        color = wants_color(self.color, self.environment, self.on_terminal)
        return View(color=color, width=self._width(), verbosity=self.verbosity)

    def _width(self) -> int | None:
        if not self.on_terminal:
            return None
        import shutil

        return max(MIN_WIDTH, shutil.get_terminal_size().columns)

    def prose(self, text: str, *, code: str = "") -> None:
        """Print a report for people, on a terminal with its long lines folded; ``code`` as in ``wrap``."""
        width = self._width()
        if width is not None:
            from ctxc.report._wrap import wrap

            text = wrap(text, width, code)
        self.report(text)

    def report(self, text: str, *, machine: bool = False, commands: bool = False) -> None:
        """Print a report on stdout. ``machine``: JSON; ``commands``: workflow commands that are meant as such."""
        if self.verbosity <= -2:
            return
        if is_read_log(self.environment) and not commands:
            from ctxc.report._encode import guard_json, guard_log

            text = guard_json(text) if machine else guard_log(text)
        _write(sys.stdout, text)

    def note(self, text: str, *, level: int = 0) -> None:
        """Print a note on stderr, from a verbosity on; ``text`` may hold what users wrote."""
        if self.verbosity >= level:
            _write(sys.stderr, _fold(_safe(text, self.environment)) + "\n")

    def clear(self) -> None:
        """Empty the terminal and start at its top."""
        if self.on_terminal:
            _write(sys.stdout, "\x1b[2J\x1b[3J\x1b[H")


def report_error(error: BaseException, arguments: Sequence[str] = ()) -> int:
    """Print what stopped a command line, and return its exit status."""
    environment = _with_color(arguments, os.environ)
    debug = environment.get("CTXC_DEBUG") == "1"
    if debug and not _is_usage(error):
        import traceback

        text = "".join(traceback.format_exception(error))
        _write(sys.stderr, _safe(text, environment, newlines=True))
    if isinstance(error, CtxcError):
        return _report_own(error, environment)
    if _is_usage(error):
        return _report_usage(error, environment)
    name = type(error).__name__
    return _report_fault(f"{name}: {error}", environment)


def _with_color(arguments: Sequence[str], environment: Mapping[str, str]) -> Mapping[str, str]:
    """The environment in which ``CTXC_COLOR`` says what the command line says, which may be wrong or half read."""
    options = list(arguments)[: list(arguments).index("--") if "--" in arguments else None]
    given = [following for option, following in pairwise(options) if option == "--color"]
    given += [o.partition("=")[2] for o in options if o.startswith("--color=")]
    return {**environment, "CTXC_COLOR": given[-1]} if given else environment


def _report_own(error: CtxcError, environment: Mapping[str, str]) -> int:
    if error.exit_status == FAULT:
        return _report_fault(error.message, environment)
    place = f"{error.location}: " if error.location is not None else ""
    _error(f"{place}{error.message}", error.help, environment)
    return error.exit_status


def _report_fault(message: str, environment: Mapping[str, str]) -> int:
    from ctxc import __version__

    advice = "this is a fault in ctxc, not in your files; please report it with the command line"
    more = "" if environment.get("CTXC_DEBUG") == "1" else " and the output under CTXC_DEBUG=1"
    _error(f"internal fault in ctxc {__version__}: {message}", advice + more, environment)
    return FAULT


def _is_usage(error: BaseException) -> bool:
    """Whether Typer's parser raised it. By name: the class lives in a private module that moved between versions."""
    return any(base.__name__ in ("ClickException", "Abort") for base in type(error).__mro__)


def _report_usage(error: BaseException, environment: Mapping[str, str]) -> int:
    if any(base.__name__ == "NoArgsIsHelpError" for base in type(error).__mro__):
        _write(sys.stderr, str(getattr(error, "message", error)) + "\n")
        return USAGE
    format_message = getattr(error, "format_message", None)
    # Typer lists the values of an argument one a line; an error is one line.
    message = format_message().replace("\n\t", " ") if format_message is not None else "aborted"
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "ctxc"
    _error(message, f"`{path} --help` shows what there is", environment)
    return USAGE


def _error(message: str, advice: str, environment: Mapping[str, str]) -> None:
    color = wants_color(environment.get("CTXC_COLOR", "auto"), environment, is_terminal(sys.stderr))
    label = "\x1b[1;31merror\x1b[0m" if color else "error"
    text = f"{label}: {_safe(message, environment)}\n"
    if advice:
        lines = _safe(advice, environment, newlines=True).split("\n")
        text += "  help: " + "\n        ".join(lines) + "\n"
    _write(sys.stderr, _fold(text))


def _fold(text: str) -> str:
    """Text for stderr: on a terminal with its long lines folded."""
    if not is_terminal(sys.stderr):
        return text
    try:
        width = os.get_terminal_size(sys.stderr.fileno()).columns
    except (OSError, ValueError):
        return text
    from ctxc.report._wrap import wrap

    return wrap(text, max(MIN_WIDTH, width))


def _safe(text: str, environment: Mapping[str, str], *, newlines: bool = False) -> str:
    from ctxc.report._encode import guard_log, visible

    text = visible(text, newlines=newlines)
    return guard_log(text) if is_read_log(environment) else text


def _write(stream: TextIO | None, text: str) -> None:
    if stream is None:
        return
    try:
        stream.write(text)
    except OSError as error:
        _silence(stream)
        # What the stream of errors does not take cannot be told anywhere; the status still says it.
        if stream is not sys.stderr and not _reader_gone(error):
            raise CtxcError(f"the output could not be written: {error.strerror}") from error
