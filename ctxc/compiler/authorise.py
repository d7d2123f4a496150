"""Stage authorise: hard filters before anything is scored.

Tenant, permissions, expiry, revocation and supersession decide here, whatever the relevance: a record that the
principal may not see is gone before a score could make it look useful. Without a principal only records that carry
no tenant and no permission pass. Times are compared with the fixture's ``now``, never with the machine's clock.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from ctxc.base.spans import Origin
from ctxc.compiler.faults import fault
from ctxc.compiler.stage import Refused, Request, Stage, drop
from ctxc.model.fixture import Record
from ctxc.model.package import Decision, Dropped, State
from ctxc.model.section import Kind, Section, Verification

STAGE = "authorise"


def authorise(request: Request, sections: tuple[Section, ...]) -> Stage:
    """Sections that the principal may see and that still hold; raises Refused where ``now`` is needed and missing."""
    records = {s.section_id: s.attributes["record"] for s in sections if "record" in s.attributes}
    if not records:
        return Stage(sections=sections)
    superseded = _superseded(request, [s for s in sections if s.section_id in records])
    kept: list[Section] = []
    dropped: list[Dropped] = []
    decisions: list[Decision] = []
    states: list[State] = []
    for section in sections:
        record = records.get(section.section_id)
        refusal = _refusal(request, record, superseded.get((section.kind, record.id))) if record is not None else None
        if refusal is None:
            kept.append(section)
            continue
        reason, detail, verification = refusal
        if verification is not None:
            section = replace(section, verification=verification)
        gone, decision = drop(section, STAGE, reason, detail)
        dropped.append(gone)
        decisions.append(decision)
        access = reason in ("tenant", "permission", "no_principal")
        states.append(
            State(
                candidate_id=section.section_id,
                selected=f"no:{reason}",
                loaded=f"no:{reason}",
                authorised=f"no:{reason}" if access else "yes",
            )
        )
    return Stage(sections=tuple(kept), dropped=tuple(dropped), decisions=tuple(decisions), states=tuple(states))


def _superseded(request: Request, sections: list[Section]) -> dict[tuple[Kind, str], str]:
    """Kind and id of each superseded record, and the id of the one that supersedes it.

    A superseded record stays superseded when its successor is not shown: that it is out of date is a fact about
    it. It has its standing while its successor is revoked or not valid yet; and what another tenant says of it does
    not count, or one tenant could take a common record away from all others.
    """
    found: dict[tuple[Kind, str], str] = {}
    tenant = request.fixture.principal.tenant if request.fixture.principal is not None else ""
    for section in sections:
        record: Record = section.attributes["record"]
        if not record.supersedes or record.revoked or record.verification is Verification.REVOKED:
            continue
        if (record.tenant and record.tenant != tenant) or _is_to_come(request, record):
            continue
        for old in record.supersedes:
            if old != record.id:
                found.setdefault((section.kind, old), record.id)
    return found


def _is_to_come(request: Request, record: Record) -> bool:
    return bool(record.valid_from) and _time(request, record, record.valid_from) > _now(request, record)


def _refusal(request: Request, record: Record, successor: str | None) -> tuple[str, str, Verification | None] | None:
    """Why a record may not be shown: reason, detail, and the verification that follows from it."""
    principal = request.fixture.principal
    if record.tenant or record.permissions:
        if principal is None:
            return "no_principal", "the record carries a tenant or permissions and the fixture no principal", None
        if record.tenant and record.tenant != principal.tenant:
            return "tenant", "the record belongs to another tenant", None
        lacking = [p for p in record.permissions if p not in principal.permissions]
        if lacking:
            return "permission", f"the principal lacks {', '.join(sorted(lacking))}", None
    if record.revoked or record.verification is Verification.REVOKED:
        return "revoked", "the record was revoked", Verification.REVOKED
    if record.verification is Verification.EXPIRED:
        return "expired", "the record is marked as expired", Verification.EXPIRED
    if record.valid_until and _time(request, record, record.valid_until) <= _now(request, record):
        return "expired", f"valid until {record.valid_until}", Verification.EXPIRED
    if _is_to_come(request, record):
        return "not_yet_valid", f"valid from {record.valid_from}", None
    if successor is not None:
        return "superseded", f"superseded by {successor}", None
    return None


def _now(request: Request, record: Record) -> datetime:
    if not request.now:
        raise Refused(
            fault(
                request.project,
                "missing-now",
                f"record {record.id!r} has a time of validity, but the fixture has no `now`",
                at=request.fixture.origin,
                fixture=request.fixture.id,
                help="add `now: 2026-01-31T10:00:00Z` to the fixture; the machine's clock is never used",
                related=((record.origin, "the record"),),
            )
        )
    return _parse(request, request.now, request.fixture.origin.child("now"))


def _time(request: Request, record: Record, text: str) -> datetime:
    return _parse(request, text, record.origin)


def _parse(request: Request, text: str, at: Origin) -> datetime:
    moment = parse_time(text)
    if moment is None:
        raise Refused(
            fault(
                request.project,
                "bad-time",
                f"{text!r} is not a date or time",
                at=at,
                fixture=request.fixture.id,
                help="write RFC 3339, e.g. 2026-10-31T10:00:00Z, or a date, e.g. 2026-10-31",
            )
        )
    return moment


def parse_time(text: str) -> datetime | None:
    """A moment from RFC 3339 text; a date means its first instant, no offset means UTC. None: not a time."""
    try:
        moment = datetime.fromisoformat(text.strip().upper())
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
