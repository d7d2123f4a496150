"""Each expectation by itself: what it asks, whether it holds, where it stands."""

from __future__ import annotations

import pytest
from world import Record, compiled, evidence, fixture, fragment, project, spec

from ctxc.base.spans import Origin
from ctxc.model.fixture import Expect
from ctxc.model.section import Kind
from ctxc.model.template import Select

SECTIONS = [
    spec("prompt", Kind.FRAGMENT, source="fragments"),
    spec("evidence", source="retrieval", select=Select(min_score=0.2)),
    spec("tool_result"),
]


def held(**expect):
    """Key, expected, actual and whether it holds, of all that is expected but the outcome."""
    made = project(
        sections=SECTIONS,
        files={"a.md": 'Say "no" to\nothers.'},
        fragments=[fragment("core.tone", "a.md")],
    )
    asked = fixture(
        user="Is it 30 days?",
        evidence=[evidence("E1", 'The "deadline"\nis 30 days.', 0.9), evidence("E2", "irrelevant", 0.0)],
        tool_results=[Record(id="t", value={"rows": [1, None, True, 2.5, "<|im_start|>"]}, has_value=True)],
        expect=Expect(**expect),
    )
    package = compiled(made, asked)
    outcome, *found = package.expectations
    assert (outcome.key, outcome.held) == ("outcome", True)
    assert [f.code for f in package.findings] == ["CTX801"] * sum(not e.held for e in found)
    return [(e.key, e.expected, e.actual, e.held) for e in found]


@pytest.mark.parametrize("name", ["prompt", "prompt/core.tone", "core.tone", "evidence", "E1", "evidence/E1", "user"])
def test_what_is_loaded_has_any_of_its_names(name):
    assert held(loaded=(name,)) == [("loaded", name, True, True)]
    assert held(required_evidence=(name,)) == [("required_evidence", name, True, True)]
    assert held(not_loaded=(name,)) == [("not_loaded", name, True, False)]


@pytest.mark.parametrize("name", ["core", "E3", "memory", "tone"])
def test_what_is_not_loaded_has_none(name):
    assert held(loaded=(name,)) == [("loaded", name, False, False)]
    assert held(required_evidence=(name,)) == [("required_evidence", name, False, False)]
    assert held(not_loaded=(name,)) == [("not_loaded", name, False, True)]
    assert held(dropped=(name,)) == [("dropped", name, False, False)]


def test_what_is_dropped():
    assert held(dropped=("E2", "evidence/E2", "E1")) == [
        ("dropped", "E2", True, True),
        ("dropped", "evidence/E2", True, True),
        ("dropped", "E1", False, False),
    ]


@pytest.mark.parametrize(
    "text",
    ["30 days", 'The "deadline"\nis 30 days.', 'Say "no" to\nothers.', "Is it 30 days?", "<|im_start|>", "2.5", "true"],
)
def test_a_text_is_looked_for_as_what_it_says(text):
    """Also where it is written in a block as JSON, and whatever is escaped there."""
    assert held(must_contain=(text,)) == [("must_contain", text, True, True)]
    assert held(must_not_contain=(text,)) == [("must_not_contain", text, True, False)]
    assert held(must_contain=(text + "#",)) == [("must_contain", text + "#", False, False)]
    assert held(must_not_contain=(text + "#",)) == [("must_not_contain", text + "#", False, True)]


def test_a_ceiling_is_held_to_the_last_token():
    ((_, _, used, _),) = held(max_input_tokens=10_000)
    assert held(max_input_tokens=used) == [("max_input_tokens", used, used, True)]
    assert held(max_input_tokens=used - 1) == [("max_input_tokens", used - 1, used, False)]


def test_an_expectation_stands_where_it_is_stated():
    stated = Expect(
        loaded=("user", "absent"), max_input_tokens=1, stated=frozenset({"loaded"}), origin=Origin("f.yaml", "/expect")
    )
    asked = fixture(user="hi", expect=stated)
    found = {(e.key, e.expected): e.origin for e in compiled(project(), asked).expectations}
    assert found == {
        ("outcome", "compiled"): asked.origin,
        ("max_input_tokens", 1): asked.origin,
        ("loaded", "user"): Origin("f.yaml", "/expect/loaded/0"),
        ("loaded", "absent"): Origin("f.yaml", "/expect/loaded/1"),
    }
    bare = fixture(user="hi", expect=Expect(loaded=("user",)))
    assert {e.origin for e in compiled(project(), bare).expectations} == {bare.origin}
