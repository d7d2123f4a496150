"""The JSON Schema subset of our own schemas, as functions: one pass checks, coerces plain scalars, and copies.

Only what the schemas in ``ctxc/parse/schemas`` use is supported; a keyword that is not known is a fault of the schema.
The verdict is that of the ``jsonschema`` package (a test compares them); what differs is that a YAML scalar without
quotes becomes what the schema asks for, and that each problem names the exact place and the nearest legal name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ctxc.base.canonical import canonical
from ctxc.base.errors import InternalFault
from ctxc.parse.mismatch import (
    Check,
    Out,
    Path,
    closeness,
    list_types,
    missing_key,
    pointer_of,
    unknown_key,
    wrong_type,
)
from ctxc.parse.problems import Problem, shown
from ctxc.parse.scalar_checks import CLASSES, comparable, enum_of, scalar
from ctxc.parse.scalars import typed

_ANNOTATIONS = frozenset(("$schema", "$id", "$defs", "$comment", "title", "description", "default", "examples"))
_OF_TYPE = {
    "object": frozenset(("properties", "required", "additionalProperties", "propertyNames", "minProperties")),
    "array": frozenset(("items", "minItems", "maxItems", "uniqueItems")),
    "string": frozenset(("minLength", "maxLength", "pattern", "format")),
    "integer": frozenset(("minimum", "maximum", "exclusiveMinimum")),
    "number": frozenset(("minimum", "maximum", "exclusiveMinimum")),
    "boolean": frozenset[str](),
    "null": frozenset[str](),
}
_KEYWORDS = frozenset(("$ref", "type", "enum", "const", "anyOf")).union(*_OF_TYPE.values())


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
            return enum_of(schema["enum"] if "enum" in schema else [schema["const"]])
        types = _types(schema)
        if not types:
            return _anything
        if types == ("object",):
            return self._object(schema)
        if types == ("array",):
            return self._array(schema)
        if "object" in types or "array" in types:
            return self._mixed(types, schema)
        return scalar(types, schema)

    def _mixed(self, types: tuple[str, ...], schema: Mapping[str, Any]) -> Check:
        # A list of types with a collection in it is the same as one branch a type.
        branches = [{**schema, "type": t} for t in types]
        kept = [{k: v for k, v in b.items() if k == "type" or k in _OF_TYPE[b["type"]]} for b in branches]
        return self._any_of({"anyOf": kept})

    def _any_of(self, schema: Mapping[str, Any]) -> Check:
        branches = [(self._accepted(s), self.compile(s)) for s in schema["anyOf"]]
        wanted = list_types(t for types, _ in branches for t in types)
        by_class: dict[type, list[Check]] = {}
        for kind, names in CLASSES.items():
            by_class[kind] = [check for types, check in branches if not types or names & set(types)]

        def check_any(value: Any, path: Path, out: Out) -> Any:
            fitting = by_class.get(value.__class__, ())
            if len(fitting) == 1:
                return fitting[0](value, path, out)
            if not fitting:
                out.append(wrong_type(value, wanted, path))
                return None
            best: list[Problem] | None = None
            for check in fitting:
                mine: list[Problem] = []
                result = check(value, path, mine)
                if not any(p.is_error for p in mine):
                    out.extend(mine)
                    return result
                if best is None or closeness(mine, path) < closeness(best, path):
                    best = mine
            assert best is not None
            here = pointer_of(path)
            if all(p.pointer == here and p.name == "wrong-type" for p in best):
                out.append(wrong_type(value, wanted, path))
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
        wanted = list_types(("object",))

        def check_object(value: Any, path: Path, out: Out) -> Any:
            if value.__class__ is not dict:
                out.append(wrong_type(value, wanted, path))
                return None
            result = {}
            for key, item in value.items():
                check = find(key) or other
                if check is None:
                    out.append(unknown_key(key, (path, key), properties, value))
                    continue
                if check_name is not None:
                    _check_name(check_name, key, (path, key), out)
                result[key] = check(item, (path, key), out)
            for key in required:
                if key not in value:
                    out.append(missing_key(key, path, schema))
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
        wanted = list_types(("array",))

        def check_array(value: Any, path: Path, out: Out) -> Any:
            if value.__class__ is not list:
                out.append(wrong_type(value, wanted, path))
                return None
            result = [check_item(item, (path, number), out) for number, item in enumerate(value)]
            if len(value) < least or (most is not None and len(value) > most):
                bound = f"at least {least}" if len(value) < least else f"at most {most:,}"
                out.append(
                    Problem("bad-value", f"expected {bound} in this list, found {len(value):,}",
                            "add what is missing or remove what is too much", pointer=pointer_of(path))
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
        key = canonical(comparable(typed(item)))
        if key in seen:
            out.append(
                Problem("bad-value", f"{shown(item)} stands twice in this list", "remove one",
                        pointer=pointer_of((path, number)))
            )  # fmt: skip
        seen.setdefault(key, number)


def _types(schema: Mapping[str, Any]) -> tuple[str, ...]:
    given = schema.get("type", ())
    return (given,) if isinstance(given, str) else tuple(given)


def _type_of(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    return {str: "string", int: "integer", float: "number", type(None): "null"}[type(value)]


def _anything(value: Any, path: Path, out: Out) -> Any:
    return typed(value)
