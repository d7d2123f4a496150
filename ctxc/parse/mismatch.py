"""What a problem of the validator says: what was expected, what stands there, and how to write what was meant."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from ctxc.parse import limits
from ctxc.parse.nodes import escape
from ctxc.parse.problems import Problem, did_you_mean, shown
from ctxc.parse.scalars import BOOLEANS, NULLS, Num, Plain, as_number

Path: TypeAlias = "tuple[Path, str | int] | None"
"""Where a value stands, innermost first; None is the root."""

Out: TypeAlias = "list[Problem]"
Check: TypeAlias = Callable[[Any, Path, Out], Any]

_NAMES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
    "null": "nothing",
}
_SWITCHES = {**dict.fromkeys(("yes", "on", "y", "1"), "true"), **dict.fromkeys(("no", "off", "n", "0"), "false")}
_NUMERIC = re.compile(r"[+-]?[0-9][0-9_.,eExXoOa-fA-F]*\Z").match


def pointer_of(path: Path) -> str:
    """The JSON pointer of a path."""
    parts: list[str] = []
    while path is not None:
        path, key = path
        parts.append(escape(str(key)))
    return "".join("/" + p for p in reversed(parts))


def closeness(problems: list[Problem], path: Path) -> tuple[bool, int]:
    """How far problems are from the value at a path: the branch that was meant has the least."""
    here = pointer_of(path)
    return any(p.pointer == here and p.name == "wrong-type" for p in problems), len(problems)


def list_types(types: Iterable[str]) -> str:
    """Types of JSON Schema in words."""
    names = list(dict.fromkeys(_NAMES[t] for t in types))
    if "a number" in names and "a whole number" in names:
        names.remove("a whole number")
    return " or ".join(names) if len(names) < 3 else ", ".join(names[:-1]) + " or " + names[-1]


def describe(value: Any) -> str:
    """A value in words."""
    if value is None or (value.__class__ is Plain and value in NULLS):
        return "nothing"
    if value.__class__ is dict:
        return "a mapping"
    if value.__class__ is list:
        return "a list"
    if isinstance(value, bool):
        return "true" if value else "false"
    if value.__class__ is Plain or value.__class__ is Num or not isinstance(value, str):
        return shown(str(value)) if value.__class__ is Plain else str(value)[:40]
    return f"the text {shown(value)}"


def wrong_type(value: Any, wanted: str, path: Path) -> Problem:
    """The problem of a value of another type; ``wanted`` is what ``list_types`` gives."""
    message = f"expected {wanted}, found {describe(value)}"
    return Problem("wrong-type", message, _mend(value, wanted), pointer=pointer_of(path))


def _mend(value: Any, wanted: str) -> str:
    """How to write what was most likely meant."""
    text = str(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else ""
    if "true or false" in wanted and text.lower() in _SWITCHES:
        return f"write {_SWITCHES[text.lower()]}"
    if value.__class__ is str:
        boolean = "true or false" in wanted and text in BOOLEANS
        if boolean or ("number" in wanted and as_number(text) is not None):
            return "remove the quotes"
    if "number" in wanted and _NUMERIC(text):
        return "write it in plain decimal digits, such as 1000"
    if "text" in wanted and value.__class__ in (int, float, bool, Num):
        return "put it in quotes"
    if value is None or (value.__class__ is Plain and text in NULLS):
        return "write a value or remove the key"
    return f"write a list: [{shown(text)}]" if "a list" in wanted and isinstance(value, str) else f"write {wanted}"


def unknown_key(key: str, path: Path, known: Mapping[str, Any], value: Mapping[str, Any]) -> Problem:
    """The problem of a key that may not stand here."""
    free = [k for k in known if k not in value]
    told = ", ".join(sorted(known))
    return Problem(
        "unknown-key",
        f"unknown key {shown(key)}{did_you_mean(key, free)}",
        f"known keys: {told}" if len(told) < 400 else "see the schema of this file for the known keys",
        pointer=pointer_of(path),
        on_key=True,
    )


def missing_key(key: str, path: Path, schema: Mapping[str, Any]) -> Problem:
    """The problem of a key that is not there."""
    described = schema.get("properties", {}).get(key, {})
    described = described if isinstance(described, dict) else {}
    values, about = described.get("enum"), described.get("description", "")
    more = f", one of {', '.join(map(str, values))}" if values else f". {about}" if about else ""
    return Problem("missing-key", f'the key "{key}" is missing', f"add `{key}:`{more}", pointer=pointer_of(path))


def too_many(problems: list[Problem]) -> list[Problem]:
    """At most ``limits.PROBLEMS`` problems; the last says how many more there are."""
    if len(problems) <= limits.PROBLEMS:
        return problems
    kept = problems[: limits.PROBLEMS]
    last = kept[-1]
    kept[-1] = last._replace(
        message=f"{last.message} (and {len(problems) - limits.PROBLEMS:,} more problems in this file)"
    )
    return kept
