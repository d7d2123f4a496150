"""A conversation is cut between units, oldest turns first, and calls keep their results."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from world import Record, assistant, call, compiled, fixture, project, provider, spec, user

from ctxc.compiler.conversation import units
from ctxc.model.package import Outcome
from ctxc.model.project import Settings
from ctxc.model.section import Authority, Message, ToolCall
from ctxc.model.template import Bucket, Budget
from ctxc.parse.load import load_project
from ctxc.source.memory import MemoryTree


def kept(package):
    return [p.section.section_id for p in package.placed if p.section.kind.value == "history"]


def test_units_and_turns():
    found = units([user("a"), assistant("b"), user("c"), *call("f", "1", "{}", "r"), assistant("d")])
    assert [(u.turn, len(u.messages), u.authority) for u in found] == [
        (0, 1, Authority.T3),
        (0, 1, Authority.T2),
        (1, 1, Authority.T3),
        (1, 2, Authority.T5),
        (1, 1, Authority.T2),
    ]


def test_the_oldest_turns_leave_whole():
    turns = [m for n in range(6) for m in (user(f"question {n} " * 10), assistant(f"answer {n} " * 10))]
    package = compiled(project(sections=[spec("history", max_tokens=150)]), fixture(user="now", history=turns))
    names = kept(package)
    assert names == ["history/6", "history/7", "history/8", "history/9", "history/10", "history/11"][-len(names) :]
    assert len(names) % 2 == 0
    assert package.request["messages"][0]["role"] == "user"
    assert {d.reason for d in package.dropped} == {"max_tokens"}
    assert len(package.dropped) + len(names) == 12


def test_a_conversation_has_no_hole():
    turns = [user("small"), user("large " * 400), user("newest")]
    package = compiled(project(sections=[spec("history", max_tokens=100)]), fixture(user="now", history=turns))
    assert kept(package) == ["history/2"]


def test_steps_of_one_long_turn_leave_from_its_beginning():
    steps = [m for n in range(10) for m in call("run", f"c{n}", f'{{"n": {n}}}', f"result {n} " * 30)]
    package = compiled(
        project(sections=[spec("history", max_tokens=300)]), fixture(user="go on", history=[user("fix it"), *steps])
    )
    names = kept(package)
    assert names[0] == "history/0"
    assert names[-1] == "history/10"
    assert 0 < len(names) < 11
    assert sum(p.tokens for p in package.placed if p.section.kind.value == "history") <= 300
    calls = {c.id for p in package.placed for m in p.section.messages for c in m.tool_calls}
    results = {m.tool_call_id for p in package.placed for m in p.section.messages if m.role == "tool"}
    assert calls == results


def test_a_result_that_is_too_large_is_cut_and_stays_json():
    rows = json.dumps({"status": "ok", "rows": [{"id": n, "text": "word " * 20} for n in range(50)]})
    package = compiled(
        project(sections=[spec("history", max_tokens=250)]),
        fixture(user="go on", history=[user("list"), *call("find", "c1", "{}", rows)]),
    )
    result = next(m for m in package.request["messages"] if m["role"] == "tool")
    assert json.loads(result["content"])["status"] == "ok"
    assert [(c.section_id, c.strategy) for c in package.compression] == [("history/1", "role")]
    assert package.compression[0].after <= 250


def test_soft_and_borrow():
    turns = [user(f"turn {n} " * 20) for n in range(8)]

    def used(borrow):
        made = project(
            sections=[spec("history")],
            budget=Budget(window=2000, output_reserve=100, buckets=(Bucket(id="history", soft=100, borrow=borrow),)),
        )
        package = compiled(made, fixture(user="now", history=turns))
        return package.snapshot["budget"]["buckets"]["history"]["used"]

    assert used(borrow=False) <= 100 < used(borrow=True)


def test_an_orphan_result_and_an_unanswered_call_are_dropped_with_reasons():
    history = [
        user("a"),
        Message(role="tool", content="lost", tool_call_id="x"),
        Message(role="assistant", content="", tool_calls=(ToolCall(id="y", name="f", arguments="{}"),)),
        user("b"),
        user(" \n"),
    ]
    package = compiled(project(sections=[spec("history")]), fixture(user="now", history=history))
    assert {d.section_id: d.reason for d in package.dropped} == {
        "history/1": "orphan_result",
        "history/2": "unanswered_call",
        "history/4": "empty",
    }


def test_an_open_call_gets_its_result_in_the_providers_own_place():
    waiting = Message(role="assistant", content="", tool_calls=(ToolCall(id="y", name="f", arguments="{}"),))
    made = project(sections=[spec("tool_result"), spec("history")])
    package = compiled(
        made,
        fixture(
            user="now",
            history=[user("a"), waiting],
            tool_results=[Record(id="r", text="42", call_id="y", status="ok"), Record(id="s", text="other")],
        ),
    )
    assert [m["role"] for m in package.request["messages"]] == ["user", "user", "assistant", "tool", "user"]
    assert package.request["messages"][3]["content"] == "42"


def test_an_open_call_without_a_result_is_named_instead_of_sent():
    waiting = Message(role="assistant", content="", tool_calls=(ToolCall(id="y", name="f", arguments="{}"),))
    package = compiled(project(sections=[spec("history")]), fixture(user="now", history=[user("a"), waiting]))
    assert package.outcome is Outcome.INVALID
    assert package.findings[0].name == "provider-refuses"
    assert "y" in package.findings[0].message


@pytest.mark.parametrize("shape", ["openai_chat", "anthropic_messages"])
@pytest.mark.parametrize(("limit", "whole"), [(20_000, True), (4_000, False), (1_500, False)])
def test_a_recorded_trajectory_keeps_every_pair(shared, shape, limit, whole):
    """13 calls and 13 results of a real agent. The recorded history has about 7,900 tokens (the file: 105,000)."""
    place = next((shared / "corpus/transcript").glob("*function_calling_replace_from_source*"))
    tree = MemoryTree(
        {
            "templates/t.yaml": "template_id: t\nversion: 1\nprovider: p\nsections:\n"
            f"  - {{id: history, source: runtime, max_tokens: {limit}}}\n  - {{id: user, source: runtime}}\n",
            "tests/fixtures/f.yaml": "fixture_id: f\ntemplate: t\ninputs:\n  user: Go on.\n"
            "  history: {file: recorded.json}\n",
            "tests/fixtures/recorded.json": json.dumps(json.loads(place.read_text("utf-8"))["history"]),
        }
    )
    loaded = load_project(tree, Settings())
    made = replace(loaded, providers={"p": provider("p", shape)})
    history = made.fixtures["f"].inputs.history
    package = compiled(made, made.fixtures["f"])
    assert package.outcome is Outcome.COMPILED, (loaded.findings, package.findings)
    used = sum(p.tokens for p in package.placed if p.section.kind.value == "history")
    assert used <= limit
    assert (not package.dropped) is whole
    calls = [c.id for m in history for c in m.tool_calls]
    assert len(calls) == 13
    there = [c.id for p in package.placed for m in p.section.messages for c in m.tool_calls]
    results = [m.tool_call_id for p in package.placed for m in p.section.messages if m.role == "tool"]
    assert there == results == calls[-len(there) :]
    gone = [c.id for d in package.dropped if d.section for m in d.section.messages for c in m.tool_calls]
    assert gone + there == calls
    # What was kept, cut and dropped adds up to the whole; names of tools are counted alike on both shapes.
    total = used + sum(d.tokens for d in package.dropped) + sum(c.before - c.after for c in package.compression)
    assert 7_400 < total < 8_400
