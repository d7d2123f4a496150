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
_RECORDS = frozenset(n for n, f in Inputs.__dataclass_fields__.items() if f.type == "tuple[Record, ...]")


class LazyInputs(Inputs):
    """Inputs that a function makes on first use; equal to what it makes."""

    __slots__ = ("_made", "_make", "_written")
    _make: Callable[[], Inputs]
    _made: Inputs | None
    _written: bytes

    def __new__(cls, make: Callable[[], Inputs] | None = None, written: bytes = b"", **fields: Any) -> Any:
        """With fields, as ``dataclasses.replace`` passes them, an ordinary object."""
        return Inputs(**fields) if make is None else super().__new__(cls)

    def __init__(self, make: Callable[[], Inputs], written: bytes = b"") -> None:
        """``written`` is the JSON text that they are made from, if it is known."""
        object.__setattr__(self, "_make", make)
        object.__setattr__(self, "_written", written)
        object.__setattr__(self, "_made", None)

    def made(self) -> Inputs:
        """The ordinary object."""
        if self._made is None:
            object.__setattr__(self, "_made", self._make())
        assert self._made is not None
        return self._made

    @property
    def is_made(self) -> bool:
        """Whether the ordinary object is there."""
        return self._made is not None

    def __eq__(self, other: object) -> bool:
        return self.made() == (other.made() if isinstance(other, LazyInputs) else other)

    __hash__ = Inputs.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Inputs, **{f: getattr(self, f) for f in _FIELDS}), ()


def _forward(name: str) -> property:
    read = attrgetter(name)
    return property(lambda self: read(self.made()))


def _forward_records(name: str) -> property:
    """What is not written is known to be empty without making anything."""
    read, key = attrgetter(name), f'"{name}"'.encode()

    def found(self: LazyInputs) -> Any:
        return () if not self.is_made and self._written and key not in self._written else read(self.made())

    return property(found)


def _files(inputs: LazyInputs) -> tuple[str, ...]:
    return inputs.made().files if inputs.is_made else ()  # inputs that name a recorded file are not set apart


for _name in _FIELDS:
    setattr(LazyInputs, _name, _forward_records(_name) if _name in _RECORDS else _forward(_name))
setattr(LazyInputs, "files", property(_files))  # noqa: B010 - as the loop above: the class has a slot of this name


def is_set_apart(inputs: Inputs) -> bool:
    """Whether inputs are not built yet: then all of them stand in the fixture's own file."""
    return isinstance(inputs, LazyInputs) and not inputs.is_made
