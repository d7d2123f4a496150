"""Two definitions of one tool: T117 (changed without a new version) and T118 (allowed more than before)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ctxc.base.canonical import canonical
from ctxc.base.escaping import visible
from ctxc.detect.match import Match, in_order
from ctxc.detect.tool_definition import (
    DEFINITION_KEYS,
    definition_digest,
    escape,
    input_schema,
    name_of,
    output_schema,
    problem,
    unwrap,
)
from ctxc.detect.tools import DESTRUCTIVE, words_of
from ctxc.model.finding import Severity

_ERROR, _WARNING = Severity.ERROR, Severity.WARNING
_HINTS = (("readOnlyHint", True), ("destructiveHint", False), ("openWorldHint", False), ("idempotentHint", True))
_LIMITS = (("maximum", 1), ("maxLength", 1), ("maxItems", 1), ("minimum", -1), ("minLength", -1), ("minItems", -1))


def compare_tool(
    old: Mapping[str, object], new: Mapping[str, object], *, version_changed: bool = False
) -> tuple[Match, ...]:
    """What a new definition of a tool changes; the pointers lead into the new one.

    T117 names every changed part where no version says that the change was meant (``version_changed``, or a ``version``
    of the definition itself that differs). T118 says where the new definition allows more, whatever the version.
    """
    if definition_digest(old) == definition_digest(new):
        return ()
    found = list(_widened(old, new))
    if not version_changed and unwrap(old)[0].get("version") == unwrap(new)[0].get("version"):
        found.extend(_changed(old, new))
    return in_order(found)


def _parts(tool: Mapping[str, object]) -> dict[str, tuple[object, str]]:
    """Each part of the definition with its pointer."""
    inner, prefix = unwrap(tool)
    parts: dict[str, tuple[object, str]] = {
        key: (inner[key], f"{prefix}/{key}") for key in DEFINITION_KEYS if key in inner
    }
    for key, found in (("inputSchema", input_schema(tool)), ("outputSchema", output_schema(tool))):
        if found is not None:
            parts[key] = found
    return parts


def _changed(old: Mapping[str, object], new: Mapping[str, object]) -> Iterator[Match]:
    """T117: one match a changed part."""
    before, after = _parts(old), _parts(new)
    prefix = unwrap(new)[1]
    for key in DEFINITION_KEYS:
        if key in before and key not in after:
            yield problem("T117", _ERROR, f"{key} was removed without a new version", prefix)
        elif key in after and (key not in before or canonical(before[key][0]) != canonical(after[key][0])):
            verb = "changed" if key in before else "added"
            yield problem("T117", _ERROR, f"{key} was {verb} without a new version", after[key][1])


def _widened(old: Mapping[str, object], new: Mapping[str, object]) -> Iterator[Match]:
    """T118: verbs, hints and schemas that allow more."""
    prefix = unwrap(new)[1]
    before, after = words_of(name_of(old)), words_of(name_of(new))
    for word in after:
        if word in DESTRUCTIVE and word not in before:
            yield problem("T118", _ERROR, f"the name now says {word!r}", f"{prefix}/name")
    hints_before, hints_after = unwrap(old)[0].get("annotations"), unwrap(new)[0].get("annotations")
    for hint, careful in _HINTS:
        was = hints_before.get(hint) if isinstance(hints_before, Mapping) else None
        now = hints_after.get(hint) if isinstance(hints_after, Mapping) else None
        if was is careful and now is not careful:
            yield problem("T118", _ERROR, f"{hint} is no longer {str(careful).lower()}", f"{prefix}/annotations")
    schema_before, schema_after = input_schema(old), input_schema(new)
    if schema_before is not None and schema_after is not None:
        yield from _wider_schema(schema_before[0], schema_after[0], schema_after[1], 0)


def _wider_schema(old: object, new: object, pointer: str, depth: int) -> Iterator[Match]:
    """Where a schema takes what its predecessor refused."""
    if not isinstance(old, Mapping) or not isinstance(new, Mapping) or depth > 32:
        return
    if old.get("additionalProperties") is False and new.get("additionalProperties") is not False:
        yield problem("T118", _ERROR, "additionalProperties was opened", pointer)
    was, now = _names(old.get("required")), _names(new.get("required"))
    for name in sorted(was - now):
        yield problem("T118", _ERROR, f"{visible(name, 40)!r} is no longer required", f"{pointer}/required")
    yield from _wider_values(old, new, pointer)
    before, after = old.get("properties"), new.get("properties")
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name, schema in after.items():
            place = f"{pointer}/properties/{escape(str(name))}"
            if name in before:
                yield from _wider_schema(before[name], schema, place, depth + 1)
            else:
                yield problem("T118", _WARNING, f"new argument {visible(str(name), 40)!r}", place)
    yield from _wider_schema(old.get("items"), new.get("items"), f"{pointer}/items", depth + 1)


def _wider_values(old: Mapping[str, object], new: Mapping[str, object], pointer: str) -> Iterator[Match]:
    """Types, choices, patterns and limits of one schema."""
    choices_before, choices_after = old.get("enum"), new.get("enum")
    if isinstance(choices_before, list | tuple):
        if not isinstance(choices_after, list | tuple):
            yield problem("T118", _ERROR, "the list of allowed values was removed", pointer)
        elif added := {canonical(c) for c in choices_after} - {canonical(c) for c in choices_before}:
            shown = visible(", ".join(sorted(added)), 60)
            yield problem("T118", _ERROR, f"more values are allowed: {shown}", f"{pointer}/enum")
    kinds_before, kinds_after = _kinds(old.get("type")), _kinds(new.get("type"))
    if kinds_before and (not kinds_after or kinds_after - kinds_before):
        yield problem("T118", _ERROR, "more types are allowed", f"{pointer}/type" if kinds_after else pointer)
    for key in ("pattern", "const", "format"):
        if key in old and key not in new:
            yield problem("T118", _ERROR, f"{key} was removed", pointer)
    for key, sign in _LIMITS:
        limit_before, limit_after = old.get(key), new.get(key)
        if isinstance(limit_before, int | float):
            if not isinstance(limit_after, int | float):
                yield problem("T118", _ERROR, f"{key} was removed", pointer)
            elif sign * limit_after > sign * limit_before:
                yield problem("T118", _ERROR, f"{key} went from {limit_before} to {limit_after}", f"{pointer}/{key}")


def _names(value: object) -> set[str]:
    return {name for name in value if isinstance(name, str)} if isinstance(value, list | tuple) else set()


def _kinds(value: object) -> set[str]:
    return {value} if isinstance(value, str) else _names(value)
