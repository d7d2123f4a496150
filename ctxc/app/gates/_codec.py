"""What a gate keeps as plain values (measured fixtures, releases), and back from a cache, which is untrusted."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any

from ctxc.app.rows import finding_from, finding_store
from ctxc.base.canonical import canonical
from ctxc.base.typed import listed, record_reader, scalar_reader
from ctxc.model import measured as measured_model
from ctxc.model import release as release_model
from ctxc.model.finding import Finding
from ctxc.model.measured import Measured

_TUPLE = re.compile(r"tuple\[(.+), \.\.\.\]\Z")
_PAIR = re.compile(r"tuple\[(?:str(?:, )?)+\]\Z")
_ROUTE = "Mapping[str, tuple[str, ...]]"
_TEXT = {str}
_SCALARS: dict[str, type] = {"str": str, "int": int, "bool": bool}


def plain(value: Any) -> Any:
    """A dataclass as plain values: one that holds scalars only as a row, any other as an object without defaults."""
    if isinstance(value, tuple):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if not is_dataclass(value):
        return value
    kind: Any = type(value)
    flat = _flat(kind)
    if flat is not None:
        return [getattr(value, name) for name in flat[0]]
    found: dict[str, Any] = {}
    for field in fields(value):
        item = getattr(value, field.name)
        if field.default is MISSING or item != field.default or type(item) is not type(field.default):
            found[field.name] = plain(item)
    return found


def measured_from(value: Any) -> Measured:
    """A measured fixture from plain values; raises ValueError for any other shape."""
    found: Measured = _reader(Measured)(value)
    return found


def shipped_from(value: Any) -> tuple[release_model.Shipped, ...]:
    """Objects that ship from plain values; raises ValueError for any other shape."""
    found: tuple[release_model.Shipped, ...] = _of("tuple[Shipped, ...]")(value)
    return found


def read_fields(kind: type, value: Any, names: Collection[str]) -> dict[str, Any]:
    """Some fields of a dataclass, each from its plain value; raises ValueError for any other shape."""
    if not isinstance(value, dict) or value.keys() - set(names):
        raise ValueError(f"not a part of {kind.__name__}")
    types = {f.name: str(f.type) for f in fields(kind)}
    return {name: _of(types[name])(item) for name, item in value.items()}


@cache
def _flat(kind: Any) -> tuple[tuple[str, ...], tuple[type, ...]] | None:
    """Names and types of a dataclass that holds scalars only; there are tens of thousands of them."""
    told = [(f.name, _SCALARS.get(str(f.type))) for f in fields(kind)]
    types = tuple(t for _, t in told if t is not None)
    return (tuple(name for name, _ in told), types) if len(types) == len(told) else None


@cache
def _reader(kind: Any) -> Callable[[Any], Any]:
    flat = _flat(kind)
    if flat is not None:
        return _row_reader(kind, *flat)
    return record_reader(kind, _of)


def _row_reader(kind: Any, names: tuple[str, ...], types: tuple[type, ...]) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if not isinstance(value, list) or tuple(map(type, value)) != types:
            raise ValueError(f"not a {kind.__name__}")
        return kind(**dict(zip(names, value, strict=True)))

    return read


def _rows_reader(kind: Any, names: tuple[str, ...], types: tuple[type, ...]) -> Callable[[Any], Any]:
    """A list of rows. There are tens of thousands: setters of slots make an object in half the time of a call."""
    setters = [getattr(kind, name).__set__ for name in names]
    new = object.__new__

    def read(value: Any) -> Any:
        found = []
        for row in listed(value):
            if type(row) is not list or tuple(map(type, row)) != types:
                raise ValueError(f"not a {kind.__name__}")
            made = new(kind)
            for write, item in zip(setters, row, strict=True):
                write(made, item)
            found.append(made)
        return tuple(found)

    return read


@cache
def _of(annotation: str) -> Callable[[Any], Any]:
    """A reader of a type, by the words of its annotation."""
    if annotation.endswith(" | None"):
        inner = _of(annotation.removesuffix(" | None"))
        return lambda value: None if value is None else inner(value)
    if annotation == _ROUTE:
        words = _of("tuple[str, ...]")
        return lambda value: {_text(k): words(v) for k, v in _object(value).items()}
    many = _TUPLE.match(annotation)
    if many is not None and many[1] == "str":
        return _texts
    if many is not None:
        kind = _kind(many[1])
        flat = _flat(kind) if kind is not None and not hasattr(kind, "__post_init__") else None
        if flat is not None:
            return _rows_reader(kind, *flat)
        each = _of(many[1])
        return lambda value: tuple([each(v) for v in listed(value)])
    if _PAIR.match(annotation):
        return _texts
    scalar = _SCALARS.get(annotation)
    if scalar is not None:
        return scalar_reader(scalar)
    return _reader(_kind(annotation) or getattr(release_model, annotation))


def _kind(annotation: str) -> Any:
    """The dataclass of a name; None where it is none."""
    found = getattr(measured_model, annotation, None) or getattr(release_model, annotation, None)
    return found if is_dataclass(found) else None


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("an object was expected")
    return value


def _texts(value: Any) -> tuple[str, ...]:
    found = tuple(listed(value))
    if not {*map(type, found)} <= _TEXT:
        raise ValueError("texts were expected")
    return found


def _text(value: Any) -> str:
    if type(value) is not str:
        raise ValueError("a text was expected")
    return value


def store_text(measured: Measured, findings: tuple[Finding, ...]) -> bytes:
    """A measured fixture and the findings of its compile, as they are kept."""
    value = {"measured": plain(measured), "findings": [finding_store(f) for f in findings]}
    return canonical(value).encode("utf-8", "surrogatepass")


def stored(data: bytes) -> tuple[Measured, tuple[Finding, ...]]:
    """What was kept; raises ValueError, KeyError or TypeError for any other shape."""
    value = json.loads(data)
    return measured_from(value["measured"]), tuple(finding_from(f) for f in value["findings"])
