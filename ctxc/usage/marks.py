"""Where a request's cache marks stand, and what is wrong with them before it is ever sent.

Every function is pure and takes a layout and the rules of its model, so that a lint rule, a gate and the simulation
ask the same question in the same way.
"""

from __future__ import annotations

from ctxc.base.values import dataclass
from ctxc.model.usage import Block, Layout
from ctxc.usage.cache_rules import CacheRules, seconds

UNMARKABLE = frozenset({"thinking", "redacted_thinking", "reasoningContent"})
"""Blocks that can carry no mark (Anthropic prompt caching, 2026-08-22)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A cache mark: the block that it stands after and the time to live that it asks for."""

    block: Block
    ttl: str
    implicit: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkFault:
    """A mark that the provider refuses or ignores. ``refused`` faults end the call with an error of the provider."""

    kind: str  # too_many | order | ineligible | placement | conflict
    block: Block
    message: str
    refused: bool = True


def marks_of(layout: Layout, rules: CacheRules) -> tuple[Mark, ...]:
    """Explicit marks in physical order, then the one that a request asks for at its last block.

    The automatic mark is no mark of its own where the last block carries one already.
    """
    found = [Mark(block=b, ttl=rules.ttl(b.mark)) for b in layout.blocks if b.mark]
    if layout.automatic and layout.blocks:
        last = _last_markable(layout)
        if last is not None and not last.mark:
            found.append(Mark(block=last, ttl=rules.ttl(layout.automatic), implicit=True))
    return tuple(found)


def _last_markable(layout: Layout) -> Block | None:
    return next((b for b in reversed(layout.blocks) if is_markable(b)), None)


def is_markable(block: Block) -> bool:
    """Whether a block can carry a mark at all: it has content, and is of a kind that takes one."""
    if block.kind in UNMARKABLE:
        return False
    return block.kind != "text" or any(s.text.strip() for s in block.segments)


def mark_faults(layout: Layout, rules: CacheRules) -> tuple[MarkFault, ...]:
    """Everything that is wrong with the marks of one request."""
    return (
        *too_many_marks(layout, rules),
        *unordered_marks(layout, rules),
        *ineligible_marks(layout, rules),
        *misplaced_marks(layout, rules),
        *conflicting_automatic(layout, rules),
    )


def too_many_marks(layout: Layout, rules: CacheRules) -> tuple[MarkFault, ...]:
    """Marks beyond the provider's limit (R3). GPT-5.6 ignores the earliest of too many; all others refuse the call."""
    marks = marks_of(layout, rules)
    limit = rules.max_breakpoints
    if not limit or len(marks) <= limit:
        return ()
    refuses = rules.mode != "implicit_latest_message"
    over = marks[limit:] if refuses else marks[: len(marks) - limit]
    return tuple(
        MarkFault(
            kind="too_many",
            block=m.block,
            message=f"{len(marks)} cache marks, {limit} are allowed",
            refused=refuses,
        )
        for m in over
    )


def unordered_marks(layout: Layout, rules: CacheRules) -> tuple[MarkFault, ...]:
    """Marks with a longer time to live behind one with a shorter (R5)."""
    if not rules.long_first:
        return ()
    found = []
    shortest: Mark | None = None
    for mark in marks_of(layout, rules):
        if shortest is not None and seconds(mark.ttl) > seconds(shortest.ttl):
            found.append(
                MarkFault(
                    kind="order",
                    block=mark.block,
                    message=f"a mark of {mark.ttl} stands behind one of {shortest.ttl}: longer ones come first",
                )
            )
        elif shortest is None or seconds(mark.ttl) < seconds(shortest.ttl):
            shortest = mark
    return tuple(found)


def ineligible_marks(layout: Layout, rules: CacheRules) -> tuple[MarkFault, ...]:
    """Marks on blocks that can carry none: empty text, thinking (R4)."""
    del rules
    return tuple(
        MarkFault(
            kind="ineligible",
            block=b,
            message=f"a mark on {'an empty text block' if b.kind == 'text' else f'a block of type {b.kind}'}",
        )
        for b in layout.blocks
        if b.mark and not is_markable(b)
    )


def misplaced_marks(layout: Layout, rules: CacheRules) -> tuple[MarkFault, ...]:
    """Marks in a zone in which this provider takes none (R9)."""
    return tuple(
        MarkFault(
            kind="placement",
            block=b,
            message=f"a mark in {b.zone}, where this model takes none",
            refused=bool(rules.placements),
        )
        for b in layout.blocks
        if b.mark and b.zone not in rules.placements
    )


def conflicting_automatic(layout: Layout, rules: CacheRules) -> tuple[MarkFault, ...]:
    """An automatic mark beside one of another time to live on the last block."""
    last = _last_markable(layout)
    if not layout.automatic or last is None or not last.mark:
        return ()
    if rules.ttl(last.mark) == rules.ttl(layout.automatic):
        return ()
    return (
        MarkFault(
            kind="conflict",
            block=last,
            message=f"the request asks for a mark of {rules.ttl(layout.automatic)} at its last block, "
            f"which has one of {rules.ttl(last.mark)}",
        ),
    )


def static_end(layout: Layout) -> Block | None:
    """The last block of the leading run of stable blocks."""
    last = None
    for block in layout.blocks:
        if not block.stable:
            break
        last = block
    return last


def static_tokens(layout: Layout) -> int:
    """Tokens of the leading run of stable segments; inside a block that holds others too, by their share of it."""
    tokens = 0
    for block in layout.blocks:
        if block.stable:
            tokens = block.end
            continue
        leading = 0
        for segment in block.segments:
            if not segment.stable:
                break
            leading += len(segment.wire)
        return tokens + (block.end - tokens) * leading // max(len(block.wire), 1)
    return tokens
