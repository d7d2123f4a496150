"""A change survives a cache, and nothing else passes for one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ctxc.compare.codec import compact, decode, encode
from ctxc.compare.narrow import only
from ctxc.compare.summary import edits, percentiles
from ctxc.model.change import (
    Change,
    FirstDifference,
    FixtureChange,
    Hunk,
    Percentiles,
    Prefix,
    Revision,
    Run,
    SectionChange,
    Tokens,
)


def section(name: str = "policy", **more: Any) -> SectionChange:
    values: dict[str, Any] = {
        "section_id": name, "status": "changed", "facets": ("content",), "kind": "policy", "zone": "system",
        "base_tokens": 10, "head_tokens": 12, "identity": name, "hunks": (Hunk(kind="edit", path="p", runs=(Run(op="-", text="a"),)),),
        **more,
    }  # fmt: skip
    return SectionChange(**values)


def change(*sections: SectionChange) -> Change:
    first = FirstDifference(section_id="policy", reason="system_changed", percent=5.25, byte=3)
    fixture = FixtureChange(
        fixture_id="x",
        status="changed",
        facets=("content", "prefix"),
        tokens=Tokens(base=1, head=None),
        prefix=Prefix(stable=False, lost_tokens=7, first_difference=first),
        sections=sections or (section(),),
    )
    other = FixtureChange(fixture_id="y", status="changed", facets=("content",), sections=sections or (section(),))
    fixtures = (fixture, other)
    return Change(
        version="1", base=Revision(rev="a", kind="commit"), head=Revision(rev="b", kind="commit"), fixtures=fixtures,
        edits=edits(fixtures),
    )  # fmt: skip


def test_a_change_is_read_back_as_it_was() -> None:
    made = change()
    for form in (compact, encode):
        assert decode(Change, json.loads(json.dumps(form(made)))) == made
    assert len(json.dumps(compact(made))) < 0.5 * len(json.dumps(encode(made)))


@pytest.mark.parametrize(
    "broken",
    [
        {}, [], None, {"version": 1}, {"unknown": 1}, {"fixtures": {}}, {"base": None}, {"fixtures": [{"status": "x"}]},
        {"fixtures": [{"fixture_id": "x", "status": "changed", "weight": True}]}, {"whole": 1},
        {"fixtures": [{"fixture_id": "x", "status": "changed", "tokens": {"base": "1", "head": None}}]},
    ],
)  # fmt: skip
def test_nothing_else_passes_for_a_change(broken: Any) -> None:
    value = compact(change())
    with pytest.raises(ValueError):
        decode(Change, {**value, **broken} if isinstance(broken, dict) and broken else broken)


def test_the_same_edit_of_two_fixtures_is_told_once() -> None:
    (edit,) = change().edits
    assert (edit.fixtures, edit.lost_tokens, edit.effect, edit.least, edit.most) == (("x", "y"), 7, 7 + 2 + 2, 2, 2)


def test_edits_that_only_count_differently_are_one() -> None:
    one = FixtureChange(fixture_id="x", status="changed", sections=(section(head_tokens=12),))
    other = FixtureChange(fixture_id="y", status="changed", sections=(section(head_tokens=15),))
    (edit,) = edits((one, other))
    assert (edit.least, edit.most, edit.effect) == (2, 5, 7)
    bare = [FixtureChange(fixture_id=n, status="changed", sections=(section(hunks=(), head_tokens=t),))
            for n, t in (("x", 12), ("y", 15))]  # fmt: skip
    assert len(edits(bare)) == 2, "without a text two numbers are two changes"


def test_the_largest_effect_stands_first() -> None:
    made = change(section("small"), section("policy", path="q"), section("large", head_tokens=500))
    assert [e.section.section_id for e in made.edits] == ["large", "policy", "small"]


def test_only_what_has_a_facet() -> None:
    made = change(section("a"), section("b", facets=("order",), status="moved"))
    narrowed = only(made, ("order",))
    assert [e.section.section_id for e in narrowed.edits] == ["b"]
    assert narrowed.fixtures == ()
    assert only(made, ()) is made
    assert [[s.section_id for s in f.sections] for f in only(made, ("content",)).fixtures] == [["a"], ["a"]]


def test_percentiles_are_by_nearest_rank() -> None:
    assert percentiles([]) is None
    assert percentiles([5]) == Percentiles(p50=5, p95=5, max=5)
    assert percentiles(range(1, 101)) == Percentiles(p50=50, p95=95, max=100)
    assert percentiles([3, 1, 2]) == Percentiles(p50=2, p95=3, max=3)
