"""Evidence, memory, tool results and hand-offs, with the field names that people use, as neutral records.

The shapes are those of seed 000 (8.2 evidence candidate, 9.2 tool-result envelope, 15.2 hand-off packet) and seed 004
(14.3 evidence packet, 14.4 memory record). What has no place in a record is kept in its ``attributes``.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ctxc.model.fixture import Record
from ctxc.model.section import Verification
from ctxc.parse.context import File, child, text_of, texts
from ctxc.parse.problems import nearest, shown

_IDS = {
    "evidence": ("evidence_id", "id", "chunk_id", "ref"),
    "memory": ("memory_id", "id"),
    "tool_results": ("id", "tool_call_id", "call_id"),
    "handoff": ("handoff_id", "id"),
    "examples": ("example_id", "id"),
}
_TEXT = ("text", "content", "body", "snippet")
_VALUE = {"tool_results": ("data", "result", "output", "value"), "handoff": ("value",)}
_SOURCE = ("source_uri", "source", "source_id", "source_ref", "uri", "url")
_TENANT = ("tenant", "tenant_id")
_UNTIL = ("valid_until", "expires_at", "expires")
_TIME = ("published_at", "collected_at", "updated_at", "finished_at", "created_at", "timestamp", "time")
_SCORES = (
    "relevance", "authority", "freshness", "scope_match", "confidence", "recency", "importance", "source_authority",
    "diversity_bonus", "redundancy_penalty", "conflict_penalty", "privacy_risk_penalty",
)  # fmt: skip
_TAKEN = frozenset(
    (
        *_TENANT, *_UNTIL, "version", "source_version", "locator", "topic", "claim", "candidate_claim", "valid_from",
        "supersedes", "limitations", "required", "artifact_ref", "status", "tool_call_id", "call_id", "tool_name",
        "truncated", "permissions", "verification", "trust_level", "revoked", "scores", "score", *_SCORES,
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
            )
            continue
        seen[record.id] = number
        found.append(record)
    return tuple(found)


def _read(kind: str, item: Any, number: int, file: File, at: str) -> Record | None:
    if isinstance(item, str):
        return Record(id=f"{kind}-{number + 1}", text=item, origin=file.origin(at))
    if not isinstance(item, dict):
        file.problem("bad-record", f"expected a record, found {shown(str(item))}", "write a mapping or a text", at=at)
        return None
    used: set[str] = set()
    record_id = _first(item, _IDS[kind], used) or f"{kind}-{number + 1}"
    text, value, has_value = _content(kind, item, used)
    if not text and not has_value:
        file.problem(
            "bad-record",
            f"the record {shown(record_id)} has no content",
            f"write it under `{'data' if kind == 'tool_results' else 'text'}`",
            at=at,
        )
        return None
    scope = item.get("scope")
    scope = scope if isinstance(scope, dict) else {}
    tenant = _first(item, _TENANT, used) or text_of(scope.get("tenant_id") or scope.get("tenant"))
    verification = _verification(item, file, at)
    until_key = next((k for k in _UNTIL if item.get(k)), "")
    for key in (until_key, "valid_from"):
        if key and item.get(key):
            _check_time(item, key, file, at)
    gone = item.get("revoked") is True or str(item.get("status", "")).lower() in _GONE
    attributes = {k: v for k, v in item.items() if k not in _TAKEN and k not in used}
    authority = item.get("authority")
    if isinstance(authority, str):
        attributes["authority"] = authority
    status = text_of(item.get("status"))
    return Record(
        id=record_id,
        text=text,
        value=value,
        has_value=has_value,
        source=_source(item, attributes),
        version=text_of(item.get("source_version") or item.get("version")),
        locator=text_of(item.get("locator")),
        tenant=tenant,
        permissions=_permissions(item),
        topic=text_of(item.get("topic")),
        claim=text_of(item.get("claim") or item.get("candidate_claim")),
        verification=verification,
        valid_from=text_of(item.get("valid_from")),
        valid_until=text_of(item.get(until_key)) if until_key else "",
        supersedes=texts(item.get("supersedes")),
        revoked=gone or verification is Verification.REVOKED,
        limitations=texts(item.get("limitations")),
        required=item.get("required") is True,
        artifact_ref=text_of(item.get("artifact_ref")) or (text_of(item.get("ref")) if kind == "evidence" else ""),
        status=status,
        call_id=text_of(item.get("tool_call_id") or item.get("call_id")),
        tool_name=text_of(item.get("tool_name")),
        truncated=item.get("truncated") is True,
        time=_first(item, _TIME, set()),
        scores=_scores(item, file, at),
        attributes=attributes,
        origin=file.origin(at),
    )


def _first(item: Mapping[str, Any], keys: tuple[str, ...], used: set[str]) -> str:
    """The first key that holds a scalar; the key is added to ``used``."""
    for key in keys:
        value = item.get(key)
        if value is not None and not isinstance(value, (dict, list)) and value != "":
            used.add(key)
            return text_of(value)
    return ""


def _content(kind: str, item: Mapping[str, Any], used: set[str]) -> tuple[str, Any, bool]:
    """Text or structured value; a tool result's error stands beside its data."""
    if kind == "tool_results":
        data_key = next((k for k in _VALUE[kind] if item.get(k) is not None), "")
        error = item.get("error")
        if data_key or error is not None:
            used.update((data_key, "error"))
            data = item.get(data_key) if data_key else None
            if error is None:
                return (data, None, False) if isinstance(data, str) else ("", data, True)
            return "", {"error": error} if data is None else {"data": data, "error": error}, True
    for key in _TEXT:
        value = item.get(key)
        if isinstance(value, str) and value:
            used.add(key)
            return value, None, False
        if value is not None and not isinstance(value, str):
            used.add(key)
            return "", value, True
    if kind == "handoff":
        return "", dict(item), True
    if "value" in item and item["value"] is not None:
        used.add("value")
        return "", item["value"], True
    if isinstance(item.get("summary"), str) and item["summary"]:
        # A reference (id, type, summary, ways to read): the summary is what is shown of it.
        used.add("summary")
        return item["summary"], None, False
    return "", None, False


def _source(item: Mapping[str, Any], attributes: dict[str, Any]) -> str:
    for key in _SOURCE:
        value = item.get(key)
        if isinstance(value, str) and value:
            attributes.pop(key, None)
            return value
    return ""


def _permissions(item: Mapping[str, Any]) -> tuple[str, ...]:
    """What a reader must hold. An access list or a restricted visibility counts as a permission of that name."""
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


def _check_time(item: Mapping[str, Any], key: str, file: File, at: str) -> None:
    text = text_of(item[key])
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
            at=child(at, key),
        )


def _scores(item: Mapping[str, Any], file: File, at: str) -> dict[str, float]:
    found: dict[str, float] = {}
    given = item.get("scores")
    if given is not None:
        if isinstance(given, dict) and all(_is_number(v) for v in given.values()):
            found.update({k: float(v) for k, v in given.items()})
        else:
            file.problem(
                "bad-record", "`scores` is a mapping from names to numbers", "write `{relevance: 0.9}`",
                at=child(at, "scores"),
            )  # fmt: skip
    for key in _SCORES:
        value = item.get(key)
        if _is_number(value):
            found[key] = float(value)  # type: ignore[arg-type]
    score = item.get("score")
    if _is_number(score):
        # A retriever's score is how relevant it found the item (seed 000, 8.2).
        found.setdefault("relevance", float(score))  # type: ignore[arg-type]
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
