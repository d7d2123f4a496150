"""Checks of single values: types, enumerations, ranges, lengths, patterns, versions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from ctxc.base.canonical import canonical
from ctxc.parse.mismatch import Check, Out, Path, describe, list_types, pointer_of, wrong_type
from ctxc.parse.problems import Problem, nearest, shown
from ctxc.parse.scalars import BOOLEANS, NULLS, Num, Plain, as_integer, as_number, from_json_number, resolve, typed

CLASSES: dict[type, frozenset[str]] = {
    dict: frozenset(("object",)),
    list: frozenset(("array",)),
    str: frozenset(("string",)),
    Plain: frozenset(("string", "integer", "number", "boolean", "null")),
    Num: frozenset(("integer", "number", "string")),
    int: frozenset(("integer", "number")),
    float: frozenset(("integer", "number")),
    bool: frozenset(("boolean",)),
    type(None): frozenset(("null",)),
}
"""Which types of JSON Schema a parsed value may have."""


def comparable(value: Any) -> Any:
    """1 and 1.0 are equal in JSON Schema, 1 and true are not."""
    if value.__class__ is float and value.is_integer():
        return int(value)
    if value.__class__ is list:
        return [comparable(v) for v in value]
    if value.__class__ is dict:
        return {k: comparable(v) for k, v in value.items()}
    return value


def scalar(types: tuple[str, ...], schema: Mapping[str, Any]) -> Check:
    """The check of a value of some types without collections."""
    wanted = list_types(types)
    allowed = frozenset(types)
    more = _constraints(schema)
    if types == ("string",) and more is None:

        def check_string(value: Any, path: Path, out: Out) -> Any:
            kind = value.__class__
            if kind is str:
                return value
            if kind is Plain and value not in NULLS:
                return str(value)
            out.append(wrong_type(value, wanted, path))
            return None

        return check_string

    def check_scalar(value: Any, path: Path, out: Out) -> Any:
        kind = value.__class__
        if kind is Plain:
            result, fits = _from_plain(value, types)
        elif kind is Num:
            result, fits = _from_number(value, allowed)
        else:
            result, fits = value, bool(CLASSES.get(kind, frozenset()) & allowed)
            if kind is float:
                fits = "number" in allowed or ("integer" in allowed and value.is_integer())
        if not fits:
            out.append(wrong_type(value, wanted, path))
            return None
        if more is not None:
            more(result, value, path, out)
        return result

    return check_scalar


def _from_plain(text: str, types: tuple[str, ...]) -> tuple[Any, bool]:
    """A YAML scalar without quotes as the first of the types that it can be."""
    for wanted in types:
        if wanted == "string":
            if text not in NULLS:
                return str(text), True
        elif wanted == "integer":
            whole = as_integer(text)
            if whole is not None:
                return whole, True
        elif wanted == "number":
            number = as_number(text)
            if number is not None:
                return number, True
        elif wanted == "boolean":
            if text in BOOLEANS:
                return BOOLEANS[text], True
        elif text in NULLS:
            return None, True
    return None, False


def _from_number(text: str, allowed: frozenset[str]) -> tuple[Any, bool]:
    number = from_json_number(text)
    if "string" in allowed and "number" in allowed:
        return str(text), True  # what stands there: 1.10 is not 1.1
    if "number" in allowed:
        return number, True
    if "integer" in allowed and float(number).is_integer():
        return int(number), True
    return None, False


def _constraints(schema: Mapping[str, Any]) -> Callable[[Any, Any, Path, Out], None] | None:
    """What a scalar must satisfy besides its type; the second argument of the result is the value as written."""
    checks: list[Callable[[Any, Any, Path, Out], None]] = []
    if "minimum" in schema or "maximum" in schema or "exclusiveMinimum" in schema:
        checks.append(_range(schema))
    if "minLength" in schema or "maxLength" in schema:
        checks.append(_length(schema.get("minLength", 0), schema.get("maxLength")))
    if "pattern" in schema:
        checks.append(_pattern(schema["pattern"], schema.get("description", "")))
    if schema.get("format") == "version":
        checks.append(_version)
    if not checks:
        return None
    if len(checks) == 1:
        return checks[0]

    def all_of(value: Any, raw: Any, path: Path, out: Out) -> None:
        for check in checks:
            check(value, raw, path, out)

    return all_of


def _range(schema: Mapping[str, Any]) -> Callable[[Any, Any, Path, Out], None]:
    least, most, above = schema.get("minimum"), schema.get("maximum"), schema.get("exclusiveMinimum")
    help = schema.get("description") or "write a number in this range"
    bounds = [f"at least {least}" if least is not None else "", f"more than {above}" if above is not None else ""]
    said = " and ".join(b for b in (*bounds, f"at most {most}" if most is not None else "") if b)

    def check_range(value: Any, raw: Any, path: Path, out: Out) -> None:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return
        low = (least is not None and value < least) or (above is not None and value <= above)
        if low or (most is not None and value > most):
            out.append(
                Problem("bad-value", f"expected a number of {said}, found {value}", help, pointer=pointer_of(path))
            )

    return check_range


def _length(least: int, most: int | None) -> Callable[[Any, Any, Path, Out], None]:
    def check_length(value: Any, raw: Any, path: Path, out: Out) -> None:
        if not isinstance(value, str):
            return
        if len(value) < least:
            said = "expected text, found none" if not value else f"expected at least {least:,} characters"
            out.append(Problem("bad-value", said, "write a value or remove the key", pointer=pointer_of(path)))
        elif most is not None and len(value) > most:
            message = f"expected at most {most:,} characters, found {len(value):,}"
            out.append(Problem("bad-value", message, "shorten it", pointer=pointer_of(path)))

    return check_length


def _pattern(pattern: str, description: str) -> Callable[[Any, Any, Path, Out], None]:
    find = re.compile(pattern).search

    def check_pattern(value: Any, raw: Any, path: Path, out: Out) -> None:
        if isinstance(value, str) and not find(value):
            message = f"{shown(value)} does not have the expected form"
            help = description or "see the schema of this file for the form"
            out.append(Problem("bad-value", message, help, pointer=pointer_of(path)))

    return check_pattern


_FLOAT_LIKE = re.compile(r"-?[0-9]+\.[0-9]+\Z").match


def _version(value: Any, raw: Any, path: Path, out: Out) -> None:
    if (raw.__class__ is Plain or raw.__class__ is Num) and _FLOAT_LIKE(raw):
        out.append(
            Problem(
                "float-like-version",
                f"the version {raw} reads as the number {float(raw)!r} elsewhere; ctxc keeps the text {raw}",
                f'write three parts ({raw}.0) or put it in quotes ("{raw}")',
                pointer=pointer_of(path),
                data={"version": str(raw)},
            )
        )


def enum_of(options: list[Any]) -> Check:
    """The check of a value that has to be one of some."""
    exact = {canonical(comparable(o)): o for o in options}
    texts = {o: o for o in options if isinstance(o, str)}
    said = ", ".join(str(o) if o is not None else "null" for o in options)

    def check_enum(value: Any, path: Path, out: Out) -> Any:
        if value.__class__ is Plain:
            if value in texts:
                return texts[value]
            key = canonical(comparable(resolve(value)))
        elif value.__class__ is str:
            if value in texts:
                return value
            key = ""
        else:
            key = canonical(comparable(typed(value)))
        if key in exact:
            return exact[key]
        near = nearest(str(value), texts) if isinstance(value, str) else ""
        hint = f'; did you mean "{near}"?' if near else ""
        out.append(
            Problem("bad-value", f"{describe(value)} is not one of the values that may stand here{hint}",
                    f"expected one of: {said}", pointer=pointer_of(path))
        )  # fmt: skip
        return None

    return check_enum
