"""Stage snapshot: the canonical record of every decision of one compile (``ctxc.snapshot/1``).

Keys are ASCII; values are strings, integers, booleans, null, lists and objects, so that compact sorted JSON is
RFC 8785. It holds no content, no clock of the machine and no path outside the project.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ctxc.base.canonical import canonical, digest_json, digest_text
from ctxc.compiler.entries import array, cache_json, decision_json, section_json, state_json
from ctxc.compiler.stage import Request
from ctxc.model.counting import Count
from ctxc.model.fixture import Fixture
from ctxc.model.package import Compression, Conflict, Decision, Dropped, Outcome, Placed, State
from ctxc.model.request import SERIALIZATION, Rendered, Segment
from ctxc.model.section import Authority, Section, Tier

SCHEMA = "ctxc.snapshot/1"


def bundle_id(request: Request) -> str:
    """``template:route values in template order:request profile``; a route value that is missing is ``-``."""
    route = request.fixture.route
    values = ["+".join(route[name]) if route.get(name) else "-" for name in request.template.route]
    parts = [request.template.id, *values]
    if request.profile is not None:
        parts.append(request.profile.id)
    return ":".join(parts)


def snapshot(
    request: Request,
    *,
    outcome: Outcome,
    placed: Sequence[Placed],
    dropped: Sequence[Dropped],
    decisions: Sequence[Decision],
    states: Sequence[State],
    conflicts: Sequence[Conflict],
    compression: Sequence[Compression],
    rendered: Rendered | None,
    count: Count | None,
    overhead: int,
    buckets: Mapping[str, int],
    remedies: Sequence[str],
    over: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """The snapshot as a JSON object, its id included."""
    limits = request.limits
    entries, texts = _entries(request, placed)
    body: dict[str, Any] = {
        "schema": SCHEMA,
        "fixture_id": request.fixture.id,
        "template": {
            "id": request.template.id,
            "version": request.template.version,
            "hash": request.template.content_hash,
        },
        "renderer": request.template.renderer,
        "principal": _principal(request.fixture),
        "request_profile": _versioned(request.profile),
        "bundle_id": bundle_id(request),
        "route": {k: list(v) for k, v in request.fixture.route.items()},
        "provider": {
            "id": request.provider.id,
            "version": request.provider.version,
            "model": request.model,
            "shape": request.provider.shape,
        },
        "tokenizer": _tokenizer(request, count),
        "budget": {
            "window": limits.window,
            "output_reserve": limits.output_reserve,
            "safety_margin": limits.safety_margin,
            "ceiling": limits.ceiling,
            "available_input": limits.available,
            "used_input": count.tokens if count is not None else None,
            "used_input_high": count.upper if count is not None else None,
            "overhead": overhead,
            "buckets": _buckets(request, buckets),
            "over": list(over),
        },
        "sections": entries,
        "dropped_sections": dropped_json(dropped),
        "compression": [
            {
                "section_id": c.section_id,
                "before": c.before,
                "after": c.after,
                "strategy": c.strategy,
                "source_refs": list(c.source_refs),
            }
            for c in compression
        ],
        "conflicts": [
            {"topic": c.topic, "sides": list(c.sides), "preferred": c.preferred, "reason": c.reason} for c in conflicts
        ],
        "states": [
            {
                "candidate_id": s.candidate_id,
                "discoverable": s.discoverable,
                "selected": s.selected,
                "loaded": s.loaded,
                "authorised": s.authorised,
            }
            for s in states
        ],
        "cache": cache_of(request, placed, rendered),
        "output_contract": _versioned(request.contract),
        "tools_hash": _tools_hash(placed),
        "request_hash": digest_json(rendered.request) if rendered is not None else None,
        "decisions": [
            {
                "section_id": d.section_id,
                "stage": d.stage,
                "verdict": d.verdict,
                "reason": d.reason,
                "before": d.before,
                "after": d.after,
            }
            for d in decisions
        ],
        "outcome": outcome.value,
        "remedies": list(remedies),
    }
    known = {
        "cache": cache_json(body["cache"]),
        "decisions": array(map(decision_json, decisions)),
        "sections": array(texts),
        "states": array(map(state_json, states)),
    }
    body["snapshot_id"] = _id_of(body, known)
    for entry, section in zip(entries, placed, strict=True):
        entry["location"] = _location(section.section)
    return body


def dropped_json(dropped: Iterable[Dropped]) -> list[dict[str, Any]]:
    """What was dropped, in the order in which it was, as the snapshot and ``ctxc.compile/1`` say it."""
    return [
        {
            "section_id": d.section_id,
            "kind": d.kind,
            "stage": d.stage,
            "reason": d.reason,
            "tokens": d.tokens,
            "detail": d.detail,
        }
        for d in dropped
    ]


def snapshot_id(body: Mapping[str, Any]) -> str:
    """``ctx_`` and 16 hex digits of the hash of a snapshot without its id and without locations."""
    bare = [{k: v for k, v in s.items() if k != "location"} for s in body["sections"]]
    return _id_of(body, {"sections": canonical(bare)})


def _id_of(body: Mapping[str, Any], known: Mapping[str, str]) -> str:
    """The id from the canonical JSON of the whole, put together with that of what is ``known`` already."""
    parts = [f'"{k}":{known[k] if k in known else canonical(body[k])}' for k in sorted(body) if k != "snapshot_id"]
    return "ctx_" + digest_text(f"{{{','.join(parts)}}}")[7:23]


def invalid_snapshot(fixture: Fixture, reasons: Sequence[str]) -> dict[str, Any]:
    """What can be said of a fixture whose sources are broken."""
    body: dict[str, Any] = {
        "schema": SCHEMA,
        "fixture_id": fixture.id,
        "outcome": Outcome.INVALID.value,
        "sections": [],
        "dropped_sections": [],
        "decisions": [
            {
                "section_id": "",
                "stage": "resolve",
                "verdict": "refused",
                "reason": reason,
                "before": None,
                "after": None,
            }
            for reason in reasons
        ],
        "remedies": [],
    }
    body["snapshot_id"] = snapshot_id(body)
    return body


def _versioned(thing: Any) -> dict[str, str] | None:
    if thing is None:
        return None
    return {"id": thing.id, "version": thing.version, "hash": thing.content_hash}


def _tokenizer(request: Request, count: Count | None) -> dict[str, Any]:
    ref = request.row.tokenizer
    return {
        "id": request.tokenizer.id,
        "digest": request.tokenizer.digest,
        "method": count.method if count is not None else ref.method,
        "error_low_bp": count.error_low_bp if count is not None else ref.error_low_bp,
        "error_high_bp": count.error_high_bp if count is not None else ref.error_high_bp,
    }


def _buckets(request: Request, used: Mapping[str, int]) -> dict[str, Any]:
    return {
        b.id: {"min": b.min, "soft": b.soft, "max": b.max, "borrow": b.borrow, "used": used.get(b.id, 0)}
        for b in request.limits.buckets
    }


def _entries(request: Request, placed: Sequence[Placed]) -> tuple[list[dict[str, Any]], list[str]]:
    """What the snapshot says of each section, and its canonical JSON; without the location, which is no part of its
    identity."""
    lane = request.lane
    entries: list[dict[str, Any]] = []
    texts: list[str] = []
    for one in placed:
        key = id(one.section)
        draft = lane.drafts.get(key)
        if draft is None or draft.rendered is not one.rendered:
            entries.append(_section(one))
            texts.append(section_json(entries[-1]))
            continue
        # A fixed section, whole: only its place differs from request to request.
        known = lane.entries.get(key)
        if known is None:
            entry = _section(one)
            # Inside a JSON string every quote is escaped, so this can only be the key.
            before, after = section_json({**entry, "position": 0}).split('"position":0')
            known = lane.entries[key] = (entry, f'{before}"position":', after)
        entry, before, after = known
        entries.append({**entry, "position": one.position})
        texts.append(f"{before}{one.position}{after}")
    return entries, texts


def _location(section: Section) -> dict[str, str]:
    return {"path": section.origin.path, "pointer": section.origin.pointer}


def _section(placed: Placed) -> dict[str, Any]:
    section = placed.section
    content = rendered = None
    if not section.sensitive:  # a hash of a short secret is the secret to whoever can guess it
        content = content_hash(section, placed.content)
        rendered = content if section.messages or section.tools else digest_text(placed.rendered)
    return {
        "section_id": section.section_id,
        "kind": str(section.kind),
        "authority": _NAMES[section.authority],
        "trust": str(section.trust),
        "verification": str(section.verification),
        "tier": _TIERS[section.tier],
        "zone": str(section.zone),
        "source_uri": section.source_uri,
        "source_version": section.source_version,
        "content_hash": content,
        "rendered_hash": rendered,
        "tokens": placed.tokens,
        "position": placed.position,
        "cacheable": section.cacheable,
        "required": section.required,
        "truncated": placed.truncated,
        "score": _score(section),
        "item_id": section.item_id,
        "bucket": section.bucket,
        "priority": section.priority,
        "overflow": str(section.overflow),
        **_provenance(section),
    }


_NAMES = {authority: authority.name for authority in Authority}  # asking each time goes through a property
_TIERS = {tier: tier.name for tier in Tier}


def _provenance(section: Section) -> dict[str, str]:
    """Owner, time and place of what a section was made from, where its author wrote them down."""
    record = section.attributes.get("record")
    fragment = section.attributes.get("fragment")
    if record is not None:
        owner = record.attributes.get("owner", "")
        return {"owner": owner if isinstance(owner, str) else "", "time": record.time, "locator": record.locator}
    return {"owner": fragment.owner if fragment is not None else "", "time": "", "locator": ""}


def _principal(fixture: Fixture) -> dict[str, Any] | None:
    """For whom it was compiled, without naming the person."""
    if fixture.principal is None:
        return None
    return {"tenant": fixture.principal.tenant, "permissions": sorted(fixture.principal.permissions)}


def _score(section: Section) -> dict[str, Any] | None:
    """The score with every term, as decimal text: snapshots hold no floats."""
    if section.score is None:
        return None
    return {
        "total": f"{section.score.total:.6f}",
        "terms": [{"name": n, "value": f"{v:.6f}", "weight": f"{w:.2f}"} for n, v, w in section.score.terms],
    }


def content_hash(section: Section, content: str) -> str:
    """Hash of what a section says, without its wrapper."""
    if section.messages:
        return digest_json([_message(m) for m in section.messages])
    if section.tools:
        return digest_json([[t.name, t.description, t.input_schema] for t in section.tools])
    return digest_text(content)


def _message(message: Any) -> list[Any]:
    return [
        message.role,
        message.name,
        message.content,
        [[c.id, c.name, c.arguments] for c in message.tool_calls],
        message.tool_call_id,
        message.is_error,
    ]


def _tools_hash(placed: Sequence[Placed]) -> str | None:
    tools = [t for p in placed for t in p.section.tools]
    return digest_json([[t.name, t.description, t.input_schema] for t in tools]) if tools else None


def cache_of(request: Request, placed: Sequence[Placed], rendered: Rendered | None) -> dict[str, Any]:
    """Segments in the provider's physical order, where marks stand, and the identity of the stable prefix."""
    if rendered is None:
        return {"segments": [], "marks": [], "prefix_tokens": 0, "cache_prefix_hash": None}
    hidden = {p.section.section_id for p in placed if p.section.sensitive}
    segments = rendered.segments
    prefix = stable_prefix(segments)
    wires = [request.memo.wire(s.wire) for s in prefix]
    hashes = [digest for digest, _ in wires] + [
        "" if s.id in hidden else digest_text(s.wire) for s in segments[len(prefix) :]
    ]
    tokens = _shares(placed, segments)
    return {
        "segments": [
            {
                "id": s.id,
                "zone": s.zone,
                "stable": s.stable,
                "tokens": share,
                "hash": None if s.id in hidden else digest,
            }
            for s, digest, share in zip(segments, hashes, tokens, strict=True)
        ],
        "marks": [{"after": s.id, "pointer": s.pointer, "ttl": s.mark} for s in segments if s.mark],
        "prefix_tokens": sum(tokens[: len(prefix)]),
        "cache_prefix_hash": _prefix_hash(request, [quoted for _, quoted in wires]),
    }


def _shares(placed: Sequence[Placed], segments: Sequence[Segment]) -> list[int]:
    """Tokens of each segment: those of its section, shared by length where the section stands in several, so that
    the segments of a section add up to it."""
    counted = {p.section.section_id: p.tokens for p in placed}
    lengths = [(s.id, len(s.frame) + len(s.text)) for s in segments]
    sizes: dict[str, int] = {}
    for name, length in lengths:
        sizes[name] = sizes.get(name, 0) + length
    passed: dict[str, int] = {}
    found = []
    for name, length in lengths:
        whole, size, before = counted.get(name, 0), sizes[name], passed.get(name, 0)
        passed[name] = after = before + length
        found.append(whole * after // size - whole * before // size if size else 0)
    return found


def stable_prefix(segments: Sequence[Segment]) -> tuple[Segment, ...]:
    """The leading run of stable segments."""
    found: list[Segment] = []
    for segment in segments:
        if not segment.stable:
            break
        found.append(segment)
    return tuple(found)


def _prefix_hash(request: Request, wires: Sequence[str]) -> str:
    """Hash of provider, model, serialization version, tenant scope and the exact bytes of the stable segments, each as
    JSON text."""
    tenant = request.fixture.principal.tenant if request.fixture.principal else ""
    scope = canonical([request.provider.id, request.model, SERIALIZATION, tenant])
    return digest_text(f"{scope[:-1]},[{','.join(wires)}]]")
