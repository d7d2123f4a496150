"""What a step gets from the runner, and how it answers: variables, the event, outputs, the summary, annotations."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

_REPOSITORY = re.compile(r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+\Z")


class Runner:
    """The runner's side of a step. ``environment`` holds the inputs as ``GATE_*`` and GitHub's own variables."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.environment = environment

    def value(self, name: str, default: str = "") -> str:
        """A variable without white space around it; the default where it is empty or absent."""
        return self.environment.get(name, "").strip() or default

    @property
    def temporary(self) -> Path:
        """The runner's folder for temporary files: outside of the checkout, emptied after the job."""
        return Path(self.environment["RUNNER_TEMP"])

    @property
    def repository(self) -> str:
        """``owner/name``; empty where the variable does not look like it."""
        name = self.value("GITHUB_REPOSITORY")
        return name if _REPOSITORY.match(name) else ""

    @property
    def key(self) -> str:
        """What tells this use of the action from the others of a repository: 16 hex digits."""
        names = ("GITHUB_WORKFLOW", "GITHUB_JOB", "GATE_PROJECT", "GATE_COMMENT_KEY")
        return sha256("\0".join(self.value(n) for n in names).encode()).hexdigest()[:16]

    def event(self) -> dict[str, Any]:
        """The event that started the workflow; empty where it cannot be read."""
        try:
            found = json.loads(Path(self.value("GITHUB_EVENT_PATH")).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def from_fork(self) -> bool:
        """Whether a pull request comes from another repository: its token may only read."""
        request = self.event().get("pull_request")
        if not isinstance(request, dict):
            return False
        head = ((request.get("head") or {}).get("repo") or {}).get("full_name")
        base = ((request.get("base") or {}).get("repo") or {}).get("full_name")
        return head is None or head != base

    def may_write(self, what: str) -> bool:
        """Whether there is a token that may write; where there is none, it is told why there is no ``what``."""
        if self.from_fork():
            self.tell(f"no {what}: the pull request comes from a fork, where the token may only read")
            return False
        if not self.value("GATE_TOKEN") or not self.repository:
            self.tell(f"no {what}: there is no token")
            return False
        return True

    def output(self, name: str, value: object) -> None:
        """Set an output of the step; a line end would begin another one."""
        text = str(value)
        if "\n" in text or "\r" in text:
            raise ValueError(f"the output {name} has a line end")
        self._append("GITHUB_OUTPUT", f"{name}={text}\n")

    def summary(self, text: str) -> None:
        """Add Markdown to the summary of the step."""
        self._append("GITHUB_STEP_SUMMARY", text)

    def tell(self, text: str, level: str = "notice") -> None:
        """An annotation without a place. ``text`` is ours; what others wrote does not belong here."""
        text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
        print(f"::{level} title=ctxc gate::{text}", flush=True)

    def _append(self, variable: str, text: str) -> None:
        name = self.value(variable)
        if name:
            with Path(name).open("a", encoding="utf-8", newline="\n") as file:
                file.write(text)
