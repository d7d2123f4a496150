"""A change as plain values, and back from a cache.

A cache is untrusted: a value that does not have the shape that was written is a ValueError, never a half-read change.
The shape is that of the dataclasses in ``ctxc.model.change``; nothing has to be listed twice.
"""

from __future__ import annotations

import re
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, cast

from ctxc.base.typed import Reader, listed, record_reader, scalar_reader
from ctxc.model import change as model

T = TypeVar("T")

_TUPLE = re.compile(r"tuple\[(.+), \.\.\.\]\Z")
_SCALARS: dict[str, type] = {"str": str, "int": int, "bool": bool, "float": float}


def encode(value: Any) -> Any:
    """The plain value of a dataclass: objects with all their keys."""
    if isinstance(value, tuple):
        return [encode(v) for v in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {name: encode(getattr(value, name)) for name in _names(type(value))}
    return value


def compact(value: Any) -> Any:
    """As ``encode``, without what is as its default: what a cache keeps."""
    if isinstance(value, tuple):
        return [compact(v) for v in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: compact(v) for f in fields(value) if not _is_default(f, v := getattr(value, f.name))}
    return value


def _is_default(field: Any, value: Any) -> bool:
    return field.default is not MISSING and type(value) is type(field.default) and bool(value == field.default)


def decode(kind: type[T], value: Any) -> T:
    """The dataclass of a plain value; raises ValueError for any other shape."""
    return cast(T, _reader(cast(Any, kind))(value))


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind))


@cache
def _reader(kind: Any) -> Reader:
    return record_reader(kind, _of)


@cache
def _of(annotation: str) -> Reader:
    """A reader of a type, by the words of its annotation."""
    annotation = annotation.strip()
    if annotation.endswith(" | None"):
        inner = _of(annotation.removesuffix(" | None"))
        return lambda value: None if value is None else inner(value)
    many = _TUPLE.match(annotation)
    if many is not None:
        each = _of(many[1])
        return lambda value: tuple([each(v) for v in listed(value)])
    scalar = _SCALARS.get(annotation)
    if scalar is not None:
        return scalar_reader(scalar)
    return _reader(getattr(model, annotation))
