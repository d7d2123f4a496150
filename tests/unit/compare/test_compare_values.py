"""Free-form values are compared by key; an insertion is one addition and a reorder a reorder."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxc.compare.values import ABSENT, shown, value_changes

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("xy", max_size=1), inner, max_size=3),
    max_leaves=8,
)


def told(base: Any, head: Any) -> list[tuple[str, str, Any, Any]]:
    return [
        ("/".join(map(str, c.path)), c.kind, None if c.base is ABSENT else c.base, None if c.head is ABSENT else c.head)
        for c in value_changes(base, head)
    ]


@given(json_values, json_values)
def test_something_differs_exactly_where_values_do(base: Any, head: Any) -> None:
    from ctxc.base.canonical import canonical

    assert bool(value_changes(base, head)) == (canonical(base) != canonical(head))


@pytest.mark.parametrize(
    ("base", "head", "expected"),
    [
        ({"a": 1}, {"a": 2}, [("a", "changed", 1, 2)]),
        ({"a": 1}, {"a": "1"}, [("a", "type", 1, "1")]),
        ({"a": True}, {"a": 1}, [("a", "type", True, 1)]),
        ({"a": 1}, {"b": 1}, [("a", "removed", 1, None), ("b", "added", None, 1)]),
        (["x", "y"], ["x", "n", "y"], [("1", "added", None, "n")]),
        (["x", "y"], ["y", "x"], [("", "moved", ["x", "y"], ["y", "x"])]),
        ([{"id": 1, "v": 1}, {"id": 2, "v": 2}], [{"id": 0, "v": 0}, {"id": 1, "v": 1}, {"id": 2, "v": 3}],
         [("0", "added", None, {"id": 0, "v": 0}), ("2/v", "changed", 2, 3)]),
        ({"a": [1]}, {"a": {"x": 1}}, [("a", "type", [1], {"x": 1})]),
        (1, 2, [("", "changed", 1, 2)]),
        ([1, 1], [1], [("1", "removed", 1, None)]),
    ],
)  # fmt: skip
def test_changes(base: Any, head: Any, expected: list[tuple[str, str, Any, Any]]) -> None:
    assert told(base, head) == expected


def test_places_on_both_sides() -> None:
    (change, *_) = [
        c for c in value_changes([{"id": 1, "v": 1}], [{"id": 0}, {"id": 1, "v": 2}]) if c.kind == "changed"
    ]
    assert (change.was, change.path) == ((0, "v"), (1, "v"))


def test_what_is_printed() -> None:
    assert (shown("a"), shown(1), shown(None), shown(ABSENT), shown({"a": "ü"})) == ("a", "1", "null", "", '{"a": "ü"}')
