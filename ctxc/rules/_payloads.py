"""Putting a payload into a section: in place of every text that came with the request, and of its attributes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

from ctxc.model.fixture import Record
from ctxc.model.section import Authority, Kind, Message, Section, ToolCall

T = TypeVar("T")

RECORD_TEXTS = ("source", "locator", "version", "artifact_ref", "tool_name", "status", "call_id", "time")
"""Texts of a record that stand in a block's header or beside its content."""


def is_input(section: Section) -> bool:
    """Whether a section holds what came with the request: everything that is not the application's own text."""
    if section.kind in (Kind.TOOLS, Kind.CONTRACT, Kind.POLICY, Kind.FRAGMENT):
        return False
    if section.kind in (Kind.USER, Kind.FOCUS) or section.messages:
        return True
    return section.authority >= Authority.T2


class Poison:
    """Puts payloads into sections; of a section that comes again and again only what changes is made again."""

    def __init__(self) -> None:
        self._fields: dict[int, tuple[Any, dict[str, Any]]] = {}  # with the object itself, so that its id stays its own
        self._arguments: dict[str, Any] = {}

    def section(self, section: Section, payload: str, *, attributes: bool = True) -> Section:
        """The section with the payload in place of every text that came with the request, and of its attributes."""
        if section.messages:
            return self._with(section, messages=tuple([self._message(m, payload) for m in section.messages]))
        record = section.attributes.get("record")
        changed: dict[str, Any] = {}
        if isinstance(record, Record) and attributes:
            changed["attributes"] = {**section.attributes, "record": self._record(record, payload)}
            if record.source and section.source_uri == record.source:
                changed["source_uri"] = payload
            if record.version and section.source_version == record.version:
                changed["source_version"] = payload
            if section.item_id:
                changed["item_id"] = payload
        if section.has_value:
            changed["value"] = _mapped(section.value, payload)
        elif section.text:
            changed["text"] = payload
        return self._with(section, **changed)

    def _record(self, record: Record, payload: str) -> Record:
        changed: dict[str, Any] = {name: payload for name in RECORD_TEXTS if getattr(record, name)}
        if record.limitations:
            changed["limitations"] = tuple(payload for _ in record.limitations)
        if isinstance(record.attributes.get("error"), str):
            changed["attributes"] = {**record.attributes, "error": payload}
        return self._with(record, **changed)

    def _message(self, message: Message, payload: str) -> Message:
        calls = tuple([self._call(c, payload) for c in message.tool_calls])
        return self._with(message, content=payload if message.content else "", tool_calls=calls)

    def _call(self, call: ToolCall, payload: str) -> ToolCall:
        if call.arguments not in self._arguments:
            try:
                self._arguments[call.arguments] = json.loads(call.arguments)
            except ValueError:
                self._arguments[call.arguments] = None
        arguments = self._arguments[call.arguments]
        if not isinstance(arguments, dict):
            return call
        mapped = {k: _mapped(v, payload) for k, v in arguments.items()}
        return self._with(call, arguments=json.dumps({**mapped, "ctxc_payload": payload}, ensure_ascii=False))

    def _with(self, value: T, /, **changes: Any) -> T:
        """The value with other fields, as ``dataclasses.replace`` makes it."""
        known = self._fields.get(id(value))
        if known is None:
            known = self._fields[id(value)] = (value, {f.name: getattr(value, f.name) for f in fields(value)})  # type: ignore[arg-type]
        return value.__class__(**{**known[1], **changes})


def _mapped(value: Any, payload: str) -> Any:
    """Every text inside a value replaced; an object gets one more key, because keys come with the request too.

    Of a list the first entry takes the payload and the others stay: they are written by the same code.
    """
    if isinstance(value, str):
        return payload
    if isinstance(value, Mapping):
        found = {k: _mapped(v, payload) for k, v in value.items()}
        found.setdefault(payload, None)
        return found
    if isinstance(value, (list, tuple)):
        return [_mapped(value[0], payload), *value[1:]] if value else []
    return value


def wide(text: str) -> str:
    """The text in full-width forms, which normalisation turns back."""
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)
