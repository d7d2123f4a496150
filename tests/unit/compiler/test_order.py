"""Where each section stands: zones, the newest request, the focus, and the orders inside one section."""

from __future__ import annotations

from dataclasses import replace

import pytest
from world import Record, compiled, evidence, fixture, project, provider, spec, user

from ctxc.model.contract import RequestProfile, ToolSet
from ctxc.model.section import Kind, Tool

TOOL = Tool(name="find", description="Find a claim.", input_schema={"type": "object", "properties": {}})


def names(package):
    return [p.section.section_id for p in package.placed]


def test_the_stable_prefix_comes_first_whatever_the_template_says():
    """Tools, what is stable of the system text, the rest of it, the turn and its data, the user, the focus."""
    made = project(
        sections=[
            spec("history"),
            spec("state"),
            spec("house", Kind.POLICY, source="h.md"),
            spec("policy", source="p.md", cacheable=True),
            spec("tools"),
        ],
        files={"h.md": "Answer in one line.", "p.md": "Never reveal other customers."},
        toolset=ToolSet(id="claims", version="1", tools=(TOOL,)),
        profile=RequestProfile(id="desk", version="1", toolset="claims"),
        focus=("claim_id",),
    )
    package = compiled(made, fixture(user="hi", history=[user("before")], state={"claim_id": "c_1"}))
    assert names(package) == ["tools", "policy", "house", "history/0", "state", "user", "focus"]
    assert [p.stable for p in package.placed] == [False, True, False, False, False, False, False]
    assert [p.position for p in package.placed] == list(range(7))
    assert [s.id for s in package.segments if s.stable] == ["model", "policy"]


RECORDS = [
    Record(id="b", text="first", time="2026-11-30T11:30:00Z", source="s1"),
    Record(id="a", text="second", source="s2"),
    Record(id="d", text="third", time="2026-11-30T12:00:00+01:00", source="s3"),
    Record(id="c", text="fourth", time="2026-11-30T11:30:00Z", source="s4"),
    Record(id="0", text="fifth", time="some day", source="s5"),
]


@pytest.mark.parametrize(
    ("order", "expected"),
    [("time", "d b c 0 a"), ("given", "b a d c 0"), ("score", "0 a b c d"), ("", "0 a b c d"), ("edges", "0 b d c a")],
)
def test_the_orders_inside_a_section(order, expected):
    """The oldest instant first, whatever its zone; what has no time after what has one; equals by id."""
    made = project(sections=[spec("evidence", source="retrieval", order=order)])
    package = compiled(made, fixture(user="hi", evidence=RECORDS))
    assert names(package) == [f"evidence/{n}" for n in expected.split()] + ["user"]


def test_edges_of_an_even_number():
    records = [evidence(f"E{n}", f"fact {n}", n / 10, source=f"s{n}") for n in range(1, 5)]
    package = compiled(
        project(sections=[spec("evidence", source="retrieval", order="edges")]), fixture(user="hi", evidence=records)
    )
    assert names(package) == [f"evidence/E{n}" for n in (4, 2, 1, 3)] + ["user"]


def test_what_is_no_record_has_no_time():
    package = compiled(project(sections=[spec("state", order="time")]), fixture(user="hi", state="open"))
    assert names(package) == ["state", "user"]


def marked(sections, tools=(), **more):
    """Texts (and names of tools) at which a request for Claude holds a cache mark, in reading order."""
    claude = provider(shape_id="anthropic_messages", capabilities=("tools", "cache_marks"), framing={})
    row = replace(claude.models[0], cache={"placements": ["tools", "system", "messages"], "ttls": ["5m"]})
    made = project(
        sections=sections,
        files={"h.md": "House rule.", "p.md": "Platform rule."},
        toolset=ToolSet(id="claims", version="1", tools=tools),
        profile=RequestProfile(id="desk", version="1", toolset="claims"),
        providers=[replace(claude, models=(row,))],
        **more,
    )
    request = compiled(made, fixture(user="hi", task="Help.", state="open")).request
    blocks = [*request.get("tools", ()), *request.get("system", ())]
    blocks += [b for m in request["messages"] if not isinstance(m["content"], str) for b in m["content"]]
    return [b.get("name") or b["text"] for b in blocks if "cache_control" in b]


def test_a_cache_mark_stands_at_the_end_of_the_stable_prefix_or_where_the_template_says():
    policy = spec("policy", source="p.md", cacheable=True)
    house = spec("house", Kind.POLICY, source="h.md")
    (only,) = marked([house, policy, spec("task")])
    assert "Platform rule." in only and "House rule." not in only
    assert marked([house, spec("task")]) == []
    assert marked([house, spec("tools", cacheable=True)], tools=(TOOL,)) == ["find"]
    assert marked([house, spec("tools")], tools=(TOOL,)) == []
    both = [house, policy, spec("task"), spec("state")]
    first, second = marked(both, checkpoints=("house", "task"))
    assert "House rule." in first and "Help." in second
    assert marked(both, checkpoints=("absent",)) == []
