"""Stage order: stable prefix, dynamic suffix, newest request last, focus recited at the end.

Inside a section of the template its candidates stand by ``order``: ``score`` (strongest first), ``edges`` (strongest
first and last, the weakest in the middle), ``time`` (oldest first) or ``given``. Evidence and memory default to
``score``; a conversation always stands in time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ctxc.compiler.authorise import parse_time
from ctxc.compiler.measure import Draft
from ctxc.compiler.stage import Request
from ctxc.model.package import Placed
from ctxc.model.section import Kind, Section, Zone

STAGE = "order"

_DEFAULT_ORDER = {Kind.EVIDENCE: "score", Kind.MEMORY: "score"}


def is_stable(section: Section) -> bool:
    """Whether a section belongs to the prefix that is byte-identical over requests of one profile."""
    return section.cacheable and section.zone in (Zone.SYSTEM, Zone.TOOLS)


def order(request: Request, drafts: Sequence[Draft]) -> tuple[Draft, ...]:
    """The drafts in the order in which a model reads them."""
    slots: dict[str, list[Draft]] = {}
    for draft in drafts:
        slots.setdefault(draft.section.slot, []).append(draft)
    rules = {s.id: s.order for s in request.template.sections}
    arranged = [d for slot, group in slots.items() for d in _inside(group, rules.get(slot, ""))]
    # A stable sort: within one rank the template's order stays.
    return _answered(sorted(arranged, key=lambda d: _rank(d.section)))


def _answered(drafts: list[Draft]) -> tuple[Draft, ...]:
    """Results that answer an open call stand right after it."""
    answers = [d for d in drafts if "answers" in d.section.attributes]
    if not answers:
        return tuple(drafts)
    found: list[Draft] = []
    for draft in drafts:
        if draft in answers:
            continue
        found.append(draft)
        calls = [c.id for m in draft.section.messages for c in m.tool_calls]
        found.extend(a for a in answers if a.section.attributes["answers"] in calls)
    return tuple(found)


def _rank(section: Section) -> int:
    if section.zone is Zone.TOOLS:
        return 0
    if section.zone is Zone.SYSTEM:
        return 1 if is_stable(section) else 2
    if section.kind is Kind.FOCUS:
        return 5
    return 4 if section.kind is Kind.USER else 3


def _inside(group: list[Draft], rule: str) -> list[Draft]:
    kind = group[0].section.kind
    if kind is Kind.HISTORY or "fragment" in group[0].section.attributes:
        return group
    rule = rule or _DEFAULT_ORDER.get(kind, "given")
    if rule == "time":
        return sorted(group, key=_time)
    if rule in ("score", "edges"):
        ranked = sorted(
            group,
            key=lambda d: (-(d.section.score.total if d.section.score else 0.0), d.section.section_id),
        )
        return ranked if rule == "score" else _edges(ranked)
    return group


def _time(draft: Draft) -> tuple[bool, float, str]:
    record = draft.section.attributes.get("record")
    moment = parse_time(record.time) if record is not None else None
    return (moment is None, moment.timestamp() if moment else 0.0, draft.section.section_id)


def _edges(ranked: list[Draft]) -> list[Draft]:
    """1st, 3rd, 5th ... then back: the two strongest stand at the two ends."""
    return ranked[0::2] + ranked[1::2][::-1]


def place(drafts: Sequence[Draft], pointers: Mapping[str, Sequence[str]]) -> tuple[Placed, ...]:
    """The sections at their places, with the pointers at which a request holds them."""
    return tuple(
        [
            Placed(
                section=d.section,
                content=d.content,
                rendered=d.rendered,
                tokens=d.tokens,
                position=number,
                stable=is_stable(d.section),
                truncated=d.truncated,
                pointers=tuple(pointers.get(d.section.section_id, ())),
            )
            for number, d in enumerate(drafts)
        ]
    )
