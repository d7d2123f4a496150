"""Plain values back to dataclasses, by the words of their annotations.

What was kept in a cache is untrusted: nothing of another shape gets through.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any

Reader = Callable[[Any], Any]
"""From a plain value to a typed one; raises ValueError for any other shape."""


def record_reader(kind: Any, of: Callable[[str], Reader]) -> Reader:
    """A reader of a dataclass from an object; ``of`` gives the reader of a field's annotation."""
    readers = {f.name: of(str(f.type)) for f in fields(kind)}
    needed = frozenset(f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING)

    def read(value: Any) -> Any:
        if not isinstance(value, dict) or not needed <= value.keys() <= readers.keys():
            raise ValueError(f"not a {kind.__name__}")
        return kind(**{name: readers[name](item) for name, item in value.items()})

    return read


def scalar_reader(kind: type) -> Reader:
    """A reader of exactly this type; a whole number is a float too, because JSON writes it like one."""

    def read(value: Any) -> Any:
        if kind is float and type(value) is int:
            return float(value)
        if type(value) is not kind:
            raise ValueError(f"not a {kind.__name__}")
        return value

    return read


def listed(value: Any) -> list[Any]:
    """The value, which has to be a list."""
    if not isinstance(value, list):
        raise ValueError("not a list")
    return value
