"""Real repositories for tests: built with fixed names and dates, so that every run has the same commit ids."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

START = 1_790_000_000  # seconds since 1970, 2026-09-21; each commit is one minute later

_ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": os.devnull,
    "LC_ALL": "C",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.invalid",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.invalid",
    "GIT_TERMINAL_PROMPT": "0",
} | {name: os.environ[name] for name in ("SYSTEMROOT", "TEMP", "TMP") if name in os.environ}


class Repo:
    """One repository below a folder; every helper returns what a test asserts on."""

    def __init__(self, path: Path, *, options: tuple[str, ...] = ()) -> None:
        self.path = path
        self.minutes = 0
        path.mkdir(parents=True, exist_ok=True)
        if not (path / ".git").exists():
            self.git("init", "-q", "-b", "main", *options)

    @property
    def environ(self) -> dict[str, str]:
        """An environment for ``Repository.discover`` that knows git and nobody's configuration."""
        return dict(_ENVIRONMENT)

    def git(self, *arguments: str, env: Mapping[str, str] | None = None, stdin: bytes | None = None) -> str:
        """Run git; stdout without its last line end. Fails the test for another status than 0."""
        date = f"{START + 60 * self.minutes} +0000"
        dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.path,
            env={**_ENVIRONMENT, **dates, **(env or {})},
            capture_output=True,
            check=False,
            input=stdin,
        )
        assert done.returncode == 0, f"git {arguments}: {done.stderr.decode()}"
        return done.stdout.decode("utf-8", "surrogateescape").rstrip("\n")

    def write(self, path: str, data: str | bytes) -> Path:
        """Write one file of the work tree."""
        place = self.path / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data.encode() if isinstance(data, str) else data)
        return place

    def link(self, path: str, target: str) -> None:
        """Make a symbolic link in the work tree."""
        place = self.path / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(target)

    def commit(self, message: str = "change", files: Mapping[str, str | bytes] | None = None) -> str:
        """Write files, add everything, commit; the commit's id."""
        for path, data in (files or {}).items():
            self.write(path, data)
        self.git("add", "-A")
        self.minutes += 1
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.id()

    def merge(self, other: str, message: str) -> str:
        """Merge another revision into HEAD with a merge commit; its id."""
        self.minutes += 1
        self.git("merge", "-q", "--no-ff", "-m", message, other)
        return self.id()

    def id(self, revision: str = "HEAD") -> str:
        """The object id of a revision."""
        return self.git("rev-parse", revision)

    def clone(self, path: Path, *options: str, file_protocol: bool = True) -> Repo:
        """Clone this repository; ``--depth`` only works over the file protocol."""
        source = self.path.as_uri() if file_protocol else str(self.path)
        self.git("-c", "protocol.file.allow=always", "clone", "-q", *options, source, str(path))
        made = Repo(path)
        made.minutes = self.minutes
        return made
