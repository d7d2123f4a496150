"""Edit scripts are shortest, cover both sides, and stay fast; as few items as possible are said to have moved."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ctxc.compare.sequences import blocks, increasing, moved

few = st.lists(st.integers(0, 5), max_size=14)


def longest_common(a: list[int], b: list[int]) -> int:
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            table[i + 1][j + 1] = table[i][j] + 1 if x == y else max(table[i][j + 1], table[i + 1][j])
    return table[len(a)][len(b)]


@given(few, few)
def test_blocks_cover_both_sides_and_keep_all_that_is_common(a: list[int], b: list[int]) -> None:
    script = blocks(a, b)
    i = j = same = 0
    for block in script:
        assert (block.i1, block.j1) == (i, j) and (block.i2 > i or block.j2 > j)
        if block.equal:
            assert a[block.i1 : block.i2] == b[block.j1 : block.j2]
            same += block.i2 - block.i1
        i, j = block.i2, block.j2
    assert (i, j) == (len(a), len(b))
    assert same == longest_common(a, b)
    assert all(one.equal != other.equal for one, other in pairwise(script))


def test_two_long_texts_with_little_in_common_end_soon() -> None:
    a = [(n * 7919) % 211 for n in range(6_000)]
    b = [(n * 104_729) % 211 for n in range(6_000)]
    a[3_000], b[2_900] = -1, -1  # one item that stands once on each side
    script = blocks(a, b)
    assert script[0].i1 == script[0].j1 == 0 and (script[-1].i2, script[-1].j2) == (6_000, 6_000)
    assert any(blk.equal and blk.i1 <= 3_000 < blk.i2 and blk.j1 <= 2_900 < blk.j2 for blk in script)


def test_a_removal_in_the_middle_of_much_repetition() -> None:
    base = ["a", "b", "c", ""] * 500
    head = base[:800] + base[1_200:]
    assert sum(b.i2 - b.i1 for b in blocks(base, head) if not b.equal) == 400


@given(st.lists(st.integers(0, 9), max_size=12))
def test_increasing_is_longest(values: list[int]) -> None:
    found = increasing(values)
    assert all(values[i] < values[j] for i, j in pairwise(found))
    best = 0
    for mask in range(1 << len(values)):
        chosen = [v for n, v in enumerate(values) if mask >> n & 1]
        if all(x < y for x, y in pairwise(chosen)):
            best = max(best, len(chosen))
    assert len(found) == best


@given(st.permutations(range(7)))
def test_as_few_as_possible_have_moved(order: list[int]) -> None:
    base = list(range(7))
    gone = moved(base, order, {})
    rest = [x for x in order if x not in gone]
    assert rest == sorted(rest)
    assert len(rest) == len(increasing(order))


def test_an_insertion_or_a_removal_moves_nothing() -> None:
    assert moved("abc", "xabyc", {}) == frozenset()
    assert moved("abcd", "bd", {}) == frozenset()
    assert moved("abcde", "bcdea", {}) == {"a"}
    # Of two that could have moved, the one without a weight (it changed) did.
    assert moved("ab", "ba", {"a": 1}) == {"b"}
    assert moved("ab", "ba", {"b": 1}) == {"a"}
