"""Which section of one side is which of the other: by identity, never by place.

A section's id comes first. Messages of a recorded conversation are numbered, so an insertion at its start would rename
them all: they are aligned by what they say. What is left is matched by the id that its author gave it (a fragment that
moved to another section of the template), then by equal content, then by its file.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import NamedTuple

from ctxc.compare.sequences import blocks
from ctxc.compare.views import Item, View


class Pair(NamedTuple):
    """The two sides of one section; None where a side does not have it."""

    base: Item | None
    head: Item | None


def pairs(base: View, head: View) -> tuple[Pair, ...]:
    """Every section and every candidate that was left out, of both sides, matched."""
    old, new = [*base.items, *base.left_out], [*head.items, *head.left_out]
    found: list[Pair] = []
    if base.package is not None and head.package is not None:
        turns = (sorted(filter(_is_turn, side), key=_number) for side in (old, new))
        found.extend(_conversation(*turns))
        old, new = [i for i in old if not _is_turn(i)], [i for i in new if not _is_turn(i)]
    # Else one side is a saved snapshot, which does not know what was said in a turn that was left out.
    for key in _KEYS:
        old, new = _match(old, new, key, found)
    found.extend(Pair(i, None) for i in old)
    found.extend(Pair(None, i) for i in new)
    return tuple(found)


def _is_turn(item: Item) -> bool:
    if item.section is not None:
        return bool(item.section.messages) and item.kind == "history"
    return item.kind == "history" and item.section_id.rpartition("/")[2].isdigit()


def _number(item: Item) -> int:
    """The place of a turn in its conversation, whether it was rendered or left out."""
    number = item.section_id.rpartition("/")[2]
    return int(number) if number.isdigit() else -1


def _by_id(item: Item) -> Hashable:
    return item.section_id


def _by_name(item: Item) -> Hashable:
    return (item.kind, item.name)


def _by_content(item: Item) -> Hashable:
    return (item.kind, item.content_hash) if item.content_hash is not None and item.position is not None else None


def _by_source(item: Item) -> Hashable:
    return (item.kind, item.source) if item.source and item.position is not None else None


_KEYS: tuple[Callable[[Item], Hashable], ...] = (_by_id, _by_name, _by_content, _by_source)


def _match(
    old: Sequence[Item], new: Sequence[Item], key: Callable[[Item], Hashable], found: list[Pair]
) -> tuple[list[Item], list[Item]]:
    """Match what has the same key and no rival on its side; what is left of both."""
    left, right = _single(old, key), _single(new, key)
    shared = left.keys() & right.keys()
    found.extend(Pair(item, right[k]) for k, item in left.items() if k in shared)
    taken = {id(left[k]) for k in shared} | {id(right[k]) for k in shared}
    return [i for i in old if id(i) not in taken], [i for i in new if id(i) not in taken]


def _single(items: Iterable[Item], key: Callable[[Item], Hashable]) -> dict[Hashable, Item]:
    found: dict[Hashable, Item] = {}
    twice: set[Hashable] = {None}
    for item in items:
        k = key(item)
        if k in found:
            twice.add(k)
        found[k] = item
    return {k: item for k, item in found.items() if k not in twice}


def _conversation(old: Sequence[Item], new: Sequence[Item]) -> Iterable[Pair]:
    """Turns by content; in a block that differs, those of the same roles are versions of each other, in order."""
    for block in blocks([_said(i) for i in old], [_said(i) for i in new]):
        before, after = list(old[block.i1 : block.i2]), list(new[block.j1 : block.j2])
        if block.equal:
            yield from map(Pair, before, after)
            continue
        for item in before:
            twin = next((i for i in after if _roles(i) == _roles(item)), None)
            if twin is not None:
                after.remove(twin)
            yield Pair(item, twin)
        for item in after:
            yield Pair(None, item)


def _said(item: Item) -> Hashable:
    return item.content_hash or item.section_id


def _roles(item: Item) -> tuple[str, ...]:
    return tuple(m.role for m in item.section.messages) if item.section is not None else ()
