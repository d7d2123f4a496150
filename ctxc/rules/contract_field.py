"""A contract whose refusal, citations or `required` name a field that its schema does not have.

Why: The model is told to write into a field that its answer may not contain.

Bad:

    # file: templates/answer.yaml
    contract_id: answer
    version: 1
    schema: {type: object, properties: {answer: {type: string}}}
    refusal: {field: reply, text: cannot be confirmed}

Good:

    # file: templates/answer.yaml
    contract_id: answer
    version: 1
    schema: {type: object, properties: {answer: {type: string}}}
    refusal: {field: answer, text: cannot be confirmed}

Mend: Write the field as the schema has it; `findings[].citations` leads into the items of a list.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ctxc.base.spans import Origin
from ctxc.model.finding import Finding
from ctxc.parse.nodes import tokens
from ctxc.parse.problems import did_you_mean
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """``refusal.field`` and ``citations.field``, followed through the schema, and each ``required`` in it."""
    for contract in (c for versions in context.project.contracts.values() for c in versions):
        for origin, name, known in _undeclared(contract.schema, contract.origin.child("schema")):
            yield RULE.finding(
                context,
                f"contract {contract.id!r} requires the field {name!r}, which is no property beside it"
                f"{did_you_mean(name, known)}",
                at=origin,
                help=f"fields: {', '.join(sorted(known)) or 'none'}",
                data={"field": name},
            )
        for key, value in (("refusal", contract.refusal), ("citations", contract.citations)):
            field = value.get("field")
            if not isinstance(field, str) or not contract.schema:
                continue
            missing = _missing(contract.schema, field)
            if missing is not None:
                name, known = missing
                yield RULE.finding(
                    context,
                    f"the schema of contract {contract.id!r} has no field {name!r}{did_you_mean(name, known)}",
                    at=contract.origin.child(key, "field"),
                    help=f"fields: {', '.join(sorted(known)) or 'none'}",
                    data={"field": field},
                )


_PARTS = frozenset(("allOf", "anyOf", "oneOf", "if", "then", "else", "not", "dependentSchemas"))
_NAMED = frozenset(("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"))
_VALUES = frozenset(("enum", "const", "default", "example", "examples"))
_ELSEWHERE = frozenset(("$ref", "patternProperties", *_PARTS))


def _undeclared(
    schema: Any, origin: Origin, *, whole: bool = True, named: bool = False
) -> Iterator[tuple[Origin, str, tuple[str, ...]]]:
    """Names under ``required`` of an object that its ``properties`` do not have, with those that they have.

    Not where another part of the schema may declare them: beside a reference or a composition (``_ELSEWHERE``), or in a
    part of one (not ``whole``). ``named``: the keys of this mapping are names of schemas.
    """
    if isinstance(schema, (list, tuple)):
        for number, value in enumerate(schema):
            yield from _undeclared(value, origin.child(number), whole=whole)
    if not isinstance(schema, Mapping):
        return
    if not named and whole and _ELSEWHERE.isdisjoint(schema):
        required, properties = schema.get("required"), schema.get("properties")
        if isinstance(required, (list, tuple)) and isinstance(properties, Mapping):
            for number, name in enumerate(required):
                if isinstance(name, str) and name not in properties:
                    yield origin.child("required", number), name, tuple(properties)
    for key, value in schema.items():
        if named:
            yield from _undeclared(value, origin.child(key), whole=whole)
        elif key not in _VALUES:
            # The cases of a choice stand for themselves where nothing is declared beside them.
            part = key in _PARTS and (key not in ("anyOf", "oneOf") or "properties" in schema or not whole)
            yield from _undeclared(value, origin.child(key), whole=not part, named=key in _NAMED)


def _missing(schema: Mapping[str, Any], path: str) -> tuple[str, tuple[str, ...]] | None:
    """The first part of a dotted path that the schema does not have, with the names beside it; None where all are."""
    here: Any = schema
    for part in path.split("."):
        name = part.removesuffix("[]")
        here = _followed(schema, here)
        if not isinstance(here, Mapping):
            return name, ()
        properties = here.get("properties")
        if not isinstance(properties, Mapping) or name not in properties:
            if not properties and here.get("additionalProperties") is not False:
                return None  # an open object: nothing can be said
            return name, tuple(properties or ())
        here = _followed(schema, properties[name])
        if part.endswith("[]") and isinstance(here, Mapping):
            here = here.get("items", {})
    return None


def _followed(schema: Mapping[str, Any], value: Any) -> Any:
    """The definition behind a local reference, a few steps deep."""
    for _ in range(8):
        ref = value.get("$ref") if isinstance(value, Mapping) else None
        if not isinstance(ref, str) or not ref.startswith("#/"):
            return value
        value = schema
        for token in tokens(ref[1:]):
            value = value.get(token) if isinstance(value, Mapping) else None
    return value


RULE = rule(__name__, __doc__, check)
