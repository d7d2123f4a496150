"""The JSON Schema subset of our own schemas, as functions: one pass checks, coerces plain scalars, and copies.

Only what the schemas in ``ctxc/parse/schemas`` use is supported; a keyword that is not known is a fault of the schema.
The verdict is that of the ``jsonschema`` package (a test compares them); what differs is that a YAML scalar without
quotes becomes what the schema asks for, and that each problem names the exact place and the nearest legal name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from ctxc.base.canonical import canonical
from ctxc.base.errors import InternalFault
from ctxc.parse import limits
from ctxc.parse.nodes import escape
from ctxc.parse.problems import Problem, did_you_mean, nearest, shown
from ctxc.parse.scalars import BOOLEANS, NULLS, Num, Plain, as_integer, as_number, from_json_number, resolve, typed

Path: TypeAlias = "tuple[Path, str | int] | None"
"""Where a value stands, innermost first; None is the root."""

Out: TypeAlias = "list[Problem]"
Check: TypeAlias = Callable[[Any, Path, Out], Any]

_ANNOTATIONS = frozenset(
    [
        "$schema",
        "$id",
        "$defs",
        "$comment",
        "title",
        "description",
        "default",
        "examples",
        "deprecated",
        "readOnly",
        "writeOnly",
    ]
)
_KEYWORDS = frozenset(
    [
        "$ref",
        "type",
        "enum",
        "const",
        "anyOf",
        "properties",
        "required",
        "additionalProperties",
        "propertyNames",
        "minProperties",
        "items",
        "minItems",
        "maxItems",
        "uniqueItems",
        "minLength",
        "maxLength",
        "pattern",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "format",
    ]
)
_NAMES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
    "null": "nothing",
}


def pointer_of(path: Path) -> str:
    """The JSON pointer of a path."""
    parts: list[str] = []
    while path is not None:
        path, key = path
        parts.append(escape(str(key)))
    return "".join("/" + p for p in reversed(parts))


class Validator:
    """A compiled schema. ``check`` returns the coerced value; what is wrong is appended to ``out``."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._root = schema
        self._compiled: dict[str, Check] = {}

    def check(self, value: Any, out: list[Problem], *, ref: str = "#", path: Path = None) -> Any:
        """The value as the (sub)schema ``ref`` asks for, as ordinary Python data."""
        return self._of_ref(ref)(value, path, out)

    def _of_ref(self, ref: str) -> Check:
        known = self._compiled.get(ref)
        if known is not None:
            return known
        if ref == "#":
            target: Any = self._root
        elif ref.startswith("#/$defs/"):
            target = self._root["$defs"][ref[8:]]
        else:
            raise InternalFault(f"schema reference {ref!r} is not local")

        # A definition may refer to itself: until it is compiled, look it up when it is called.
        def later(value: Any, path: Path, out: Out) -> Any:
            return self._compiled[ref](value, path, out)

        self._compiled[ref] = later
        self._compiled[ref] = _Compiler(self._root, self._of_ref).compile(target)
        return self._compiled[ref]


class _Compiler:
    def __init__(self, root: Mapping[str, Any], of_ref: Callable[[str], Check]) -> None:
        self.root = root
        self.of_ref = of_ref

    def compile(self, schema: Any) -> Check:
        if schema is True or schema == {}:
            return _anything
        unknown = set(schema) - _ANNOTATIONS - _KEYWORDS
        if unknown:
            raise InternalFault(f"schema keywords {sorted(unknown)} are not supported")
        if "$ref" in schema:
            return self.of_ref(schema["$ref"])
        if "anyOf" in schema:
            return self._any_of(schema)
        if "enum" in schema or "const" in schema:
            return _enum(schema["enum"] if "enum" in schema else [schema["const"]])
        types = _types(schema)
        if not types:
            return _anything
        if types == ("object",):
            return self._object(schema)
        if types == ("array",):
            return self._array(schema)
        if "object" in types or "array" in types:
            return self._mixed(types, schema)
        return _scalar(types, schema)

    def _mixed(self, types: tuple[str, ...], schema: Mapping[str, Any]) -> Check:
        # A list of types with a collection in it is the same as one branch a type.
        branches = [{**schema, "type": t} for t in types]
        kept = [{k: v for k, v in b.items() if k in _KEYWORDS_OF[b["type"]]} for b in branches]
        return self._any_of({"anyOf": kept})

    def _any_of(self, schema: Mapping[str, Any]) -> Check:
        branches = [(self._accepted(s), self.compile(s)) for s in schema["anyOf"]]
        wanted = _list_types(t for types, _ in branches for t in types)
        by_class: dict[type, list[Check]] = {}
        for kind, names in _CLASSES.items():
            by_class[kind] = [check for types, check in branches if not types or names & set(types)]

        def check_any(value: Any, path: Path, out: Out) -> Any:
            fitting = by_class.get(value.__class__, ())
            if len(fitting) == 1:
                return fitting[0](value, path, out)
            if not fitting:
                out.append(_wrong_type(value, wanted, path))
                return None
            best: list[Problem] | None = None
            for check in fitting:
                mine: list[Problem] = []
                result = check(value, path, mine)
                if not any(p.is_error for p in mine):
                    out.extend(mine)
                    return result
                if best is None or _closeness(mine, path) < _closeness(best, path):
                    best = mine
            assert best is not None
            here = pointer_of(path)
            if all(p.pointer == here and p.name == "wrong-type" for p in best):
                out.append(_wrong_type(value, wanted, path))
            else:
                out.extend(best)
            return None

        return check_any

    def _accepted(self, schema: Any) -> tuple[str, ...]:
        """The types that a branch can accept; empty: any."""
        if schema is True:
            return ()
        if "$ref" in schema:
            return self._accepted(self.root["$defs"][schema["$ref"][8:]])
        if "anyOf" in schema:
            return tuple(dict.fromkeys(t for s in schema["anyOf"] for t in self._accepted(s)))
        if "enum" in schema:
            return tuple(dict.fromkeys(_type_of(v) for v in schema["enum"]))
        return _types(schema)

    def _object(self, schema: Mapping[str, Any]) -> Check:
        properties = {k: self.compile(v) for k, v in schema.get("properties", {}).items()}
        find = properties.get
        required = tuple(schema.get("required", ()))
        extra = schema.get("additionalProperties", True)
        other = None if extra is False else self.compile(extra)
        names = schema.get("propertyNames")
        check_name = self.compile(names) if names is not None else None
        least = schema.get("minProperties", 0)
        wanted = _list_types(("object",))

        def check_object(value: Any, path: Path, out: Out) -> Any:
            if value.__class__ is not dict:
                out.append(_wrong_type(value, wanted, path))
                return None
            result = {}
            for key, item in value.items():
                check = find(key) or other
                if check is None:
                    out.append(_unknown_key(key, (path, key), properties, value))
                    continue
                if check_name is not None:
                    _check_name(check_name, key, (path, key), out)
                result[key] = check(item, (path, key), out)
            for key in required:
                if key not in value:
                    out.append(_missing_key(key, path, schema))
            if len(value) < least:
                out.append(
                    Problem("bad-value", f"expected at least {least} key{'s' if least > 1 else ''}",
                            "add what is missing, or remove the mapping", pointer=pointer_of(path))
                )  # fmt: skip
            return result

        return check_object

    def _array(self, schema: Mapping[str, Any]) -> Check:
        check_item = self.compile(schema.get("items", True))
        least, most = schema.get("minItems", 0), schema.get("maxItems")
        unique = schema.get("uniqueItems", False)
        wanted = _list_types(("array",))

        def check_array(value: Any, path: Path, out: Out) -> Any:
            if value.__class__ is not list:
                out.append(_wrong_type(value, wanted, path))
                return None
            result = [check_item(item, (path, number), out) for number, item in enumerate(value)]
            if len(value) < least or (most is not None and len(value) > most):
                bound = f"at least {least}" if len(value) < least else f"at most {most}"
                out.append(
                    Problem("bad-value", f"expected {bound} in this list, found {len(value)}", "",
                            pointer=pointer_of(path))
                )  # fmt: skip
            if unique:
                _check_unique(value, path, out)
            return result

        return check_array


def _check_name(check: Check, key: str, path: Path, out: Out) -> None:
    mine: list[Problem] = []
    check(key, path, mine)
    out.extend(p._replace(on_key=True) for p in mine)


def _check_unique(value: list[Any], path: Path, out: Out) -> None:
    seen: dict[str, int] = {}
    for number, item in enumerate(value):
        key = canonical(_comparable(typed(item)))
        if key in seen:
            out.append(
                Problem("bad-value", f"{shown(item)} stands twice in this list", "remove one",
                        pointer=pointer_of((path, number)))
            )  # fmt: skip
        seen.setdefault(key, number)


def _comparable(value: Any) -> Any:
    """1 and 1.0 are equal in JSON Schema, 1 and true are not."""
    if value.__class__ is float and value.is_integer():
        return int(value)
    if value.__class__ is list:
        return [_comparable(v) for v in value]
    if value.__class__ is dict:
        return {k: _comparable(v) for k, v in value.items()}
    return value


def _types(schema: Mapping[str, Any]) -> tuple[str, ...]:
    given = schema.get("type", ())
    return (given,) if isinstance(given, str) else tuple(given)


_KEYWORDS_OF = {
    "object": frozenset(["type", "properties", "required", "additionalProperties", "propertyNames", "minProperties"]),
    "array": frozenset(["type", "items", "minItems", "maxItems", "uniqueItems"]),
    "string": frozenset(["type", "minLength", "maxLength", "pattern", "format"]),
    "integer": frozenset(["type", "minimum", "maximum", "exclusiveMinimum"]),
    "number": frozenset(["type", "minimum", "maximum", "exclusiveMinimum"]),
    "boolean": frozenset(("type",)),
    "null": frozenset(("type",)),
}
_CLASSES: dict[type, frozenset[str]] = {
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


def _type_of(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    return {str: "string", int: "integer", float: "number", type(None): "null"}[type(value)]


def _anything(value: Any, path: Path, out: Out) -> Any:
    return typed(value)


# --- scalars ------------------------------------------------------------


def _scalar(types: tuple[str, ...], schema: Mapping[str, Any]) -> Check:
    wanted = _list_types(types)
    allowed = frozenset(types)
    more = _constraints(schema)
    if types == ("string",) and more is None:

        def check_string(value: Any, path: Path, out: Out) -> Any:
            kind = value.__class__
            if kind is str:
                return value
            if kind is Plain and value not in NULLS:
                return str(value)
            out.append(_wrong_type(value, wanted, path))
            return None

        return check_string

    def check_scalar(value: Any, path: Path, out: Out) -> Any:
        kind = value.__class__
        if kind is Plain:
            result, fits = _from_plain(value, types)
        elif kind is Num:
            result, fits = _from_number(value, allowed)
        else:
            result, fits = value, bool(_CLASSES.get(kind, frozenset()) & allowed)
            if kind is float:
                fits = "number" in allowed or ("integer" in allowed and value.is_integer())
        if not fits:
            out.append(_wrong_type(value, wanted, path))
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
        checks.append(_range(schema.get("minimum"), schema.get("maximum"), schema.get("exclusiveMinimum")))
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


def _range(least: Any, most: Any, above: Any) -> Callable[[Any, Any, Path, Out], None]:
    bounds = [f"at least {least}" if least is not None else "", f"more than {above}" if above is not None else ""]
    said = " and ".join(b for b in (*bounds, f"at most {most}" if most is not None else "") if b)

    def check_range(value: Any, raw: Any, path: Path, out: Out) -> None:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return
        low = (least is not None and value < least) or (above is not None and value <= above)
        if low or (most is not None and value > most):
            out.append(
                Problem("bad-value", f"expected a number of {said}, found {value}", "", pointer=pointer_of(path))
            )

    return check_range


def _length(least: int, most: int | None) -> Callable[[Any, Any, Path, Out], None]:
    def check_length(value: Any, raw: Any, path: Path, out: Out) -> None:
        if not isinstance(value, str):
            return
        if len(value) < least:
            said = "expected text, found none" if not value else f"expected at least {least} characters"
            out.append(Problem("bad-value", said, "write a value or remove the key", pointer=pointer_of(path)))
        elif most is not None and len(value) > most:
            message = f"expected at most {most} characters, found {len(value)}"
            out.append(Problem("bad-value", message, "", pointer=pointer_of(path)))

    return check_length


def _pattern(pattern: str, description: str) -> Callable[[Any, Any, Path, Out], None]:
    find = re.compile(pattern).search

    def check_pattern(value: Any, raw: Any, path: Path, out: Out) -> None:
        if isinstance(value, str) and not find(value):
            message = f"{shown(value)} does not have the expected form"
            out.append(Problem("bad-value", message, description, pointer=pointer_of(path)))

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


def _enum(options: list[Any]) -> Check:
    exact = {canonical(_comparable(o)): o for o in options}
    texts = {o: o for o in options if isinstance(o, str)}
    said = ", ".join(str(o) if o is not None else "null" for o in options)

    def check_enum(value: Any, path: Path, out: Out) -> Any:
        if value.__class__ is Plain:
            if value in texts:
                return texts[value]
            key = canonical(_comparable(resolve(value)))
        elif value.__class__ is str:
            if value in texts:
                return value
            key = ""
        else:
            key = canonical(_comparable(typed(value)))
        if key in exact:
            return exact[key]
        near = nearest(str(value), texts) if isinstance(value, str) else ""
        hint = f'; did you mean "{near}"?' if near else ""
        out.append(
            Problem("bad-value", f"{_describe(value)} is not one of the values that may stand here{hint}",
                    f"expected one of: {said}", pointer=pointer_of(path))
        )  # fmt: skip
        return None

    return check_enum


# --- messages ------------------------------------------------------------


def _closeness(problems: list[Problem], path: Path) -> tuple[bool, int]:
    here = pointer_of(path)
    return any(p.pointer == here and p.name == "wrong-type" for p in problems), len(problems)


def _list_types(types: Any) -> str:
    names = list(dict.fromkeys(_NAMES[t] for t in types))
    if "a number" in names and "a whole number" in names:
        names.remove("a whole number")
    return " or ".join(names) if len(names) < 3 else ", ".join(names[:-1]) + " or " + names[-1]


def _describe(value: Any) -> str:
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


def _wrong_type(value: Any, wanted: str, path: Path) -> Problem:
    help = ""
    text = str(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else ""
    if "true or false" in wanted and text.lower() in ("yes", "no", "on", "off", "y", "n", "1", "0"):
        help = f"write {'true' if text.lower() in ('yes', 'on', 'y', '1') else 'false'}"
    elif ("true or false" in wanted and value.__class__ is str and value in BOOLEANS) or (
        "number" in wanted and value.__class__ is str and as_number(value) is not None
    ):
        help = "remove the quotes"
    elif "number" in wanted and text and re.match(r"[+-]?[0-9][0-9_.,eExXoOa-fA-F]*\Z", text):
        help = "write it in plain decimal digits, such as 1000"
    elif "text" in wanted and value.__class__ in (int, float, bool, Num):
        help = "put it in quotes"
    elif "a list" in wanted and isinstance(value, str):
        help = f"write a list: [{shown(value)}]" if value else "write a list, [] where it is empty"
    elif value is None or (value.__class__ is Plain and value in NULLS):
        help = "write a value or remove the key"
    return Problem("wrong-type", f"expected {wanted}, found {_describe(value)}", help, pointer=pointer_of(path))


def _unknown_key(key: str, path: Path, known: Mapping[str, Any], value: Mapping[str, Any]) -> Problem:
    free = [k for k in known if k not in value]
    told = ", ".join(sorted(known))
    return Problem(
        "unknown-key",
        f"unknown key {shown(key)}{did_you_mean(key, free)}",
        f"known keys: {told}" if len(told) < 400 else "see the schema of this file for the known keys",
        pointer=pointer_of(path),
        on_key=True,
    )


def _missing_key(key: str, path: Path, schema: Mapping[str, Any]) -> Problem:
    described = schema.get("properties", {}).get(key, {})
    told = described.get("description", "") if isinstance(described, dict) else ""
    return Problem("missing-key", f'the key "{key}" is missing', told or f"add `{key}:`", pointer=pointer_of(path))


def too_many(problems: list[Problem]) -> list[Problem]:
    """At most ``limits.PROBLEMS`` problems; the last says how many more there are."""
    if len(problems) <= limits.PROBLEMS:
        return problems
    kept = problems[: limits.PROBLEMS]
    last = kept[-1]
    kept[-1] = last._replace(
        message=f"{last.message} (and {len(problems) - limits.PROBLEMS} more problems in this file)"
    )
    return kept
