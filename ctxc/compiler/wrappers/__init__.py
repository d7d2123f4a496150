"""Wrappers: how the text of a section is put into a block (a template's ``renderer``). One per file.

A wrapper module defines ``WRAPPER``. Application text stands in its block as it is; everything else is carried as
JSON, in which no wrapper and no role token can be written (``ctxc.base.escaping``, ``ctxc.detect.role_tokens``).
Every block ends in a punctuation character and is followed by a blank line and a block that begins with one: at that
place both shipped vocabularies always split (their patterns end a run of punctuation with its line ends), so the
tokens of joined blocks are exactly the sum of the tokens of the blocks. A property test holds this.
"""

from __future__ import annotations

from functools import cache
from typing import Protocol

from ctxc.base import registry

JOINER = "\n\n"
"""What stands between two blocks of one text."""


class Wrapper(Protocol):
    """Puts a body into a block with a header that names kind, trust and source."""

    def open(self, kind: str, trust: str, attributes: tuple[tuple[str, str], ...]) -> str:
        """The first line of a block; attribute values are already JSON string literals."""

    def close(self, kind: str) -> str:
        """The last line of a block."""

    def read(self, line: str) -> tuple[str, str, tuple[str, ...]] | None:
        """Kind, trust and names of the attributes of a first line; None where it is none."""


def wrapper_ids() -> tuple[str, ...]:
    """Names of all wrappers, sorted."""
    return registry.names(__name__)


@cache
def wrapper(name: str) -> Wrapper:
    """The wrapper of a name; raises KeyError for one that does not exist."""
    if name not in wrapper_ids():
        raise KeyError(name)
    found: Wrapper = registry.load(__name__, name).WRAPPER
    return found
