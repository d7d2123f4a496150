"""Which fragments a route makes candidates."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from world import fragment, project

from ctxc.compiler.routing import FragmentIndex, matches, may_match, route_key
from ctxc.model.fragment import LoadMode, LostFragment


@pytest.mark.parametrize(
    ("conditions", "route", "expected"),
    [
        ({}, {}, True),
        ({"family": ("motor", "home")}, {"family": ("home",)}, True),
        ({"family": ("motor",)}, {"family": ("home", "motor")}, True),
        ({"family": ("motor",)}, {"family": ("home",)}, False),
        ({"family": ("motor",)}, {"task": ("motor",)}, False),
        ({"family": ("motor",)}, {"family": ()}, False),
        ({"family": ("motor",), "task": ("intake",)}, {"family": ("motor",)}, False),
        ({"family": ("motor",), "task": ("intake",)}, {"family": ("motor",), "task": ("intake",)}, True),
        ({"files": ("docs/**", "src/*.py")}, {"files": ("readme.md", "src/a.py")}, True),
        ({"files": ("docs/**", "src/*.py")}, {"files": ("readme.md", "src/a.js")}, False),
        ({"files": ("src/*.py",), "family": ("motor",)}, {"files": ("src/a.py",)}, False),
        ({"family": ("src/*.py",)}, {"family": ("src/a.py",)}, False),
    ],
)
def test_every_key_by_any_of_its_values_and_files_by_their_globs(conditions, route, expected):
    assert matches(conditions, route) is expected


ROUTE = {"family": ("motor",)}


@pytest.mark.parametrize(
    ("lost", "expected"),
    [
        (LostFragment(id=""), True),
        (LostFragment(id="", load_mode=LoadMode.EXPLICIT), True),
        (LostFragment(id="a"), True),
        (LostFragment(id="a", load_mode=LoadMode.EXPLICIT), False),
        (LostFragment(id="a", load_mode=LoadMode.ROUTE_MATCH), True),
        (LostFragment(id="a", load_mode=LoadMode.ROUTE_MATCH, applies_when={}), True),
        (LostFragment(id="a", load_mode=LoadMode.ROUTE_MATCH, applies_when={"family": ("motor",)}), True),
        (LostFragment(id="a", load_mode=LoadMode.ROUTE_MATCH, applies_when={"family": ("home",)}), False),
        (LostFragment(id="a", load_mode=LoadMode.REFERENCE, applies_when={"family": ("home",)}), False),
        (LostFragment(id="a", load_mode=LoadMode.ALWAYS, applies_when={"family": ("home",)}), True),
        (LostFragment(id="a", load_mode=None, applies_when={"family": ("home",)}), True),
    ],
)
def test_a_fragment_that_could_not_be_loaded_might_match_where_nobody_can_know(lost, expected):
    assert may_match(lost, ROUTE) is expected


KEYS = st.sampled_from(["family", "task", "files"])
CONDITIONS = st.dictionaries(KEYS, st.lists(st.sampled_from("abc"), min_size=1, max_size=2, unique=True).map(tuple))


@settings(max_examples=100)
@given(st.lists(st.tuples(st.sampled_from(LoadMode), CONDITIONS), max_size=8), CONDITIONS)
def test_the_index_finds_what_looking_at_every_fragment_finds(fragments, route):
    made = [fragment(f"f{n}", "a.md", mode=m, applies_when=c) for n, (m, c) in enumerate(fragments)]
    expected = [
        f.id
        for f in made
        if f.load_mode is LoadMode.ALWAYS
        or (
            f.load_mode is not LoadMode.EXPLICIT
            and (f.applies_when or f.load_mode is not LoadMode.ROUTE_MATCH)
            and all(set(wanted) & set(route.get(key, ())) for key, wanted in f.applies_when.items())
        )
    ]
    assert [f.id for f in FragmentIndex(project(fragments=made)).candidates(route)] == expected


def test_a_route_key_names_what_its_candidates_are():
    one, other = fragment("a", "a.md"), fragment("b", "a.md")
    key = route_key([one])
    assert len(key) == 64
    assert len({key, route_key([]), route_key([other]), route_key([one, other])}) == 4
    assert route_key([fragment("a", "elsewhere.md")]) == key
