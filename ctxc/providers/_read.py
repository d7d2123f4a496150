"""Tolerant reading of requests that anybody may have written: a wrong type reads as nothing, never as a crash."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from ctxc.base.canonical import json_writer

_COMPACT = json_writer(default=str)


def as_map(value: object) -> Mapping[str, Any]:
    """The value if it is an object, else an empty one."""
    if value.__class__ is dict:  # nearly always; asking for any mapping takes five times as long
        return value
    return value if isinstance(value, Mapping) else {}


def as_list(value: object) -> Sequence[Any]:
    """The value if it is an array, else an empty one."""
    return value if isinstance(value, (list, tuple)) else ()


def as_text(value: object) -> str:
    """The value if it is a string; nothing for null; the compact JSON of anything else."""
    if isinstance(value, str):
        return value
    return "" if value is None else compact(value)


def as_int(value: object, default: int = 0) -> int:
    """A whole number from data, where it may also stand as its digits; else the default."""
    if isinstance(value, bool):
        return default
    if isinstance(value, int):
        return value
    if isinstance(value, str):
        text = value.strip()
        if text.isascii() and text.removeprefix("-").isdigit():
            return int(text)
    return default


def texts_of(value: object) -> tuple[str, ...]:
    """The strings of an array (or a single string as an array of one)."""
    if isinstance(value, str):
        return (value,)
    return tuple(v for v in as_list(value) if isinstance(v, str))


def compact(value: object) -> str:
    """JSON without white space, key order kept: the bytes that stand in a request."""
    return _COMPACT(value)


def spaced(value: object) -> str:
    """JSON with a blank after each comma and colon, key order kept."""
    return json.dumps(value, ensure_ascii=False, default=str)


def escape(key: str) -> str:
    """One reference token of a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


def parse_object(text: str) -> dict[str, Any] | None:
    """The JSON object that a text is, or None where it is anything else.

    A text that would not come back out the same is none either: a key that stands twice, a number beyond the range
    of a double, NaN and Infinity (RFC 8259 has neither).
    """
    try:
        value = json.loads(text, parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _refuse(name: str) -> Any:
    raise ValueError(name)


def _finite(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise ValueError(text)
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found
