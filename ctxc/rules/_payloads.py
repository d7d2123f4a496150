"""Putting a payload into a section: in place of every text that came with the request, and of its attributes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ctxc.model.fixture import Record
from ctxc.model.section import Authority, Kind, Message, Section, ToolCall

RECORD_TEXTS = ("source", "locator", "version", "artifact_ref", "tool_name", "status", "call_id", "time")
"""Texts of a record that stand in a block's header or beside its content."""


def is_input(section: Section) -> bool:
    """Whether a section holds what came with the request: everything that is not the application's own text."""
    if section.kind in (Kind.TOOLS, Kind.CONTRACT, Kind.POLICY, Kind.FRAGMENT):
        return False
    if section.kind in (Kind.USER, Kind.FOCUS) or section.messages:
        return True
    return section.authority >= Authority.T2


def poisoned(section: Section, payload: str, *, attributes: bool = True) -> Section:
    """The section with the payload in place of every text that came with the request, and of its attributes."""
    if section.messages:
        return replace(section, messages=tuple(_message(m, payload) for m in section.messages))
    record = section.attributes.get("record")
    changed: dict[str, Any] = {}
    if isinstance(record, Record) and attributes:
        changed["attributes"] = {**section.attributes, "record": _record(record, payload)}
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
    return replace(section, **changed)


def _record(record: Record, payload: str) -> Record:
    changed: dict[str, Any] = {name: payload for name in RECORD_TEXTS if getattr(record, name)}
    if record.limitations:
        changed["limitations"] = tuple(payload for _ in record.limitations)
    if isinstance(record.attributes.get("error"), str):
        changed["attributes"] = {**record.attributes, "error": payload}
    return replace(record, **changed)


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


def _message(message: Message, payload: str) -> Message:
    return replace(
        message,
        content=payload if message.content else "",
        tool_calls=tuple(_call(c, payload) for c in message.tool_calls),
    )


def _call(call: ToolCall, payload: str) -> ToolCall:
    try:
        arguments = json.loads(call.arguments)
    except ValueError:
        return call
    if not isinstance(arguments, dict):
        return call
    mapped = {k: _mapped(v, payload) for k, v in arguments.items()}
    return replace(call, arguments=json.dumps({**mapped, "ctxc_payload": payload}, ensure_ascii=False))
