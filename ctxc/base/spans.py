"""Places in files. Lines and columns count from 1; columns count code points, not bytes."""

from __future__ import annotations

from typing import NamedTuple


class Span(NamedTuple):
    """A range of text: the first character and the one after the last, 1-based, in code points."""

    line: int
    column: int
    end_line: int
    end_column: int


class Location(NamedTuple):
    """A place in a file: POSIX path relative to the project root, span (None: the whole file), JSON pointer."""

    path: str
    span: Span | None = None
    pointer: str = ""

    def __str__(self) -> str:
        if self.span is None:
            return self.path
        return f"{self.path}:{self.span.line}:{self.span.column}"


class Origin(NamedTuple):
    """Where a loaded value stands, without its line: a path and a JSON pointer. Lines are looked up on demand."""

    path: str
    pointer: str = ""

    def child(self, *keys: str | int) -> Origin:
        """The origin of a value inside this one."""
        parts = "".join("/" + str(k).replace("~", "~0").replace("/", "~1") for k in keys)
        return Origin(self.path, self.pointer + parts)


NOWHERE = Origin("")
"""Of values that no file holds."""
