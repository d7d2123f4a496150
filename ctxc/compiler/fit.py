"""Stage fit: what of the optional sections goes in, section by section, and what is shortened or left out.

Whatever has to leave, leaves in this order: by tier (P4 first), then by priority (lowest first), then by the overflow
ladder (cheapest loss first: low-relevance evidence, old turns, low-confidence memory, tool result details, other
evidence, recent turns, summaries, non-critical examples), then by score (lowest first), then by id. Seen from the
other side, sections are admitted in the reverse order while there is room in their bucket, in their slot's
``max_tokens`` and in the request. A first pass fills the shares, a second lets buckets borrow.

A section that does not fit whole is cut, replaced by a reference, or dropped, as its ``overflow`` says: in the first
pass already where borrowing would give it nothing, so that what ranks below it is not kept whole in the room that it
could use. Only low-relevance evidence waits, because it is the first to lose. What waits to borrow keeps its place:
nothing that ranks below it takes of their common share before it, and meanwhile no other bucket borrows that share.

A conversation gives up its oldest turns, whole; if its newest turn alone is too large, the oldest steps of that turn.
Once one turn is out, no older one comes back: a conversation with a hole would be a different conversation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from ctxc.base.values import dataclass
from ctxc.compiler.allocate import Allocation, group_of, per_message
from ctxc.compiler.measure import Draft
from ctxc.compiler.shorten import shorten
from ctxc.compiler.stage import Request, drop
from ctxc.compiler.wrappers import Wrapper
from ctxc.model.package import Compression, Decision, Dropped
from ctxc.model.section import Kind, Section

STAGE = "fit"

LOW_RELEVANCE = 0.35
"""Score below which evidence is the cheapest loss of all."""

LOW_CONFIDENCE = 0.35
"""Score below which memory leaves before tool results do."""

RECENT_TURNS = 2
"""Turns at the end of a conversation that count as recent; practice keeps two to four (docs/decisions.md)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """What goes into the request, in the order of the drafts, and what does not."""

    drafts: Mapping[str, Draft]
    dropped: tuple[Dropped, ...]
    decisions: tuple[Decision, ...]
    compression: tuple[Compression, ...]
    buckets: Mapping[str, int]  # tokens used in each group


@dataclass
class _Room:
    """Book-keeping of one fit; local to it."""

    left: int
    used: dict[str, int]
    floors: dict[str, int]
    slots: dict[str, int]
    drafts: dict[str, Draft] = field(default_factory=dict)
    dropped: list[Dropped] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    compression: list[Compression] = field(default_factory=list)


def ladder(section: Section, newest_turn: int) -> int:
    """Rung of the overflow ladder, 0 cheapest to lose."""
    score = section.score.total if section.score is not None else 1.0
    match section.kind:
        case Kind.EVIDENCE:
            return 0 if score < LOW_RELEVANCE else 4
        case Kind.HISTORY if section.attributes.get("summary"):
            return 6
        case Kind.HISTORY:
            return 1 if section.turn <= newest_turn - RECENT_TURNS else 5
        case Kind.MEMORY:
            return 2 if score < LOW_CONFIDENCE else 4
        case Kind.TOOL_RESULT:
            return 3
        case Kind.EXAMPLES:
            return 7
        case _:
            return 5


def keep_key(draft: Draft, newest_turn: int) -> tuple[int, int, int, float, int, str]:
    """Sort key of admission: the first is admitted first and leaves last."""
    section = draft.section
    score = section.score.total if section.score is not None else 0.0
    rung = ladder(section, newest_turn)
    return (section.tier, -section.priority, -rung, -score, -section.turn, section.section_id)


def fit(request: Request, drafts: Mapping[str, Draft], allocation: Allocation, wrapper: Wrapper) -> Fitted:
    """The drafts that go in, whole or shortened; never more than the allocation's room."""
    room = _Room(
        left=allocation.room,
        used={g: a.used for g, a in allocation.allowances.items()},
        floors={g: a.floor for g, a in allocation.allowances.items()},
        slots=dict(allocation.slots),
        decisions=list(allocation.decisions),
    )
    for draft in drafts.values():
        if draft.section.required:
            room.drafts[draft.section.section_id] = draft
            room.decisions.append(_kept(draft, "required"))
    waiting = [_Group(g) for g in _groups(drafts.values())]
    fitter = _Fitter(request, allocation, room, wrapper)
    waiting = fitter.admit(waiting, borrow=False)
    waiting = fitter.admit(waiting, borrow=True)
    for group in waiting:
        fitter.leave(group)
    return Fitted(
        drafts={i: room.drafts[i] for i in drafts if i in room.drafts},
        dropped=tuple(room.dropped),
        decisions=tuple(room.decisions),
        compression=tuple(room.compression),
        buckets=dict(room.used),
    )


class _Group:
    """Drafts that are admitted together: one section, or one turn of a conversation."""

    __slots__ = ("drafts", "first", "is_turn", "messages", "share", "tokens", "waits")

    def __init__(self, drafts: tuple[Draft, ...]) -> None:
        self.drafts = drafts
        self.first = drafts[0]
        self.share = group_of(self.first)
        self.is_turn = bool(self.first.section.messages)
        self.tokens = sum([d.tokens for d in drafts])
        self.messages = sum([d.messages for d in drafts])
        self.waits = False  # for the pass that borrows, with a claim on its own share


def _groups(drafts: Iterable[Draft]) -> list[tuple[Draft, ...]]:
    optional = [d for d in drafts if not d.section.required]
    newest: dict[str, int] = {}
    for draft in optional:
        if draft.section.messages:
            newest[draft.section.slot] = max(newest.get(draft.section.slot, -1), draft.section.turn)
    turns: dict[tuple[str, int], list[Draft]] = {}
    groups: list[tuple[Draft, ...]] = []
    for draft in optional:
        if draft.section.messages:
            key = (draft.section.slot, draft.section.turn)
            if key not in turns:
                turns[key] = []
            turns[key].append(draft)
        else:
            groups.append((draft,))
    groups.extend(tuple(t) for t in turns.values())
    groups.sort(key=lambda g: min(keep_key(d, newest.get(d.section.slot, -1)) for d in g))
    return groups


class _Fitter:
    def __init__(self, request: Request, allocation: Allocation, room: _Room, wrapper: Wrapper) -> None:
        self.request = request
        self.allocation = allocation
        self.room = room
        self.wrapper = wrapper
        self.frame = per_message(request)
        self.slot_limits = {s.id: s.max_tokens for s in request.template.sections}
        self.gaps: dict[str, str] = {}  # conversations (their slot) that have lost something, and to which bound
        self.claims: dict[str, int] = {}  # tokens of the groups that wait, by share

    def admit(self, waiting: list[_Group], *, borrow: bool) -> list[_Group]:
        """One pass over the groups in order of admission; those that did not go in."""
        refused: list[_Group] = []
        closed: set[str] = set()
        for group in waiting:
            slot = group.first.section.slot
            if group.waits:
                self.claims[group.share] -= group.tokens
            if group.is_turn and slot in self.gaps:
                refused.append(group)
                continue
            if not borrow and group.share in self.claims:  # behind one that ranks higher
                self._wait(group)
                refused.append(group)
                continue
            if group.is_turn and slot in closed:
                refused.append(group)
                continue
            space = self._space(group, borrow=borrow)
            if group.tokens <= space:
                reason = "borrowed room" if borrow and group.tokens > self._space(group, borrow=False) else "fits"
                self._take(group.drafts)
                self.room.decisions.extend(_kept(d, reason) for d in group.drafts)
                continue
            if group.is_turn:
                closed.add(slot)
            settled = self._settled(group, space, borrow=borrow)
            if settled and self._shorten(group, space):
                continue
            if not settled and self._gains(group):
                self._wait(group)
            refused.append(group)
        return refused

    def _wait(self, group: _Group) -> None:
        group.waits = True
        self.claims[group.share] = self.claims.get(group.share, 0) + group.tokens

    def _gains(self, group: _Group) -> bool:
        """Whether a group that waits for the pass that borrows will have something of it, as far as can be seen."""
        can_shrink = group.is_turn or group.first.section.overflow.action in ("cut", "reference")
        return can_shrink or group.tokens <= self._space(group, borrow=True)

    def _settled(self, group: _Group, space: int, *, borrow: bool) -> bool:
        """Whether a group that does not fit whole is to be shortened in this pass.

        In the last one, and before it where borrowing adds nothing: what leaves room later is then ranked below it.
        """
        if borrow:
            return True
        return ladder(group.first.section, group.first.section.turn) > 0 and self._space(group, borrow=True) <= space

    def _space(self, group: _Group, *, borrow: bool) -> int:
        """Tokens that a group may take now: of the request (less its framing), of its bucket, of its slot."""
        pool, bound = self._bounds(group, borrow=borrow)
        space = pool - group.messages * self.frame
        return space if bound is None else min(space, bound)

    def _bounds(self, group: _Group, *, borrow: bool) -> tuple[int, int | None]:
        """What is left of the request, framing included, and of the group's own shares, which know no framing."""
        key = group.share
        allowance = self.allocation.allowances.get(key)
        pool = self.room.left - sum(self.room.floors.values()) + self.room.floors.get(key, 0)
        if borrow:
            pool -= sum([self._claimed(k) for k in self.claims if k != key])
        bounds = []
        if allowance is not None:
            share = allowance.hard if borrow else allowance.soft
            if share is not None:
                bounds.append(share - self.room.used.get(key, 0))
        limit = self.slot_limits.get(group.first.section.slot)
        if limit is not None:
            bounds.append(limit - self.room.slots.get(group.first.section.slot, 0))
        return pool, min(bounds) if bounds else None

    def _claimed(self, key: str) -> int:
        """What is left of a share, beyond its floor, for the groups that wait for it."""
        soft = self.allocation.allowances[key].soft if key in self.allocation.allowances else None
        if soft is None or not self.claims[key]:
            return 0
        return max(0, min(soft - self.room.used.get(key, 0), self.claims[key]) - self.room.floors.get(key, 0))

    def _take(self, drafts: Iterable[Draft]) -> None:
        for draft in drafts:
            section = draft.section
            key = group_of(draft)
            self.room.drafts[section.section_id] = draft
            self.room.left -= draft.tokens + draft.messages * self.frame
            self.room.used[key] = self.room.used.get(key, 0) + draft.tokens
            self.room.floors[key] = max(0, self.room.floors.get(key, 0) - draft.tokens)
            self.room.slots[section.slot] = self.room.slots.get(section.slot, 0) + draft.tokens

    def _shorten(self, group: _Group, space: int) -> bool:
        """Whether something shorter went in instead."""
        if group.is_turn:
            return self._part_of_turn(group)
        short = shorten(self.request, group.first, space, self.wrapper)
        if short is None or short.tokens > space:
            return False
        self._record_short(group.first, short)
        return True

    def _record_short(self, whole: Draft, short: Draft) -> None:
        self._take((short,))
        self.room.compression.append(
            Compression(
                section_id=whole.section.section_id,
                before=whole.tokens,
                after=short.tokens,
                strategy=short.strategy,
                source_refs=_source_refs(whole.section),
            )
        )
        self.room.decisions.append(
            Decision(
                section_id=whole.section.section_id,
                stage=STAGE,
                verdict=short.verdict,
                reason=f"budget: {short.strategy}",
                before=whole.tokens,
                after=short.tokens,
            )
        )

    def _part_of_turn(self, group: _Group) -> bool:
        """The newest turn of a conversation does not fit whole: its opening and its newest steps go in."""
        slot = group.first.section.slot
        if any(d.section.slot == slot and d.section.messages for d in self.room.drafts.values()
               if not d.section.required):  # fmt: skip
            return False  # an older turn: it leaves whole
        opening = [d for d in group.drafts if d.section.attributes.get("opens_turn")]
        steps = [d for d in group.drafts if not d.section.attributes.get("opens_turn")]
        pool, bound = self._bounds(group, borrow=True)
        own = pool if bound is None else bound
        taken: list[Draft] = []
        for draft in opening:
            own -= draft.tokens
            pool -= draft.tokens + draft.messages * self.frame
            taken.append(draft)
        if own < 0 or pool < 0:
            return False
        for draft in reversed(steps):
            left = min(own, pool - draft.messages * self.frame)
            if draft.tokens > left:
                # The step that does not fit whole goes in with its results cut, where that leaves them worth reading.
                short = shorten(self.request, draft, left, self.wrapper)
                if short is not None and short.tokens <= left:
                    taken.append(draft)
                    self._record_short(draft, short)
                break
            own -= draft.tokens
            pool -= draft.tokens + draft.messages * self.frame
            taken.append(draft)
        if len(taken) == len(opening) and steps:
            return False  # a question without any of what followed says nothing
        done = {d.section.section_id for d in taken}
        reason = self._reason(group)
        self.room.decisions.extend(
            _kept(d, "newest steps of the turn") for d in taken if d.section.section_id not in self.room.drafts
        )
        self._take(d for d in group.drafts if d.section.section_id in done
                   and d.section.section_id not in self.room.drafts)  # fmt: skip
        for draft in group.drafts:
            if draft.section.section_id not in done:
                self.gaps[slot] = reason
                self._drop(draft, reason, "older steps of the turn")
        return True

    def leave(self, group: _Group) -> None:
        """Record a group as dropped, with what kept it out; groups come in their order of admission."""
        slot = group.first.section.slot
        if group.is_turn and slot in self.gaps:
            reason, detail = self.gaps[slot], "older than a turn that did not fit whole"
        else:
            reason = self._reason(group)
            detail = f"{group.tokens:,} tokens, room for {max(0, self._space(group, borrow=True)):,}"
            if group.is_turn:
                self.gaps[slot] = reason
        for draft in group.drafts:
            self._drop(draft, reason, detail)

    def _reason(self, group: _Group) -> str:
        """Which bound a group that is not in yet would be over."""
        slot, key = group.first.section.slot, group.share
        allowance = self.allocation.allowances.get(key)
        limit = self.slot_limits.get(slot)
        if limit is not None and self.room.slots.get(slot, 0) + group.tokens > limit:
            return "max_tokens"
        hard = allowance.hard if allowance is not None else None
        return "bucket" if hard is not None and self.room.used.get(key, 0) + group.tokens > hard else "budget"

    def _drop(self, draft: Draft, reason: str, detail: str) -> None:
        gone, decision = drop(draft.section, STAGE, reason, detail, draft.tokens)
        self.room.dropped.append(gone)
        self.room.decisions.append(decision)


def _kept(draft: Draft, reason: str) -> Decision:
    return Decision(
        section_id=draft.section.section_id,
        stage=STAGE,
        verdict="kept",
        reason=reason,
        before=draft.tokens,
        after=draft.tokens,
    )


def _source_refs(section: Section) -> tuple[str, ...]:
    record = section.attributes.get("record")
    found = [section.source_uri]
    if record is not None:
        found.extend(r for r in (record.artifact_ref, record.locator) if r)
    return tuple(found)
