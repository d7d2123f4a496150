"""Evidence, memory, tool results and hand-offs, with the field names that people use, as neutral records.

The shapes are those of evidence candidates and packets, tool-result envelopes, memory records and hand-off packets
in the guides that docs/decisions.md names. What has no place in a record is kept in its ``attributes``.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ctxc.model.finding import Severity
from ctxc.model.fixture import Record
from ctxc.model.section import Verification
from ctxc.parse.context import File, child, text_of, texts
from ctxc.parse.problems import nearest, shown
from ctxc.parse.record_keys import SCORES, WEIGHED, check_spelling, check_type, decides, is_number

_ID = {
    "evidence": ("evidence_id", "id", "chunk_id", "ref"),
    "memory": ("memory_id", "id"),
    "tool_results": ("id", "tool_call_id", "call_id"),
    "handoff": ("handoff_id", "id"),
    "examples": ("example_id", "id"),
}
_TEXT = ("text", "content", "body", "snippet")
_DATA = ("data", "result", "output", "value")

# Fields of a record that one of several names gives, the first of which wins.
_FIELDS = {
    "source": ("source_uri", "source", "source_id", "source_ref", "uri", "url"),
    "version": ("source_version", "version"),
    "locator": ("locator",),
    "tenant": ("tenant", "tenant_id"),
    "topic": ("topic",),
    "claim": ("claim", "candidate_claim"),
    "valid_from": ("valid_from",),
    "valid_until": ("valid_until", "expires_at", "expires"),
    "artifact_ref": ("artifact_ref",),
    "status": ("status",),
    "call_id": ("tool_call_id", "call_id"),
    "tool_name": ("tool_name",),
    "time": (
        "published_at", "collected_at", "updated_at", "finished_at", "created_at", "timestamp", "time",
    ),
}  # fmt: skip
_FIELD_OF = {key: (name, rank) for name, keys in _FIELDS.items() for rank, key in enumerate(keys)}
_TIMES = frozenset(_FIELDS["time"])
_OTHERS = frozenset(
    (
        "permissions", "verification", "trust_level", "revoked", "required", "truncated", "supersedes", "limitations",
        "scores", "score",
    )
)  # fmt: skip
_OPEN_TO_ALL = frozenset(("", "public", "all", "everyone"))
_GONE = frozenset(("revoked", "deleted", "retracted", "withdrawn"))


def read_records(kind: str, items: list[Any], file: File, pointer: str = "") -> tuple[Record, ...]:
    """The records of a list; what cannot be read is reported at its place and left out."""
    found = []
    seen: dict[str, int] = {}
    for number, item in enumerate(items):
        at = child(pointer, number)
        record = _read(kind, item, number, file, at)
        if record is None:
            continue
        if record.id in seen and isinstance(item, dict):
            file.problem(
                "duplicate-id",
                f"the id {shown(record.id)} stands twice in this list (first as item {seen[record.id] + 1})",
                "give each record an id of its own",
                at=at,
                data={"first": file.path, "first_pointer": child(pointer, seen[record.id])},
            )
            continue
        seen[record.id] = number
        found.append(record)
    _check_supersession([r for r in found if r.supersedes and not r.revoked], items, file)
    return tuple(found)


def _check_supersession(newer: list[Record], items: list[Any], file: File) -> None:
    """Report each circle of records that replace one another, once: none of them would be shown."""
    by_id = {r.id: r for r in newer}
    places: dict[str, int] = {}  # in the chain; -1: done
    for start in newer:
        if start.id in places:
            continue
        chain, rest = [start], [iter(start.supersedes)]
        places[start.id] = 0
        while rest:
            name = next(rest[-1], None)
            if name is None:
                rest.pop()
                places[chain.pop().id] = -1
            elif name in by_id and name not in places:
                places[name] = len(chain)
                chain.append(by_id[name])
                rest.append(iter(by_id[name].supersedes))
            elif places.get(name, -1) >= 0:
                _report_circle(chain[places[name] :], name, items, file)


def _report_circle(circle: list[Record], name: str, items: list[Any], file: File) -> None:
    if len({r.tenant for r in circle if r.tenant}) > 1:
        return  # what another tenant says replaces nothing
    last = circle[-1]
    at = child(last.origin.pointer, "supersedes")
    written = items[int(last.origin.pointer.rpartition("/")[2])].get("supersedes")
    told = " -> ".join([*(r.id for r in circle), name])
    file.problem(
        "bad-record",
        f"the record {shown(name)} supersedes itself"
        if len(circle) == 1
        else f"records supersede each other in a circle, so none of them holds: {told}",
        "name the record that it replaces, or take it out"
        if len(circle) == 1
        else "take out the `supersedes` of the one that is older than what it names",
        at=child(at, last.supersedes.index(name)) if isinstance(written, list) else at,
        data={"chain": [*(r.id for r in circle), name]},
    )


def _read(kind: str, item: Any, number: int, file: File, at: str) -> Record | None:
    if isinstance(item, str):
        return Record(id=f"{kind}-{number + 1}", text=item, origin=file.origin(at))
    if not isinstance(item, dict):
        file.problem("bad-record", f"expected a record, found {shown(str(item))}", "write a mapping or a text", at=at)
        return None
    fields: dict[str, str] = {}
    ranks: dict[str, int] = {}
    scores: dict[str, float] = {}
    attributes: dict[str, Any] = {}
    for key, value in item.items():
        field = _FIELD_OF.get(key)
        if field is not None and value.__class__ is not dict and value.__class__ is not list:
            name, rank = field
            if value is not None and value != "" and rank <= ranks.get(name, rank):
                ranks[name] = rank
                fields[name] = value if value.__class__ is str else text_of(value)
            if key in _TIMES:
                attributes[key] = value
        elif key in SCORES and is_number(value):
            scores[key] = float(value)
        elif key not in _OTHERS:
            attributes[key] = value
        if decides(key):
            check_type(key, value, file, at)
        elif field is None and key not in _OTHERS:
            check_spelling(kind, key, value, file, at)
    record_id = _id(kind, item, attributes) or f"{kind}-{number + 1}"
    text, content, has_value = _content(kind, item, attributes)
    if not text and not has_value:
        file.problem(
            "bad-record",
            f"the record {shown(record_id)} has no content",
            f"write it under `{'data' if kind == 'tool_results' else 'text'}`",
            at=at,
        )
        return None
    for name in ("valid_until", "valid_from"):
        if name in fields:
            _check_time(fields[name], file, child(at, _FIELDS[name][ranks[name]]))
    if "score" in item or "scores" in item:
        _more_scores(item, scores, file, at)
    for name, score in scores.items():
        if kind in WEIGHED and not 0 <= score <= 1:
            _off_scale(name, score, item, file, at)
    tenant = fields.get("tenant", "")
    if not tenant and isinstance(item.get("scope"), dict):
        tenant = text_of(item["scope"].get("tenant_id") or item["scope"].get("tenant"))
    verification = _verification(item, file, at)
    status = fields.get("status", "")
    reference = text_of(item.get("ref")) if kind == "evidence" and "ref" in item else ""
    return Record(
        id=record_id,
        text=text,
        value=content,
        has_value=has_value,
        source=fields.get("source", ""),
        version=fields.get("version", ""),
        locator=fields.get("locator", ""),
        tenant=tenant,
        permissions=_permissions(item),
        topic=fields.get("topic", ""),
        claim=fields.get("claim", ""),
        verification=verification,
        valid_from=fields.get("valid_from", ""),
        valid_until=fields.get("valid_until", ""),
        supersedes=texts(item.get("supersedes")),
        revoked=item.get("revoked") is True or status.lower() in _GONE or verification is Verification.REVOKED,
        limitations=texts(item.get("limitations")),
        required=item.get("required") is True,
        artifact_ref=fields.get("artifact_ref", reference),
        status=status,
        call_id=fields.get("call_id", ""),
        tool_name=fields.get("tool_name", ""),
        truncated=item.get("truncated") is True,
        time=fields.get("time", ""),
        scores=scores,
        attributes=attributes,
        origin=file.origin(at),
    )


def _id(kind: str, item: Mapping[str, Any], attributes: dict[str, Any]) -> str:
    """The record's own id; its key is no attribute."""
    for key in _ID[kind]:
        value = item.get(key)
        if value is not None and value != "" and value.__class__ is not dict and value.__class__ is not list:
            attributes.pop(key, None)
            return text_of(value)
    return ""


def _content(kind: str, item: Mapping[str, Any], attributes: dict[str, Any]) -> tuple[str, Any, bool]:
    """Text or structured value, whose key is then no attribute; a tool result's error stands beside its data."""
    if kind == "tool_results":
        found = _tool_content(item, attributes)
        if found is not None:
            return found
    for key in _TEXT:
        value = item.get(key)
        if value.__class__ is str and value:
            attributes.pop(key, None)
            return value, None, False
        if value is not None and value != "":
            attributes.pop(key, None)
            return "", value, True
    if kind == "handoff" and "value" not in item:
        return "", dict(item), True
    if item.get("value") is not None:
        attributes.pop("value", None)
        return "", item["value"], True
    summary = item.get("summary")
    if isinstance(summary, str) and summary:
        # A reference (id, type, summary, ways to read): the summary is what is shown of it.
        attributes.pop("summary", None)
        return summary, None, False
    return "", None, False


def _tool_content(item: Mapping[str, Any], attributes: dict[str, Any]) -> tuple[str, Any, bool] | None:
    key = next((k for k in _DATA if item.get(k) is not None), "")
    error = item.get("error")
    attributes.pop("error", None)
    if not key:
        return ("", {"error": error}, True) if error is not None else None
    attributes.pop(key, None)
    data = item[key]
    if error is not None:
        return "", {"data": data, "error": error}, True
    return (data, None, False) if isinstance(data, str) else ("", data, True)


def _permissions(item: Mapping[str, Any]) -> tuple[str, ...]:
    """What a reader must hold. An access list or a restricted visibility counts as a permission of that name."""
    if "permissions" not in item and "visibility" not in item and "ACL_ref" not in item and "acl_ref" not in item:
        return ()
    found = list(texts(item.get("permissions")))
    acl = item.get("ACL_ref") or item.get("acl_ref")
    visibility = text_of(item.get("visibility"))
    if acl:
        found.append(text_of(acl))
    elif visibility.lower() not in _OPEN_TO_ALL:
        found.append(visibility)
    return tuple(dict.fromkeys(p for p in found if p))


def _verification(item: Mapping[str, Any], file: File, at: str) -> Verification:
    key = "verification" if item.get("verification") is not None else "trust_level"
    value = item.get(key)
    if value is None:
        return Verification.UNVERIFIED
    names = [v.value for v in Verification]
    if value in names:
        return Verification(value)
    near = nearest(str(value), names)
    hint = f'; did you mean "{near}"?' if near else ""
    file.problem(
        "bad-value",
        f"{shown(str(value))} is no state of verification{hint}",
        f"one of: {', '.join(names)}",
        at=child(at, key),
    )
    return Verification.UNVERIFIED


def _check_time(text: str, file: File, at: str) -> None:
    try:
        moment = datetime.fromisoformat(text)
        good = len(text) == 10 or moment.tzinfo is not None
    except ValueError:
        good = False
    if not good:
        file.problem(
            "bad-record",
            f"{shown(text)} is no date, and no date and time with an offset: nobody could tell when it ends",
            "write 2026-12-31 or 2026-12-31T23:59:59Z",
            at=at,
        )


def _more_scores(item: Mapping[str, Any], scores: dict[str, float], file: File, at: str) -> None:
    given = item.get("scores")
    if isinstance(given, dict) and all(is_number(v) for v in given.values()):
        for name, value in given.items():
            scores.setdefault(name, float(value))
    elif given is not None:
        file.problem(
            "bad-record",
            "`scores` is a mapping from names to numbers",
            "write `{relevance: 0.9}`",
            at=child(at, "scores"),
        )
    score = item.get("score")
    if is_number(score):
        # A retriever's score is how relevant it found the item (the guide to the context layer, 8.2).
        scores.setdefault("relevance", float(score))  # type: ignore[arg-type]


def _off_scale(name: str, number: float, item: Mapping[str, Any], file: File, at: str) -> None:
    given = item.get("scores")
    if name in item:
        place = child(at, name)
    elif isinstance(given, dict) and name in given:
        place = child(child(at, "scores"), name)
    else:
        place = child(at, "score")
    file.problem(
        "bad-record",
        f"{name} is {number:g}, and what is weighed with it runs from 0 to 1",
        "bring it to the scale of 0 to 1 where the record is made",
        at=place,
        level=Severity.WARNING,
    )
