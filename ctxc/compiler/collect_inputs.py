"""Collecting inputs: values, records and the conversation of a fixture, and what no section takes up."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ctxc.base.spans import Origin
from ctxc.compiler.candidates import Candidates
from ctxc.compiler.conversation import pending_calls, units
from ctxc.compiler.faults import fault
from ctxc.compiler.stage import Refused
from ctxc.model.fixture import Record
from ctxc.model.package import Decision
from ctxc.model.section import DROP, Authority, Kind, Message, Tier, Zone
from ctxc.model.template import SectionSpec

STAGE = "collect"

RECORD_KINDS = {
    Kind.MEMORY: "memory",
    Kind.EVIDENCE: "evidence",
    Kind.TOOL_RESULT: "tool_results",
    Kind.HANDOFF: "handoff",
    Kind.EXAMPLES: "examples",
}

_UNFINISHED = ("pending", "running", "in_progress", "unfinished")

_PLAIN_STATUS = ("", "ok", "success", "succeeded")

_UNSENDABLE = {
    "orphan": ("orphan_result", "its call is not in the history: every provider refuses such a result"),
    "unanswered": ("unanswered_call", "a call without its result inside the history: every provider refuses it"),
    "blank": ("empty", "nothing but white space"),
}


def absent(candidates: Candidates, spec: SectionSpec, why: str, *, mend: str, at: Origin | None = None) -> None:
    """A section without content: noted, or refused where the template requires it. ``mend``: what is to be done then;
    ``at``: of what is there and holds nothing."""
    if spec.required and spec.kind not in (Kind.TOOLS, Kind.HISTORY):
        raise Refused(
            fault(
                candidates.request.project,
                "missing-input",
                f"section {spec.id!r} is required and {why}",
                at=at or candidates.request.fixture.origin,
                fixture=candidates.request.fixture.id,
                help=f"{mend}, or make the section not required",
                related=((spec.origin, "the section"),),
            )
        )
    candidates.decisions.append(Decision(section_id=spec.id, stage=STAGE, verdict="noted", reason=f"empty: {why}"))


def _absent_input(candidates: Candidates, spec: SectionSpec, key: str, lacks: str = "") -> None:
    """An input that the fixture does not have; or that it has, and that is empty or ``lacks`` what is wanted of it."""
    inputs = candidates.request.fixture.inputs
    if not lacks and key not in inputs.empty:
        absent(candidates, spec, f"the fixture has no inputs.{key}", mend=f"add `inputs.{key}` to the fixture")
        return
    at = candidates.request.fixture.origin.child("inputs", *key.split("."))
    why = f"inputs.{key} of the fixture {lacks or 'is empty'}"
    absent(candidates, spec, why, mend=f"write something in `inputs.{key}` of the fixture", at=at)


def collect_runtime(candidates: Candidates, spec: SectionSpec) -> None:
    key = spec.source.partition(".")[2] or spec.id
    values = candidates.request.fixture.inputs.values
    candidates.taken.add(key)
    value, found = _dig(values, key)
    origin = candidates.request.fixture.origin.child("inputs", *key.split("."))
    if not found:
        _absent_input(candidates, spec, key)
        return
    if value is None or (isinstance(value, str) and not value.strip()):
        _absent_input(candidates, spec, key, "is empty")
        return
    uri = f"fixture:inputs.{key}"
    sensitive = candidates.is_sensitive(f"inputs.{key}")
    if isinstance(value, str):
        candidates.add(spec, text=value, uri=uri, origin=origin, sensitive=sensitive)
    else:
        candidates.add(spec, value=value, has_value=True, uri=uri, origin=origin, sensitive=sensitive)


def collect_focus(candidates: Candidates, spec: SectionSpec) -> None:
    key = spec.source.partition(".")[2] or "state"
    state, found = _dig(candidates.request.fixture.inputs.values, key)
    fields = candidates.request.template.focus
    if not found or not isinstance(state, Mapping):
        _absent_input(candidates, spec, key, "has no fields to recite" if found else "")
        return
    recited = {}
    for name in fields or tuple(state):
        value, there = _dig(state, name)
        if there:
            recited[name] = value
    if not recited:
        _absent_input(candidates, spec, key, "holds none of the fields to recite")
        return
    candidates.taken.add(key)
    candidates.add(
        spec,
        value=recited,
        has_value=True,
        uri=f"fixture:inputs.{key}",
        origin=candidates.request.fixture.origin.child("inputs", *key.split(".")),
        sensitive=any(candidates.is_sensitive(f"inputs.{key}.{name}") for name in recited),
    )


def collect_records(candidates: Candidates, spec: SectionSpec) -> None:
    name = RECORD_KINDS[spec.kind]
    key = spec.source.partition(".")[2]
    if key and key != name:  # another input than the one that holds records of this kind
        collect_runtime(candidates, spec)
        return
    candidates.taken.add(name)
    records: tuple[Record, ...] = getattr(candidates.request.fixture.inputs, name)
    if not records:
        _absent_input(candidates, spec, name)
        return
    for record in records:
        _record(candidates, spec, record)


def _record(candidates: Candidates, spec: SectionSpec, record: Record) -> None:
    authority: Authority | None = None
    if spec.kind is Kind.EXAMPLES:
        authority = Authority.T3 if record.attributes.get("from_user") else None
    tier: Tier | None = None
    if spec.kind is Kind.EVIDENCE and _is_required(candidates, record):
        tier = Tier.P1
    if spec.kind is Kind.TOOL_RESULT and record.call_id in _pending(candidates):
        _answer(candidates, spec, record)
        return
    if spec.kind is Kind.TOOL_RESULT and record.status in _UNFINISHED:
        tier = Tier.P2
    candidates.add(
        spec,
        suffix=record.id,
        text=record.text,
        value=record.value,
        has_value=record.has_value,
        uri=record.source or f"fixture:inputs.{RECORD_KINDS[spec.kind]}",
        version=record.version,
        origin=record.origin,
        item_id=record.id,
        authority=authority,
        tier=tier,
        record=record,
        required=True if tier is Tier.P1 else None,
        sensitive=candidates.is_sensitive(f"inputs.{RECORD_KINDS[spec.kind]}.{record.id}"),
    )


def _answer(candidates: Candidates, spec: SectionSpec, record: Record) -> None:
    """The result that an open call of the conversation waits for stands in the provider's own place for it."""
    data = record.value if record.has_value else record.text
    content = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    if record.truncated or record.artifact_ref or record.status not in _PLAIN_STATUS:
        # A model that is not told that a result is partial takes the part for the whole.
        envelope = {"status": record.status, "truncated": record.truncated, "artifact_ref": record.artifact_ref}
        content = json.dumps({**{k: v for k, v in envelope.items() if v}, "data": data}, ensure_ascii=False)
    candidates.add(
        spec,
        suffix=record.id,
        messages=(
            Message(
                role="tool",
                content=content,
                tool_call_id=record.call_id,
                is_error=record.status in ("error", "failed"),
                origin=record.origin,
            ),
        ),
        uri=record.source or "fixture:inputs.tool_results",
        version=record.version,
        origin=record.origin,
        item_id=record.id,
        tier=Tier.P2,
        zone=Zone.TURN,
        record=record,
        attributes={"answers": record.call_id},
        sensitive=candidates.is_sensitive(f"inputs.tool_results.{record.id}"),
    )


def _is_required(candidates: Candidates, record: Record) -> bool:
    return record.required or record.id in candidates.request.fixture.expect.required_evidence


def collect_history(candidates: Candidates, spec: SectionSpec) -> None:
    inputs = candidates.request.fixture.inputs
    candidates.taken.add("history")
    if inputs.summary:
        candidates.add(
            spec,
            suffix="summary",
            text=inputs.summary,
            uri="fixture:inputs.summary",
            origin=candidates.request.fixture.origin.child("inputs", "summary"),
            authority=Authority.T2,
            tier=Tier.P4,
            zone=Zone.DATA,
            overflow=DROP,
            attributes={"summary": True},
        )
    if not inputs.history:
        if not inputs.summary:
            _absent_input(candidates, spec, "history")
        return
    for number, unit in enumerate(units(inputs.history)):
        tier = Tier.P2 if unit.unfinished else None
        candidates.add(
            spec,
            suffix=str(number),
            messages=unit.messages,
            uri="fixture:inputs.history",
            origin=unit.messages[0].origin,
            turn=unit.turn,
            authority=unit.authority,
            tier=tier,
            attributes={"roles": [m.role for m in unit.messages], "opens_turn": unit.opens_turn},
            sensitive=candidates.is_sensitive("inputs.history"),
        )
        for role in sorted({m.role for m in unit.messages} & {"system", "developer"}):
            why = f"demoted: a recorded {role} message is shown as the user's; a history instructs nobody"
            name = candidates.sections[-1].section_id
            candidates.decisions.append(Decision(section_id=name, stage=STAGE, verdict="noted", reason=why))
        if unit.fault:
            candidates.set_aside(*_UNSENDABLE[unit.fault])


def collect_leftovers(candidates: Candidates) -> None:
    """Inputs that the template has no place for."""
    inputs = candidates.request.fixture.inputs
    for kind, name in RECORD_KINDS.items():
        if name in candidates.taken:
            continue
        spec = SectionSpec(id=name, kind=kind, source="runtime", origin=candidates.request.fixture.origin)
        for record in getattr(inputs, name):
            _leave(candidates, spec, record.id, text=record.text, value=record.value, has_value=record.has_value)
    if "history" not in candidates.taken and inputs.history:
        spec = SectionSpec(id="history", kind=Kind.HISTORY, source="runtime", origin=candidates.request.fixture.origin)
        for number, unit in enumerate(units(inputs.history)):
            _leave(candidates, spec, str(number), messages=unit.messages)
    for key in inputs.values:
        if key in candidates.taken or any(t.startswith(key + ".") for t in candidates.taken):
            continue
        value = inputs.values[key]
        spec = SectionSpec(id=key, kind=Kind.STATE, source="runtime", origin=candidates.request.fixture.origin)
        if isinstance(value, str):
            _leave(candidates, spec, "", text=value)
        else:
            _leave(candidates, spec, "", value=value, has_value=True)
    if inputs.fragments and "fragments" not in candidates.taken:
        spec = SectionSpec(
            id="fragments", kind=Kind.FRAGMENT, source="runtime", origin=candidates.request.fixture.origin
        )
        for name in inputs.fragments:
            _leave(candidates, spec, name)


def _leave(candidates: Candidates, spec: SectionSpec, suffix: str, **content: Any) -> None:
    candidates.add(spec, suffix=suffix, uri=f"fixture:inputs.{spec.id}", **content)
    candidates.set_aside("no_section", f"the template has no section for inputs.{spec.id}")


def _pending(candidates: Candidates) -> frozenset[str]:
    """Ids of the calls that wait for a result, where the template shows the conversation at all."""
    request = candidates.request
    if not any(s.kind is Kind.HISTORY for s in request.template.sections):
        return frozenset()
    return pending_calls(request.fixture.inputs.history)


def _dig(values: Any, path: str) -> tuple[Any, bool]:
    """A value by dotted path, and whether it is there."""
    if isinstance(values, Mapping) and path in values:
        return values[path], True
    current = values
    for key in path.split("."):
        if not isinstance(current, Mapping) or key not in current:
            return None, False
        current = current[key]
    return current, True
