"""What a plain scalar means. YAML 1.2, narrowed: text stays text unless it can only be meant otherwise.

``true``, ``false``, ``null`` and plain decimal numbers are typed where nothing says which type is wanted. ``on``,
``yes``, ``12:30``, ``012``, ``1e3``, ``0x1F``, dates and numbers of more than fifteen digits stay the text that stands
there (fifteen significant digits is what a double always gives back: IEEE 754, DBL_DIG).
"""

from __future__ import annotations

import re
from math import isinf
from typing import Any, Final


class Plain(str):
    """A YAML scalar without quotes: its type is still open."""

    __slots__ = ()


class Num(str):
    """A JSON number with a fraction or an exponent, as it was written."""

    __slots__ = ()


NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})
BOOLEANS: Final = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}

_WORDS: Final[dict[str, Any]] = {**dict.fromkeys(NULLS), **BOOLEANS}
_INT: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,14})\Z").match
_DECIMAL: Final = re.compile(r"-?(?:0|[1-9][0-9]*)\.[0-9]+\Z").match
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?\Z").match
_SIGNIFICANT: Final = 15
_LEADS: Final = frozenset("0123456789-tTfFnN~")


def resolve(text: str) -> Any:
    """The value of a plain scalar in a place that takes any type."""
    if not text:
        return None
    if text[0] not in _LEADS:
        return str(text)
    if text in _WORDS:
        return _WORDS[text]
    if _INT(text):
        return int(text)
    if _DECIMAL(text) and len(text.lstrip("-0.").replace(".", "")) <= _SIGNIFICANT:
        return float(text)
    return str(text)


def as_integer(text: str) -> int | None:
    """A whole number in plain decimal digits, or None. ``5.0`` is one, ``012`` and ``1e3`` are not."""
    if _INT(text):
        return int(text)
    if _DECIMAL(text):
        whole, _, fraction = text.partition(".")
        if not fraction.strip("0") and _INT(whole):
            return int(whole)
    return None


def as_number(text: str) -> int | float | None:
    """A number in JSON's notation, or None; what no double holds is None too."""
    whole = as_integer(text)
    if whole is not None:
        return whole
    if not _NUMBER(text) or len(text) > 400:
        return None
    value = float(text)
    return None if isinf(value) else value


def from_json_number(text: str) -> int | float:
    """A JSON number with a fraction or exponent: whole where it is whole, as JSON Schema counts them."""
    return float(text)


def typed(value: Any) -> Any:
    """A value with every plain scalar resolved, as ordinary Python data."""
    kind = value.__class__
    if kind is str:
        return value
    if kind is Plain:
        return resolve(value)
    if kind is dict:
        return {k: typed(v) for k, v in value.items()}
    if kind is list:
        return [typed(v) for v in value]
    if kind is Num:
        return from_json_number(value)
    return value
