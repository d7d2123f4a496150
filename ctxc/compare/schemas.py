"""Differences of JSON Schemas, and whether they break somebody.

A schema that becomes narrower refuses values that were fine: recorded tool calls and answers no longer satisfy it. One
that becomes wider lets through what a reader of answers never met. So a narrower schema breaks in both roles, and a
wider one breaks a contract where it touches types, allowed values, or what is always there. Keywords are those of
JSON Schema 2020-12; what a keyword means for breaking is a rule of this module, told in each reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from ctxc.base.canonical import canonical
from ctxc.compare.values import ABSENT, shown, value_changes
from ctxc.model.change import SchemaChange

Role: TypeAlias = Literal["input", "output"]
"""Of a tool's input schema (the model writes, the application checks), or of a contract (applications read, too)."""

_TEXTS = ("description", "title", "$comment")
_NOTES = ("examples", "default", "deprecated", "readOnly", "writeOnly", "format", "contentEncoding", "contentMediaType",
          "$id", "$schema", "$anchor")  # fmt: skip
_LOWER = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains")
_UPPER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains")
_SINGLE = ("items", "additionalProperties", "contains", "propertyNames", "unevaluatedProperties", "unevaluatedItems")
_NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_BRANCHES = ("anyOf", "oneOf", "allOf", "prefixItems")
_KNOWN = frozenset(
    (*_TEXTS, *_NOTES, *_LOWER, *_UPPER, *_SINGLE, *_NAMED, *_BRANCHES, "type", "enum", "const", "required")
)
_ALL_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
_SHOWN = 120  # code points of a value in a change


def schema_changes(base: Any, head: Any, role: Role) -> tuple[SchemaChange, ...]:
    """What differs between two schemas as values, in the order of their pointers; nothing where only order does."""
    return tuple(_schema(base, head, "", role)) if canonical(base) != canonical(head) else ()


def is_text_only(changes: Sequence[SchemaChange]) -> bool:
    """Whether nothing but descriptions and titles differs."""
    return bool(changes) and all(c.kind == "description" for c in changes)


def _schema(base: Any, head: Any, at: str, role: Role) -> Iterator[SchemaChange]:
    if canonical(base) == canonical(head):
        return
    if not isinstance(base, Mapping) or not isinstance(head, Mapping):
        yield from _boolean(base, head, at)
        return
    yield from _types(base, head, at, role)
    yield from _enums(base, head, at, role)
    yield from _required(base, head, at, role)
    yield from _properties(base, head, at, role)
    yield from _bounds(base, head, at)
    for key in _SINGLE:
        if key in base or key in head:
            yield from _single(base.get(key, True), head.get(key, True), f"{at}/{key}", key, role)
    for key in _NAMED[1:]:
        yield from _named(base.get(key), head.get(key), f"{at}/{key}", role)
    for key in _BRANCHES:
        yield from _branches(base.get(key), head.get(key), f"{at}/{key}", key, role)
    for key in _TEXTS:
        if base.get(key) != head.get(key):
            yield _change(f"{at}/{key}", "description", False, "description only", base, head, key)
    for key in _NOTES:
        if canonical(base.get(key)) != canonical(head.get(key)):
            yield _change(f"{at}/{key}", "annotation", False, f"{key} changed; it constrains nothing", base, head, key)
    yield from _others(base, head, at)


def _change(
    at: str, kind: str, breaking: bool, reason: str, base: Mapping[str, Any], head: Mapping[str, Any], key: str
) -> SchemaChange:
    return SchemaChange(
        pointer=at,
        kind=kind,
        breaking=breaking,
        reason=reason,
        base=_text(base.get(key, ABSENT)),
        head=_text(head.get(key, ABSENT)),
    )


def _text(value: Any) -> str:
    text = shown(value)
    return text if len(text) <= _SHOWN or isinstance(value, str) else text[: _SHOWN - 1] + "…"


def _boolean(base: Any, head: Any, at: str) -> Iterator[SchemaChange]:
    """One side is ``true`` (anything), ``false`` (nothing) or no schema at all."""
    narrower = base is True or base == {} or head is False
    reason = "constrained where anything was allowed" if narrower else "no longer constrained"
    yield SchemaChange(
        pointer=at,
        kind="narrowed" if narrower else "widened",
        breaking=narrower,
        reason=reason,
        base=_text(base),
        head=_text(head),
    )


def _type_set(schema: Mapping[str, Any]) -> frozenset[str]:
    found = schema.get("type")
    names = frozenset({found} if isinstance(found, str) else found if isinstance(found, list) else _ALL_TYPES)
    return names | {"integer"} if "number" in names else names


def _types(base: Mapping[str, Any], head: Mapping[str, Any], at: str, role: Role) -> Iterator[SchemaChange]:
    old, new = _type_set(base), _type_set(head)
    if old == new:
        return
    told = f"{_text(base.get('type', 'any'))} → {_text(head.get('type', 'any'))}"
    if new < old:
        yield _change(f"{at}/type", "type", True, f"type narrowed: {told}", base, head, "type")
    elif old < new:
        reason = f"type widened: {told}" + ("; readers meet a type that they do not know" if role == "output" else "")
        yield _change(f"{at}/type", "type", role == "output", reason, base, head, "type")
    else:
        yield _change(f"{at}/type", "type", True, f"type changed: {told}", base, head, "type")


def _values(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """Allowed values by their canonical text; None where all are allowed."""
    if "const" in schema:
        return {canonical(schema["const"]): schema["const"]}
    found = schema.get("enum")
    return {canonical(v): v for v in found} if isinstance(found, list) else None


def _enums(base: Mapping[str, Any], head: Mapping[str, Any], at: str, role: Role) -> Iterator[SchemaChange]:
    old, new = _values(base), _values(head)
    if old is None and new is None:
        return
    key = "const" if "const" in head or ("const" in base and "enum" not in head) else "enum"
    gone = [] if old is None or new is None else [v for k, v in old.items() if k not in new]
    more = [] if old is None or new is None else [v for k, v in new.items() if k not in old]
    if gone or old is None:
        told = f"{_list(gone)} is gone" if gone else "only listed values are left"
        reason = f"enum narrowed: {told}" + (f"; {_list(more)} is new" if more else "")
        yield _change(f"{at}/{key}", "enum", True, reason, base, head, key)
    elif more or new is None:
        told = f"{_list(more)} is new" if more else "any value is allowed"
        reason = f"enum widened: {told}" + ("; readers meet a value that they do not know" if role == "output" else "")
        yield _change(f"{at}/{key}", "enum", role == "output", reason, base, head, key)


def _list(values: Sequence[Any]) -> str:
    return ", ".join(canonical(v) for v in values[:5]) + (" ..." if len(values) > 5 else "")


def _names(schema: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = schema.get(key)
    if isinstance(found, Mapping):
        return dict(found)
    return dict.fromkeys(found) if isinstance(found, list) and all(isinstance(n, str) for n in found) else {}


def _required(base: Mapping[str, Any], head: Mapping[str, Any], at: str, role: Role) -> Iterator[SchemaChange]:
    old, new = _names(base, "required"), _names(head, "required")
    known, kept = _names(base, "properties"), _names(head, "properties")
    for name in new:
        if name not in old:
            reason = f'required field "{name}" added' if name not in known else f'field "{name}" is now required'
            yield SchemaChange(pointer=f"{at}/required", kind="required", breaking=True, reason=reason, head=name)
    for name in old:
        if name not in new and (name in kept or name not in known):
            reason = f'field "{name}" is no longer required'
            if role == "output":
                reason += "; readers may miss it"
            yield SchemaChange(
                pointer=f"{at}/required", kind="required", breaking=role == "output", reason=reason, base=name
            )


def _properties(base: Mapping[str, Any], head: Mapping[str, Any], at: str, role: Role) -> Iterator[SchemaChange]:
    old, new = _names(base, "properties"), _names(head, "properties")
    demanded = _names(head, "required")
    for name in old:
        place = f"{at}/properties/{_escape(name)}"
        if name in new:
            yield from _schema(old[name], new[name], place, role)
        else:
            who = "calls that pass it" if role == "input" else "readers of it"
            reason = f'field "{name}" removed: {who} break'
            yield SchemaChange(pointer=place, kind="property", breaking=True, reason=reason, base=_text(old[name]))
    for name in new:
        # A field that is required as well is told once, as that.
        if name not in old and name not in demanded:
            place = f"{at}/properties/{_escape(name)}"
            reason = f'optional field "{name}" added'
            yield SchemaChange(pointer=place, kind="property", breaking=False, reason=reason, head=_text(new[name]))


def _bounds(base: Mapping[str, Any], head: Mapping[str, Any], at: str) -> Iterator[SchemaChange]:
    for key in (*_LOWER, *_UPPER):
        old, new = _bound(base.get(key)), _bound(head.get(key))
        if old == new:
            continue
        if old is None or new is None:
            narrower = old is None
        else:
            narrower = new > old if key in _LOWER else new < old
        reason = f"{key} {'tightened' if narrower else 'loosened'}: {_text(base.get(key, '–'))} → "
        reason += _text(head.get(key, "–"))
        yield _change(f"{at}/{key}", "bound", narrower, reason, base, head, key)


def _bound(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _single(base: Any, head: Any, at: str, key: str, role: Role) -> Iterator[SchemaChange]:
    if canonical(base) == canonical(head):
        return
    if isinstance(base, Mapping) and isinstance(head, Mapping):
        yield from _schema(base, head, at, role)
        return
    if key in ("additionalProperties", "unevaluatedProperties"):
        closed = head is False
        reason = "unknown fields are refused" if closed else "unknown fields are no longer refused"
        if not closed and base is not False:
            reason = "what unknown fields may hold changed"
        yield SchemaChange(
            pointer=at, kind="additional", breaking=closed or base is True, reason=reason, base=_text(base),
            head=_text(head),
        )  # fmt: skip
        return
    yield from _boolean(base, head, at)


def _named(base: Any, head: Any, at: str, role: Role) -> Iterator[SchemaChange]:
    old, new = base if isinstance(base, Mapping) else {}, head if isinstance(head, Mapping) else {}
    # Where nothing refers to a definition any more, what it said is told by what refers elsewhere now.
    is_definition = at.endswith(("/$defs", "/definitions"))
    for name in dict.fromkeys((*old, *new)):
        place = f"{at}/{_escape(str(name))}"
        if name in old and name in new:
            yield from _schema(old[name], new[name], place, role)
        elif not is_definition:
            added = name in new
            reason = f'constraint on fields like "{name}" {"added" if added else "removed"}'
            yield SchemaChange(pointer=place, kind="narrowed" if added else "widened", breaking=added, reason=reason)
        else:
            reason = f'definition "{name}" {"added" if name in new else "removed"}'
            yield SchemaChange(pointer=place, kind="definition", breaking=False, reason=reason)


def _branches(base: Any, head: Any, at: str, key: str, role: Role) -> Iterator[SchemaChange]:
    old = {canonical(b): b for b in base} if isinstance(base, list) else {}
    new = {canonical(b): b for b in head} if isinstance(head, list) else {}
    gone = [b for k, b in old.items() if k not in new]
    more = [b for k, b in new.items() if k not in old]
    if len(gone) == len(more) == 1:
        place = f"{at}/{list(new.values()).index(more[0])}"
        yield from _schema(gone[0], more[0], place, role)
        return
    every = key in ("allOf", "prefixItems")  # all of these hold: one more is narrower; of the others one is enough
    for kind, branches in (("removed", gone), ("added", more)):
        for branch in branches:
            # Alternatives where there were none constrain what was free.
            narrower = (kind == "added") == every or (not old and kind == "added")
            reason = f"{key}: a branch was {kind}" + (" and no alternative is left" if not new else "")
            breaking = narrower and not (kind == "removed" and not new)
            yield SchemaChange(
                pointer=at,
                kind="narrowed" if narrower else "widened",
                breaking=breaking or (role == "output" and not narrower),
                reason=reason,
                base=_text(branch) if kind == "removed" else "",
                head=_text(branch) if kind == "added" else "",
            )


def _others(base: Mapping[str, Any], head: Mapping[str, Any], at: str) -> Iterator[SchemaChange]:
    """Keywords that are not judged: a constraint whose direction nobody can tell breaks, a note does not."""
    for key in dict.fromkeys((*base, *head)):
        if key in _KNOWN or canonical(base.get(key)) == canonical(head.get(key)):
            continue
        if key == "uniqueItems":
            narrower = bool(head.get(key))
            reason = f"uniqueItems {'demanded' if narrower else 'no longer demanded'}"
            yield _change(f"{at}/{key}", "bound", narrower, reason, base, head, key)
        elif key in _HARD:
            gone = key not in head
            reason = f"{key} removed" if gone else f"{key} {'added' if key not in base else 'changed'}"
            yield _change(f"{at}/{key}", "constraint", not gone, reason, base, head, key)
        else:
            for change in value_changes(base.get(key), head.get(key)):
                place = "".join(f"/{_escape(str(k))}" for k in (key, *change.path))
                reason = f"{key}: {change.kind}; not a keyword of JSON Schema"
                yield SchemaChange(
                    pointer=at + place, kind="annotation", breaking=False, reason=reason, base=_text(change.base),
                    head=_text(change.head),
                )  # fmt: skip


_HARD = ("pattern", "multipleOf", "not", "if", "then", "else", "$ref", "$dynamicRef", "dependentRequired")


def _escape(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
