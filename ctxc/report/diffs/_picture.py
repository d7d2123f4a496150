"""The two requests of a fixture side by side, as a drawing: sections as blocks whose height is their tokens.

What stands on both sides is joined by a band, so that a section that moved is seen to cross the others. Below the
blocks stands what was left out; across them, where the cached prefix ends and where the two requests part.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import NamedTuple

from ctxc.model.change import Block, FixtureChange
from ctxc.report._encode import clip, visible

_HEIGHT = 460.0  # of the larger request, in units of the drawing
_LEAST = 3.0  # of a block, so that one of two tokens can be seen
_WIDTH, _COLUMN = 900, 310
_LEFT, _RIGHT = 40, 550
_TOP = 34
_LABELLED = 13.0  # height from which a block has room for its name
_LETTER = 6.4  # width of a column of text
_LEFT_OUT = 16  # height of one line of what was left out
_SHOWN_LEFT_OUT = 8


class Placed(NamedTuple):
    """A block with its place in the drawing."""

    block: Block
    top: float
    height: float


def text(value: str) -> str:
    """A text of a project inside HTML or SVG: inert, hidden characters visible."""
    return escape(visible(value), quote=True)


def picture(fixture: FixtureChange) -> str:
    """An ``svg`` element; nothing where neither side has a request."""
    largest = max((_total(b) for b in (fixture.base_layout, fixture.head_layout)), default=0)
    if not largest:
        return ""
    scale = _HEIGHT / largest
    base, head = _place(fixture.base_layout, scale), _place(fixture.head_layout, scale)
    bottom = max([p.top + p.height for p in (*base, *head)] or [_TOP])
    out = list(_left_out(fixture, bottom + 26))
    height = bottom + 12 + (26 + _LEFT_OUT * len(out) if out else 0)
    parts = [
        *_titles(fixture),
        *_bands(fixture, base, head),
        *_blocks(base, _LEFT),
        *_blocks(head, _RIGHT),
        *_prefix(fixture, base, head),
        *out,
    ]
    name = text(f"{fixture.fixture_id}: the request at base and at head")
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height:.0f}" role="img" aria-label="{name}" '
        f'xmlns="http://www.w3.org/2000/svg">{"".join(parts)}</svg>'
    )


def _total(blocks: Sequence[Block]) -> int:
    return sum(b.tokens for b in blocks)


def _place(blocks: Iterable[Block], scale: float) -> list[Placed]:
    found, top = [], float(_TOP)
    for block in blocks:
        height = max(_LEAST, block.tokens * scale)
        found.append(Placed(block, top, height))
        top += height + 1.5
    return found


def _titles(fixture: FixtureChange) -> Iterator[str]:
    for x, side, used, blocks in (
        (_LEFT, "base", fixture.tokens.base, fixture.base_layout),
        (_RIGHT, "head", fixture.tokens.head, fixture.head_layout),
    ):
        size = f"{_total(blocks):,} tokens" if blocks else "no request"
        if used is not None:
            size = f"{'' if fixture.tokens.exact else '~'}{used:,} tokens"
        yield f'<text class="side" x="{x}" y="20">{side}: {size}</text>'


def _bands(fixture: FixtureChange, base: Sequence[Placed], head: Sequence[Placed]) -> Iterator[str]:
    """A band between the two places of each section that both sides have."""
    ids = {s.section_id: s.base_id or s.section_id for s in fixture.sections}
    old = {p.block.section_id: p for p in base}
    left, right, middle = _LEFT + _COLUMN, _RIGHT, (_LEFT + _COLUMN + _RIGHT) / 2
    quiet: list[str] = []
    loud: list[str] = []
    turns = _turns(fixture)
    for place in head:
        block = place.block
        was = old.get(turns.get(block.section_id) or ids.get(block.section_id, block.section_id))
        if was is None or block.status in ("added", "removed"):
            continue
        one, other = was.top, place.top
        path = (
            f"M{left} {one:.1f}C{middle} {one:.1f} {middle} {other:.1f} {right} {other:.1f}"
            f"L{right} {other + place.height:.1f}C{middle} {other + place.height:.1f} {middle} "
            f"{one + was.height:.1f} {left} {one + was.height:.1f}Z"
        )
        band = f'<path class="band {_kind(block)}" d="{path}"/>'
        (quiet if block.status == "unchanged" else loud).append(band)
    yield from (*quiet, *loud)


def _turns(fixture: FixtureChange) -> Mapping[str, str]:
    """Head's number of a turn to base's, for those that did not change: they are numbered by their place."""
    kept = [
        [b.section_id for b in blocks if b.kind == "history" and b.status == "unchanged"]
        for blocks in (fixture.base_layout, fixture.head_layout)
    ]
    return dict(zip(kept[1], kept[0], strict=True)) if len(kept[0]) == len(kept[1]) else {}


def _kind(block: Block) -> str:
    """The class of a block: only names of ours may be one."""
    known = ("unchanged", "changed", "added", "removed", "moved")
    return block.status if block.status in known else "changed"


def _blocks(places: Sequence[Placed], x: int) -> Iterator[str]:
    for block, top, height in places:
        told = f"{block.section_id}: {block.tokens:,} tokens, {block.zone}, {block.status}"
        told += ", cut" if block.truncated else ""
        yield (
            f'<g><title>{text(told)}</title><rect class="block {_kind(block)}" x="{x}" y="{top:.1f}" '
            f'width="{_COLUMN}" height="{height:.1f}"/>'
            f'<rect class="zone {_zone(block)}" x="{x}" y="{top:.1f}" width="5" height="{height:.1f}"/>'
        )
        if height >= _LABELLED:
            size = f"{block.tokens:,}"
            room = int((_COLUMN - 24) / _LETTER) - len(size) - 2
            middle = top + min(height / 2, 24) + 4
            yield f'<text x="{x + 12}" y="{middle:.1f}">{escape(clip(visible(block.section_id), room))}</text>'
            yield f'<text class="size" x="{x + _COLUMN - 6}" y="{middle:.1f}">{size}</text>'
        yield "</g>"


def _zone(block: Block) -> str:
    return block.zone if block.zone in ("system", "tools", "turn", "data") else "data"


def _prefix(fixture: FixtureChange, base: Sequence[Placed], head: Sequence[Placed]) -> Iterator[str]:
    """Where the cached prefix ends on each side, and where the requests part."""
    prefix = fixture.prefix
    if prefix is None:
        return
    sides = ((_LEFT, base, prefix.base_tokens), (_RIGHT, head, prefix.head_tokens))
    for x, places, tokens in sides:
        stable = [p for p in places if p.block.stable]
        if not stable:
            continue
        y = max(p.top + p.height for p in stable) + 0.75
        # The number stands between the columns, where no block is.
        at, anchor = (x + _COLUMN + 18, "start") if x == _LEFT else (x - 18, "end")
        yield (
            f'<line class="prefix" x1="{x - 14}" x2="{x + _COLUMN + 14}" y1="{y:.1f}" y2="{y:.1f}">'
            f"<title>the cached prefix ends here: {tokens:,} tokens</title></line>"
            f'<text class="note" x="{at}" y="{y + 3.5:.1f}" text-anchor="{anchor}">prefix {tokens:,}</text>'
        )
    first = prefix.first_difference
    if first is None:
        return
    for x, places in ((_LEFT, base), (_RIGHT, head)):
        place = next((p for p in places if p.block.section_id == first.section_id), None)
        if place is not None:
            y = place.top + 0.5
            yield (
                f'<path class="first" d="M{x - 16} {y - 5:.1f}L{x - 4} {y:.1f}L{x - 16} {y + 5:.1f}Z">'
                f"<title>{text(f'first difference: {first.section_id}, {first.reason}')}</title></path>"
            )


def _left_out(fixture: FixtureChange, top: float) -> Iterator[str]:
    """What one side leaves out and the other does not."""
    drops = sorted(fixture.drops, key=lambda d: -(d.tokens or 0))
    marks = {"dropped": ("removed", "falls out"), "restored": ("added", "comes back")}
    for number, drop in enumerate(drops[:_SHOWN_LEFT_OUT]):
        kind, told = marks.get(drop.status, ("changed", drop.status.replace("_", " ")))
        y = top + number * _LEFT_OUT
        reason = drop.head_reason or drop.base_reason
        size = f", {drop.tokens:,} tokens" if drop.tokens is not None else ""
        line = f"{told}: {drop.section_id} ({reason}{size})"
        yield (
            f'<rect class="out {kind}" x="{_LEFT}" y="{y - 10:.1f}" width="12" height="12"/>'
            f'<text x="{_LEFT + 20}" y="{y:.1f}">{escape(clip(visible(line), 110))}</text>'
        )
    if len(drops) > _SHOWN_LEFT_OUT:
        y = top + _SHOWN_LEFT_OUT * _LEFT_OUT
        yield f'<text class="note" x="{_LEFT + 20}" y="{y:.1f}">and {len(drops) - _SHOWN_LEFT_OUT:,} more</text>'
