"""Packages that ctxc can count with where they are installed. None is needed, and none is used unless asked for."""

from __future__ import annotations

import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from ctxc.base.errors import MissingTokenizer
from ctxc.base.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Extra:
    """A package, the extra of ctxc that brings it, what it is for, and the least Python that it runs on."""

    module: str
    name: str
    purpose: str
    python: tuple[int, int] = (3, 11)

    @property
    def version(self) -> str:
        """Its version; empty where it is not installed."""
        return _version(self.module)

    @property
    def remedy(self) -> str:
        """What to do to have it."""
        command = f"pip install 'ctxc-toolkit[{self.name}]'"
        if sys.version_info[:2] >= self.python:
            return command
        have, need = (".".join(map(str, v)) for v in (sys.version_info[:2], self.python))
        return f"run ctxc on Python {need} or newer (this is {have}), then {command}"

    def require(self, subject: str) -> str:
        """The version; raises MissingTokenizer, saying what to do, where the package is not installed."""
        if not self.version:
            raise MissingTokenizer(
                f"{subject} counts with the package {self.module}, which is not installed",
                help=f"{self.remedy}; or take it out of `tokenizers` in the project's configuration",
            )
        return self.version


CTOK = Extra(
    module="ctok", name="claude", purpose="counts for Claude from a rebuilt vocabulary (`ctok: true`)", python=(3, 12)
)
TOKENIZERS = Extra(
    module="tokenizers", name="tokenizers", purpose="counts with a tokenizer.json of the project (`NAME: PATH`)"
)
EXTRAS = (CTOK, TOKENIZERS)


def installed() -> tuple[str, ...]:
    """``package version`` of each that is installed: a stored count or package may rest on it."""
    return tuple(f"{e.module} {e.version}" for e in EXTRAS if e.version)


@cache
def _version(module: str) -> str:
    """From the name of the package's metadata folder beside it: importlib.metadata alone would cost 15 ms."""
    spec = find_spec(module)
    if spec is None or not spec.origin:
        return ""
    start, end = f"{module}-", ".dist-info"
    for entry in sorted(Path(spec.origin).parent.parent.glob(f"{start}*{end}")):
        return entry.name.removeprefix(start).removesuffix(end)
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(module)
    except PackageNotFoundError:
        return "unknown"
