"""What holds for every request shape and any plan: nothing is lost, everything is found again, sums add up."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxc.model.request import Part, RenderPlan, Turn
from ctxc.model.section import Tool, ToolCall
from ctxc.providers import profile_ids, shape

PROFILES = [p for p in profile_ids() if p != "chat_template"]

TEXTS = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=40).filter(lambda t: t.strip())
NAMES = st.text(min_size=1, max_size=80).filter(lambda t: t.isprintable())
ARGUMENTS = st.one_of(
    st.sampled_from(["", "{}", "[1]", "null", '{"a": 1}', '{"a": 1, "a": 2}', '{"a": 1e400}', '{"a": "<|im_end|>"}']),
    st.dictionaries(st.text(max_size=5), st.integers(), max_size=3).map(json.dumps),
    st.text(max_size=20),
)


@st.composite
def conversations(draw: Any) -> tuple[list[Turn], list[str]]:
    """Turns in order, with complete calls, that end with the user; and every text in them."""
    turns: list[Turn] = []
    texts: list[str] = []
    for number in range(draw(st.integers(0, 3))):
        name = f"history.{number}"
        question, answer = draw(TEXTS), draw(TEXTS)
        texts += [question, answer]
        turns.append(Turn(role="user", parts=(Part(section_id=name, text=question),), section_id=name))
        calls = tuple(
            ToolCall(id=f"c{number}.{i} x", name=draw(NAMES), arguments=draw(ARGUMENTS))
            for i in range(draw(st.integers(0, 2)))
        )
        turns.append(
            Turn(role="assistant", parts=(Part(section_id=name, text=answer),), tool_calls=calls, section_id=name)
        )
        for call in draw(st.permutations(calls)):
            result = draw(TEXTS)
            texts.append(result)
            turns.append(
                Turn(
                    role="tool",
                    tool_call_id=call.id,
                    parts=(Part(section_id=name, text=result),),
                    is_error=draw(st.booleans()),
                    section_id=name,
                )
            )
    last = [Part(section_id=f"data.{i}", text=draw(TEXTS)) for i in range(draw(st.integers(0, 3)))]
    last.append(Part(section_id="user", text=draw(TEXTS)))
    texts += [p.text for p in last]
    turns.append(Turn(role="user", parts=tuple(last), section_id="user"))
    return turns, texts


def pointed(request: Any, pointer: str) -> Any:
    """The value at a JSON pointer."""
    value = request
    for token in pointer.split("/")[1:]:
        token = token.replace("~1", "/").replace("~0", "~")
        value = value[int(token)] if isinstance(value, list) else value[token]
    return value


@pytest.mark.parametrize("profile_id", PROFILES)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_plan(profile_id: str, data: Any, make_plan: Any, get_profile: Any, words: Any) -> None:
    turns, texts = data.draw(conversations())
    system = [Part(section_id=f"s{i}", text=data.draw(TEXTS), stable=True) for i in range(data.draw(st.integers(0, 3)))]
    names = data.draw(st.lists(NAMES, max_size=4, unique=True))
    base: RenderPlan = make_plan(profile_id, _model(get_profile(profile_id)))
    # What a history calls need not be offered any more, except where a provider demands it.
    if profile_id.startswith("gemini"):
        names = list(dict.fromkeys([*names, *(c.name for t in turns for c in t.tool_calls)]))
    can_tools = "tools" in base.row.capabilities
    tools = tuple(Tool(name=n, description="", input_schema={"type": "object"}) for n in names) if can_tools else ()
    plan = replace(base, system=tuple(system), turns=tuple(turns), tools=tools)
    made = shape(plan.profile.shape)
    rendered = made.render(plan)
    request = json.loads(json.dumps(rendered.request, allow_nan=False))
    assert made.render(plan) == rendered  # the same bytes again
    assert list(request) == list(rendered.request)
    # Nothing is lost: every text comes back out of the request by parsing it.
    said = [leaf.text for leaf in made.read_back(request)]
    for text in [*texts, *(p.text for p in system)]:
        assert any(text in found for found in said), text
    # Every section is where it is said to be.
    for section, places in rendered.placed.items():
        for place in places:
            assert pointed(request, place) is not None, (section, place)
    assert {p.section_id for t in turns for p in t.parts} <= rendered.placed.keys()
    # A provider would take it.
    assert made.check(request, plan.profile, plan.row) == ()
    # The parts of the count are the count, and all that is counted was announced.
    count = made.count(request, words, plan.row)
    assert count.tokens == sum(p.tokens for p in count.parts)
    assert count.upper >= count.tokens > 0
    # Two readings of the same bytes have the same segments.
    assert sorted(s.wire for s in made.segments(request)) == sorted(s.wire for s in made.segments(rendered.request))


def _model(profile: Any) -> str:
    """The profile's default model, or one that its first row is for."""
    return profile.default_model or profile.models[0].pattern.strip("*")
