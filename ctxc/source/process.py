"""Running git on a repository that nobody vouches for.

Every command of git that ctxc uses only reads: rev-parse, symbolic-ref, cat-file, ls-files, merge-base, config. None of
them runs a filter, a hook, a textconv, a pager or an external diff, and the environment below takes away what is left:
no file system monitor, no replaced objects, no transport, no configuration of the user or the machine, no prompt, no
lock. Verified by tests against a repository whose configuration tries all of it.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from ctxc.base.errors import RevisionError
from ctxc.base.values import dataclass

TIMEOUT_SECONDS = 120.0  # of one command; listing a repository of a million files takes a few seconds
MAX_OUTPUT_BYTES = 256 << 20  # of one command
_MAX_ERROR_BYTES = 1 << 16
_PIPE_BYTES = 1 << 18

# safe.bareRepository needs git 2.38, GIT_NO_LAZY_FETCH 2.39.4 or 2.44; older versions ignore them, and a lazy fetch
# then fails because no protocol is allowed.
_SETTINGS = (
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    f"core.excludesFile={os.devnull}",
    f"core.attributesFile={os.devnull}",
    "core.untrackedCache=false",
    "core.quotePath=false",
    "core.warnAmbiguousRefs=true",
    "gc.auto=0",
    "protocol.allow=never",
    "safe.bareRepository=explicit",
)
_SYSTEM_NAMES = ("SYSTEMROOT", "SystemRoot", "WINDIR")  # Windows starts no process without them
_HOME_NAMES = ("HOME", "XDG_CONFIG_HOME", "USERPROFILE", "HOMEDRIVE", "HOMEPATH")


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What a command left: its status, stdout, and the text of stderr."""

    status: int
    stdout: bytes
    stderr: str

    @property
    def text(self) -> str:
        """Stdout as text without its last line end; bytes that are not UTF-8 are kept as surrogates."""
        return self.stdout.decode("utf-8", "surrogateescape").rstrip("\n")

    @property
    def complaint(self) -> str:
        """The first line that git wrote to stderr, without its prefix."""
        for line in self.stderr.splitlines():
            text = line.partition(": ")[2] if line.startswith(("fatal: ", "error: ")) else line
            if text and not line.startswith("warning: "):
                return text
        return f"git ended with status {self.status}"


def find_git(environ: Mapping[str, str]) -> str:
    """The git of ``PATH``. Relative folders on it are skipped: they would be folders of the project.

    Raises RevisionError where there is none.
    """
    names = ("git.exe",) if os.name == "nt" else ("git",)
    for folder in environ.get("PATH", os.defpath).split(os.pathsep):
        place = Path(folder)
        if folder and place.is_absolute():
            for name in names:
                if os.access(place / name, os.X_OK) and (place / name).is_file():
                    return str(place / name)
    raise RevisionError(
        "git is not installed, or not on PATH", help="install git; without it only the work tree can be read"
    )


def hardened_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of git: nothing else is inherited."""
    return {
        "PATH": environ.get("PATH", os.defpath),
        **{name: environ[name] for name in _SYSTEM_NAMES if name in environ},
        "HOME": os.devnull,
        "LC_ALL": "C",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "",
    }


def user_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment that reads the user's own configuration, and no repository's: ``GIT_DIR`` names none."""
    kept = {name: environ[name] for name in _HOME_NAMES if name in environ}
    kept |= {name: value for name, value in environ.items() if name.startswith("GIT_CONFIG_")}
    hardened = hardened_environment(environ)
    for name in ("HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM"):
        del hardened[name]
    return {**hardened, **kept, "GIT_DIR": os.devnull}


class Git:
    """Git for one repository: absolute program, fixed options, hardened environment."""

    def __init__(
        self,
        environ: Mapping[str, str],
        *,
        git_dir: Path,
        work_tree: Path | None,
        extra: Mapping[str, str] | None = None,
    ) -> None:
        self._program = find_git(environ)
        self._environment = {**hardened_environment(environ), **(extra or {})}
        settings = [part for setting in _SETTINGS for part in ("-c", setting)]
        self._options = [*settings, "--no-pager", "--literal-pathspecs", f"--git-dir={git_dir}"]
        if work_tree is not None:
            self._options.append(f"--work-tree={work_tree}")
        self._folder = work_tree or git_dir

    def run(self, *arguments: str, accept: tuple[int, ...] = (0,)) -> Output:
        """Run one command to its end; raises RevisionError for a status that is not accepted, or a time-out."""
        found = run_command(
            [self._program, *self._options, *arguments], self._environment, self._folder, name=arguments[0]
        )
        if found.status not in accept:
            raise RevisionError(f"`git {arguments[0]}` failed: {found.complaint}", help="see whether `git fsck` agrees")
        return found

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start one command with pipes for stdin and stdout; its stderr is dropped."""
        return subprocess.Popen(
            [self._program, *self._options, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=self._environment,
            cwd=self._folder,
            bufsize=_PIPE_BYTES,
            pipesize=_PIPE_BYTES,  # of Linux; elsewhere the platform's own: fewer changes between the two processes
        )


def run_command(command: list[str], environment: Mapping[str, str], folder: Path, *, name: str) -> Output:
    """Run a command without stdin; its output is capped, its time too.

    ``name`` is what messages call it. Raises RevisionError.
    """
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environment),
            cwd=folder,
        )
    except OSError as error:
        help = "see whether `git --version` runs"
        raise RevisionError(f"git cannot be started: {error.strerror}", help=help) from None
    assert process.stdout is not None and process.stderr is not None
    errors: list[bytes] = []
    drain = threading.Thread(target=_drain, args=(process.stderr, errors), daemon=True)
    late = threading.Event()

    def stop() -> None:
        late.set()
        process.kill()

    timer = threading.Timer(TIMEOUT_SECONDS, stop)
    with process:
        drain.start()
        timer.start()
        try:
            stdout = process.stdout.read(MAX_OUTPUT_BYTES + 1)
            if len(stdout) > MAX_OUTPUT_BYTES:
                process.kill()
                raise RevisionError(
                    f"`git {name}` wrote more than {MAX_OUTPUT_BYTES:,} bytes",
                    help="name narrower folders in the configuration",
                )
            status = process.wait()
        finally:
            timer.cancel()
            drain.join(1.0)
    if late.is_set():
        raise RevisionError(f"`git {name}` did not end within {TIMEOUT_SECONDS:.0f} seconds", help="run it by hand")
    return Output(status=status, stdout=stdout, stderr=b"".join(errors).decode("utf-8", "replace"))


def _drain(stream: IO[bytes], into: list[bytes]) -> None:
    """Read a stream to its end, keeping the beginning."""
    kept = 0
    while chunk := stream.read(4096):
        if kept < _MAX_ERROR_BYTES:
            into.append(chunk)
            kept += len(chunk)
