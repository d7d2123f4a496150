"""Edit scripts of two sequences, and which items of a sequence moved.

The edit script is Myers' greedy one (E. W. Myers, An O(ND) Difference Algorithm and Its Variations, 1986), after
equal ends and items that stand on one side only are set aside: what is left is nearly equal, so that the search stays
short also where a third of a long text is gone. Where it would not stay short, a block is told as replaced.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import NamedTuple

MAX_EDITS = 1_000
"""Edits after which two long texts are held together by what stands once in both; the search is quadratic in them."""


class Block(NamedTuple):
    """A run of two sequences: ``base[i1:i2]`` became ``head[j1:j2]``; ``equal`` where both are the same."""

    equal: bool
    i1: int
    i2: int
    j1: int
    j2: int


def blocks(base: Sequence[Hashable], head: Sequence[Hashable]) -> tuple[Block, ...]:
    """The edit script as alternating equal and different blocks that cover both sequences."""
    start, end = _same_ends(base, head)
    first, second = base[start : len(base) - end], head[start : len(head) - end]
    pairs = [(start + i, start + j) for i, j in _common(first, second)]
    pairs = [(i, i) for i in range(start)] + pairs
    pairs += [(len(base) - end + k, len(head) - end + k) for k in range(end)]
    return _as_blocks(pairs, len(base), len(head))


def _same_ends(base: Sequence[Hashable], head: Sequence[Hashable]) -> tuple[int, int]:
    shortest = min(len(base), len(head))
    start = 0
    while start < shortest and base[start] == head[start]:
        start += 1
    end = 0
    while end < shortest - start and base[-1 - end] == head[-1 - end]:
        end += 1
    return start, end


def _common(base: Sequence[Hashable], head: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Pairs of indexes of a longest common subsequence."""
    in_base, in_head = set(base), set(head)
    kept_base = [i for i, item in enumerate(base) if item in in_head]
    kept_head = [j for j, item in enumerate(head) if item in in_base]
    if not kept_base or not kept_head:
        return []
    numbers: dict[Hashable, int] = {}
    a = [numbers.setdefault(base[i], len(numbers)) for i in kept_base]
    b = [numbers.setdefault(head[j], len(numbers)) for j in kept_head]
    start, end = _same_ends(a, b)
    found = [(k, k) for k in range(start)]
    found += [(start + x, start + y) for x, y in _matches(a[start : len(a) - end], b[start : len(b) - end])]
    found += [(len(a) - end + k, len(b) - end + k) for k in range(end)]
    return [(kept_base[x], kept_head[y]) for x, y in found]


def _matches(a: list[int], b: list[int]) -> list[tuple[int, int]]:
    """Matches of a shortest edit script; where that is too long, of one between items that stand once on each side."""
    found = _myers(a, b, MAX_EDITS)
    if found is not None:
        return found
    pairs: list[tuple[int, int]] = []
    i = j = 0
    for x, y in (*_unique(a, b), (len(a), len(b))):
        between = _myers(a[i:x], b[j:y], MAX_EDITS // 10) or []
        pairs += [(i + p, j + q) for p, q in between]
        if x < len(a):
            pairs.append((x, y))
        i, j = x + 1, y + 1
    return pairs


def _myers(a: list[int], b: list[int], limit: int) -> list[tuple[int, int]] | None:
    """Matches of a shortest edit script; None where it has more than ``limit`` edits."""
    n, m = len(a), len(b)
    if not n or not m:
        return []
    furthest = {1: 0}
    trail: list[dict[int, int]] = []
    for edits in range(min(n + m, limit) + 1):
        trail.append(dict(furthest) if edits <= 1 else {k: furthest[k] for k in range(-edits + 1, edits, 2)})
        for k in range(-edits, edits + 1, 2):
            down = k == -edits or (k != edits and furthest[k - 1] < furthest[k + 1])
            x = furthest[k + 1] if down else furthest[k - 1] + 1
            y = x - k
            while x < n and y < m and a[x] == b[y]:
                x, y = x + 1, y + 1
            furthest[k] = x
            if x >= n and y >= m:
                return _walk_back(trail, n, m)
    return None


def _walk_back(trail: list[dict[int, int]], n: int, m: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    x, y = n, m
    for edits in range(len(trail) - 1, 0, -1):
        before = trail[edits]
        k = x - y
        down = k == -edits or (k != edits and before[k - 1] < before[k + 1])
        previous = k + 1 if down else k - 1
        px = before[previous]
        while x > (px if down else px + 1):
            x, y = x - 1, y - 1
            found.append((x, y))
        x, y = px, px - previous
    while x > 0:
        x, y = x - 1, y - 1
        found.append((x, y))
    return found[::-1]


def _unique(a: list[int], b: list[int]) -> list[tuple[int, int]]:
    """Items that stand once on each side and keep their order: enough to hold two very different texts together."""
    places = {item: j for j, item in enumerate(b)}
    once_a, once_b = _once(a), _once(b)
    pairs = [(i, places[item]) for i, item in enumerate(a) if item in once_a and item in once_b]
    kept = set(increasing([j for _, j in pairs]))
    return [pair for number, pair in enumerate(pairs) if number in kept]


def _once(items: list[int]) -> set[int]:
    seen: set[int] = set()
    twice: set[int] = set()
    for item in items:
        (twice if item in seen else seen).add(item)
    return seen - twice


def _as_blocks(pairs: list[tuple[int, int]], n: int, m: int) -> tuple[Block, ...]:
    found: list[Block] = []
    i = j = at = 0
    while at < len(pairs):
        x, y = pairs[at]
        if x > i or y > j:
            found.append(Block(False, i, x, j, y))
        run = 0
        while at < len(pairs) and pairs[at] == (x + run, y + run):
            run, at = run + 1, at + 1
        found.append(Block(True, x, x + run, y, y + run))
        i, j = x + run, y + run
    if i < n or j < m:
        found.append(Block(False, i, n, j, m))
    return tuple(found)


def increasing(values: Sequence[int]) -> tuple[int, ...]:
    """Indexes of a longest strictly increasing subsequence."""
    ends: list[int] = []
    at: list[int] = []
    before: list[int] = []
    for index, value in enumerate(values):
        place = bisect_left(ends, value)
        if place == len(ends):
            ends.append(value)
            at.append(index)
        else:
            ends[place], at[place] = value, index
        before.append(at[place - 1] if place else -1)
    found: list[int] = []
    index = at[-1] if at else -1
    while index >= 0:
        found.append(index)
        index = before[index]
    return tuple(reversed(found))


def moved(base: Sequence[Hashable], head: Sequence[Hashable], weights: dict[Hashable, int]) -> frozenset[Hashable]:
    """Items of both sequences (each stands once) that left their order: as few as possible, the lightest of them.

    An insertion or a removal moves nothing. Of equally light ones, the item that stood first is the one that moved.
    """
    here = {item: place for place, item in enumerate(head)}
    shared = [item for item in base if item in here]
    order = [here[item] for item in shared]
    if all(one < other for one, other in pairwise(order)):
        return frozenset()
    kept = _heaviest(order, [_MANY + weights.get(item, 0) for item in shared])
    return frozenset(item for number, item in enumerate(shared) if number not in kept)


_MANY = 1 << 40  # more than any weight: the number of items that stay counts first


def _heaviest(order: list[int], weights: list[int]) -> set[int]:
    """Indexes of the heaviest increasing subsequence; of equal ones, that of the later items."""
    size = max(order) + 2
    best: list[tuple[int, int]] = [(0, -1)] * (size + 1)  # a Fenwick tree of (weight, index) by value
    before: list[int] = []
    top = (0, -1)
    for index, value in enumerate(order):
        found, place = (0, -1), value  # among smaller values
        while place > 0:
            found = max(found, best[place])
            place -= place & -place
        before.append(found[1])
        mine = (found[0] + weights[index], index)
        top = max(top, mine)
        place = value + 1
        while place <= size:
            best[place] = max(best[place], mine)
            place += place & -place
    kept: set[int] = set()
    index = top[1]
    while index >= 0:
        kept.add(index)
        index = before[index]
    return kept
