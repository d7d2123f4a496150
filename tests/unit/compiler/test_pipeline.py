"""The stages together: many fixtures at once, what a call takes, and where a refused request can be mended."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from world import Record, assistant, call, compiled, compiler, fixture, project, spec, user

from ctxc.base.canonical import canonical
from ctxc.base.errors import InternalFault
from ctxc.base.spans import Origin
from ctxc.compiler import pipeline
from ctxc.model.counting import Count, CountPart
from ctxc.model.section import REFERENCE, Kind
from ctxc.model.template import Budget


@pytest.mark.parametrize(("ahead", "characters"), [(1, 10**6), (2, 10**6), (5, 10**6), (100, 1), (100, 40)])
def test_fixtures_that_are_compiled_together_are_as_each_alone_and_each_once(monkeypatch, ahead, characters):
    monkeypatch.setattr(pipeline, "_AHEAD", ahead)
    monkeypatch.setattr(pipeline, "_AHEAD_CHARACTERS", characters)
    made = project(sections=[spec("task")])
    asked = [fixture(name=f"f{n}", user=f"question {n}", task="Help. " * n) for n in range(5)]
    together = list(compiler(made).compile_all(asked))
    assert [p.fixture_id for p in together] == [f"f{n}" for n in range(5)]
    assert [canonical(p.snapshot) for p in together] == [canonical(compiled(made, f).snapshot) for f in asked]


def test_the_framing_of_messages_is_overhead_and_what_stands_in_them_is_their_own():
    """Each message has 3 tokens of framing, the request 3 more: all that no section takes."""
    history = [user("before"), *call("find", "c1", '{"q": "claims"}', "two rows"), assistant("Two.")]
    package = compiled(project(sections=[spec("history")]), fixture(user="hi", history=history))
    budget = package.snapshot["budget"]
    assert budget["overhead"] == 3 + 3 * 5
    assert budget["used_input"] == budget["overhead"] + sum(p.tokens for p in package.placed)


@pytest.mark.parametrize(
    ("field", "problem", "contract"),
    [
        ("/response_format", "/response_format: no", True),
        ("/response_format", "/response_format/json_schema/schema: no", True),
        ("/response_format", "/response_formats: no", False),
        ("/response_format", "/messages/0: no", False),
        ("/messages/0", "/messages/0: no", False),
        ("/system/1", "/system/1/text: no", False),
    ],
)
def test_a_refused_request_is_mended_at_the_contract_where_its_own_field_is_refused(field, problem, contract):
    schema, asked = Origin("answer.yaml"), Origin("f.yaml")
    request = SimpleNamespace(contract=SimpleNamespace(origin=schema), fixture=SimpleNamespace(origin=asked))
    placed = [
        SimpleNamespace(section=SimpleNamespace(kind=Kind.TOOLS), pointers=(field,)),
        SimpleNamespace(section=SimpleNamespace(kind=Kind.CONTRACT), pointers=(field,)),
    ]
    cause = pipeline._cause(request, placed, problem)  # type: ignore[arg-type]
    assert cause == (schema.child("schema") if contract else asked)
    request.contract = None
    assert pipeline._cause(request, placed, problem) == asked  # type: ignore[arg-type]


def test_a_conversation_with_calls_asks_for_tools_also_where_the_template_has_none():
    history = [user("before"), *call("find", "c1", "{}", "two rows")]
    made = project(sections=[spec("history"), spec("task")])
    assert compiled(made, fixture(user="hi", task="x", history=history)).required_capabilities == ("chat", "tools")
    assert compiled(made, fixture(user="hi", task="x", history=history[:1])).required_capabilities == ("chat",)


def test_where_no_attempt_fits_the_required_part_goes_alone(monkeypatch):
    monkeypatch.setattr(pipeline, "_ROUNDS", 0)
    made = project(sections=[spec("task"), spec("memory", overflow=REFERENCE)])
    asked = fixture(user="hi", task="Help.", memory=[Record(id="m", text="x", artifact_ref="a://1")])
    package = compiled(made, asked)
    assert [p.section.section_id for p in package.placed] == ["task", "user"]
    assert [(d.section_id, d.reason) for d in package.dropped] == [("memory/m", "budget")]


def test_what_fits_to_the_last_token_is_not_kept_out_by_a_guess_at_the_framing():
    asked = fixture(user="hi", memory=[Record(id="m", text="The customer prefers short answers.")])
    sections = [spec("memory"), spec("user")]
    whole = compiled(project(sections=sections), asked)
    exact = whole.count.upper
    fits = compiled(project(sections=sections, budget=Budget(ceiling=exact)), asked)
    assert [p.section.section_id for p in fits.placed] == ["memory/m", "user"]
    assert fits.count.upper == exact
    over = compiled(project(sections=sections, budget=Budget(ceiling=exact - 1)), asked)
    assert [(d.section_id, d.reason) for d in over.dropped] == [("memory/m", "budget")]


def test_a_required_part_that_fits_alone_and_not_in_the_request_is_a_fault(monkeypatch):
    count_request = pipeline.count_request
    monkeypatch.setattr(pipeline, "count_request", lambda *a: replace(count_request(*a), tokens=10**6))
    monkeypatch.setattr(pipeline, "_framing_of", lambda *_: 0)
    with pytest.raises(InternalFault, match="fixture 'f': the required part fits alone and not in the request"):
        compiled(project(sections=[spec("task")]), fixture(user="hi", task="Help."))


def test_calls_find_their_parts_without_looking_at_every_part_for_each() -> None:
    pointers = [
        p
        for n in range(1_000)
        for p in (f"/messages/{n}", f"/messages/{n}/tool_calls/0/function/name", f"/messages/{n}0/content")
    ]
    parts = tuple(CountPart(pointer=p, tokens=1) for p in pointers)
    below = pipeline._parts_below(Count(tokens=3_000, method="exact", tokenizer="o200k_base", parts=parts))
    # The framing of a message stands at the message itself, and nothing of /messages/10 is inside of /messages/1.
    assert (below["/messages/1"], below["/messages/10"]) == ([4], [5, 31])
    assert sum(map(len, below.values())) == 1_000 * (6 + 3)
