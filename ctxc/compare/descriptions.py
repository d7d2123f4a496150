"""Descriptions inside schemas and tools, word by word: a model reads them like any other instruction."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ctxc.base.spans import Origin
from ctxc.base.values import dataclass
from ctxc.compare.hunks import Text, text_hunks
from ctxc.compare.lines import LineMap
from ctxc.model.change import Hunk, SchemaChange
from ctxc.model.project import Sources

SCHEMA_KEYS = ("input_schema", "inputSchema", "parameters", "schema")
"""Keys under which the forms of a definition have their schema."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """How much is told: lines around an edit, and the files in which definitions stand."""

    context: int = 0
    sources: Sources | None = None

    def line(self, origin: Origin) -> int | None:
        """The line of a value; None where there is no file."""
        if self.sources is None or not origin.path:
            return None
        span = self.sources.locate(origin).span
        return span.line if span is not None else None

    def schema_of(self, definition: Origin) -> Origin:
        """Where the schema of a definition stands: each form has another key for it."""
        if self.sources is not None:
            whole = self.sources.locate(definition).span
            for key in SCHEMA_KEYS:
                origin = definition.child(key)
                # A key that is not there is found where the definition begins.
                span = self.sources.locate(origin).span
                if span is not None and whole is not None and span[:2] != whole[:2]:
                    return origin
        return definition


def described(changes: Iterable[SchemaChange], definition: Origin, telling: Telling) -> tuple[Hunk, ...]:
    """The edits of the descriptions among some changes; ``/description`` alone is that of the definition itself."""
    found: list[Hunk] = []
    schema: Origin | None = None
    for change in changes:
        if change.kind != "description" or change.base == change.head:
            continue
        if change.pointer == "/description":
            origin = definition.child("description")
        else:
            schema = schema or telling.schema_of(definition)
            origin = Origin(schema.path, schema.pointer + change.pointer)
        line = telling.line(origin)
        sides = [
            Text(text=text, places=LineMap(path=origin.path, first=first))
            for text, first in ((change.base, None), (change.head, line))
        ]
        for hunk in text_hunks(sides[0], sides[1], telling.context):
            found.append(replace(hunk, base_line=None, head_line=line, pointer=change.pointer, also=()))
    return tuple(found)


def brief(changes: Iterable[SchemaChange]) -> tuple[SchemaChange, ...]:
    """The changes without the texts of descriptions: these are told as edits."""
    return tuple(replace(c, base="", head="") if c.kind == "description" else c for c in changes)
