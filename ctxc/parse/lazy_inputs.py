"""Inputs of a fixture that is known to be clean: built when somebody looks at them.

Most commands look at few fixtures of many. A fixture whose file was read before without any finding, and that names no
recorded file, cannot give a finding now, so its messages and records need not exist until they are used.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import Any

from ctxc.model.fixture import Inputs

_FIELDS = tuple(Inputs.__dataclass_fields__)


class LazyInputs(Inputs):
    """Inputs that a function makes on first use; equal to what it makes."""

    __slots__ = ("_made", "_make")
    _make: Callable[[], Inputs]
    _made: Inputs | None

    def __new__(cls, make: Callable[[], Inputs] | None = None, **fields: Any) -> Any:
        """With fields, as ``dataclasses.replace`` passes them, an ordinary object."""
        return Inputs(**fields) if make is None else super().__new__(cls)

    def __init__(self, make: Callable[[], Inputs]) -> None:
        object.__setattr__(self, "_make", make)
        object.__setattr__(self, "_made", None)

    def made(self) -> Inputs:
        """The ordinary object."""
        if self._made is None:
            object.__setattr__(self, "_made", self._make())
        assert self._made is not None
        return self._made

    def __eq__(self, other: object) -> bool:
        return self.made() == (other.made() if isinstance(other, LazyInputs) else other)

    __hash__ = Inputs.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Inputs, **{f: getattr(self, f) for f in _FIELDS}), ()


def _forward(name: str) -> property:
    read = attrgetter(name)
    return property(lambda self: read(self.made()))


for _name in _FIELDS:
    setattr(LazyInputs, _name, _forward(_name))
