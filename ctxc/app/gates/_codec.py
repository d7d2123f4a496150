"""What was measured of a fixture as plain values, and back from a cache, which is untrusted."""

from __future__ import annotations

import json
from dataclasses import MISSING, fields
from typing import Any

from ctxc.app.rows import finding_from, finding_store
from ctxc.base.canonical import canonical
from ctxc.model.finding import Finding
from ctxc.model.measured import Cut, Measured, MeasuredSection, Stretch

_NESTED = {"sections": MeasuredSection, "cuts": Cut, "stretches": Stretch}
_SCALARS = {"str": str, "int": int, "bool": bool}


def plain(value: Any) -> Any:
    """A measured fixture as plain values, without what is as its default."""
    found: dict[str, Any] = {}
    for field in fields(value):
        item = getattr(value, field.name)
        if field.default is not MISSING and item == field.default and type(item) is type(field.default):
            continue
        if field.name in _NESTED and isinstance(value, Measured):
            item = [plain(i) for i in item]
        elif field.name == "route":
            item = {k: list(v) for k, v in item.items()}
        found[field.name] = item
    return found


def measured_from(value: Any) -> Measured:
    """A measured fixture from plain values; raises ValueError for any other shape."""
    found: Measured = _read(Measured, value)
    return found


def _read(kind: Any, value: Any) -> Any:
    if not isinstance(value, dict):
        raise ValueError(f"a {kind.__name__} is an object")
    types = {f.name: str(f.type) for f in fields(kind)}
    found: dict[str, Any] = {}
    for name, item in value.items():
        if name not in types:
            raise ValueError(f"{kind.__name__} has no {name}")
        found[name] = _value(name, types[name], item)
    try:
        return kind(**found)
    except TypeError as error:
        raise ValueError(str(error)) from None


def _value(name: str, kind: str, item: Any) -> Any:
    if name in _NESTED:
        return tuple(_read(_NESTED[name], i) for i in _list(item))
    if name == "route":
        if not isinstance(item, dict):
            raise ValueError("a route is an object")
        return {str(k): tuple(map(_text, _list(v))) for k, v in item.items()}
    if kind.startswith("tuple[tuple["):
        return tuple(tuple(map(_text, _list(i))) for i in _list(item))
    if kind.startswith("tuple["):
        return tuple(map(_text, _list(item)))
    if kind.endswith(" | None") and item is None:
        return None
    wanted = _SCALARS[kind.removesuffix(" | None")]
    if type(item) is not wanted:
        raise ValueError(f"{name} is no {wanted.__name__}")
    return item


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError("a list was expected")
    return value


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
