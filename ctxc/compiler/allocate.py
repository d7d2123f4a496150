"""Stage allocate: what the required sections take, and what every bucket may take of the rest.

Required sections and tiers P0 to P2 come first, whole, with their joiners and the framing of the request; a breach of
their ``max_tokens`` or of the budget is an outcome (``budget_exceeded``), never a cut. The rest is shared: a bucket's
``min`` (and a section's ``min_tokens``) is reserved for it, ``soft`` is its share, and with ``borrow`` it may take
unused room up to ``max``. Room that nobody needs stays empty.
"""

from __future__ import annotations

from collections.abc import Mapping

from ctxc.base.values import dataclass
from ctxc.compiler.measure import Draft
from ctxc.compiler.stage import Request
from ctxc.model.package import Decision

STAGE = "allocate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Over:
    """Something required that does not fit: what, how much it takes, what it may take."""

    section_id: str
    tokens: int
    limit: int
    what: str

    @property
    def excess(self) -> int:
        """Tokens over the limit."""
        return self.tokens - self.limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """Of a bucket, in tokens. None: no bound of its own."""

    floor: int = 0
    soft: int | None = None
    hard: int | None = None
    used: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocation:
    """The shares. ``room`` is what the optional sections may take together, framing included."""

    room: int
    required: int
    framing: int
    allowances: Mapping[str, Allowance]
    slots: Mapping[str, int]  # tokens that a slot's required sections take of its max_tokens
    over: tuple[Over, ...] = ()
    decisions: tuple[Decision, ...] = ()


def usable(request: Request) -> int:
    """``available_input`` less the error band of the count: the most that may be counted."""
    return request.limits.available * 10_000 // (10_000 + request.row.tokenizer.error_high_bp)


def per_message(request: Request) -> int:
    """Tokens of framing of one message; the whole request is counted again in verify."""
    value = request.row.framing.get("per_message", 4)
    return int(value)


def group_of(draft: Draft) -> str:
    """The share that a section draws on: its bucket, else its slot."""
    return draft.section.bucket or f"slot:{draft.section.slot}"


def allocate(request: Request, drafts: Mapping[str, Draft], *, framing: int) -> Allocation:
    """Shares for the drafts. ``framing`` is the overhead of the whole request in tokens, as far as it is known."""
    limit = usable(request)
    required = [d for d in drafts.values() if d.section.required]
    optional = [d for d in drafts.values() if not d.section.required]
    taken = sum(d.tokens for d in required) + sum(d.messages for d in required) * per_message(request)
    slots: dict[str, int] = {}
    for draft in required:
        slots[draft.section.slot] = slots.get(draft.section.slot, 0) + draft.tokens
    over = _over_maximum(request, slots)
    if taken + framing > limit:
        over.append(Over(section_id="", tokens=taken + framing, limit=limit, what="required sections"))
    room = max(0, limit - taken - framing)
    allowances, decisions = _allowances(request, required, optional, room)
    return Allocation(
        room=room,
        required=taken,
        framing=framing,
        allowances=allowances,
        slots=slots,
        over=tuple(over),
        decisions=tuple(decisions),
    )


def _over_maximum(request: Request, slots: Mapping[str, int]) -> list[Over]:
    """Slots whose required sections alone take more than the slot's ``max_tokens``."""
    limits = {s.id: s.max_tokens for s in request.template.sections if s.max_tokens is not None}
    return [
        Over(section_id=slot, tokens=tokens, limit=limits[slot], what="max_tokens")
        for slot, tokens in slots.items()
        if slot in limits and tokens > limits[slot]
    ]


def _allowances(
    request: Request, required: list[Draft], optional: list[Draft], room: int
) -> tuple[dict[str, Allowance], list[Decision]]:
    demand: dict[str, int] = {}
    used: dict[str, int] = {}
    best: dict[str, tuple[int, int]] = {}
    for draft in optional:
        group = group_of(draft)
        demand[group] = demand.get(group, 0) + draft.tokens
        rank = (draft.section.tier, -draft.section.priority)
        best[group] = min(best.get(group, rank), rank)
    for draft in required:
        group = group_of(draft)
        used[group] = used.get(group, 0) + draft.tokens
    floors: dict[str, int] = {}
    soft: dict[str, int | None] = {}
    hard: dict[str, int | None] = {}
    for bucket in request.limits.buckets:
        floors[bucket.id] = bucket.min
        soft[bucket.id] = bucket.soft if bucket.soft is not None else bucket.max
        # Without borrow, the share is also the bound.
        hard[bucket.id] = bucket.max if bucket.borrow else soft[bucket.id]
    for spec in request.template.sections:
        if spec.min_tokens:
            group = next((group_of(d) for d in optional if d.section.slot == spec.id), f"slot:{spec.id}")
            floors[group] = floors.get(group, 0) + spec.min_tokens
    wanted = {g: min(max(0, f - used.get(g, 0)), demand[g]) for g, f in floors.items() if g in demand}
    decisions: list[Decision] = []
    left = room
    granted: dict[str, int] = {}
    for group in sorted(wanted, key=lambda g: (best[g], g)):
        granted[group] = min(wanted[group], left)
        left -= granted[group]
        if granted[group] < wanted[group]:
            decisions.append(
                Decision(
                    section_id=group.removeprefix("slot:"),
                    stage=STAGE,
                    verdict="noted",
                    reason="the floor does not fit",
                    before=wanted[group],
                    after=granted[group],
                )
            )
    groups = {*demand, *used, *floors}
    return (
        {
            g: Allowance(floor=granted.get(g, 0), soft=soft.get(g), hard=hard.get(g), used=used.get(g, 0))
            for g in sorted(groups)
        },
        decisions,
    )
