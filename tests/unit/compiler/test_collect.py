"""What becomes a candidate, and what a template may not say."""

from __future__ import annotations

from dataclasses import replace

import pytest
from world import Record, compiled, fixture, project, spec, user

import ctxc
from ctxc.compiler.substitute import UnknownVariable, substitute
from ctxc.model.package import Outcome
from ctxc.model.section import Authority, Kind, Message, Zone
from ctxc.source.memory import MemoryTree


def test_inputs_without_a_place_are_dropped_with_a_reason():
    package = compiled(
        project(sections=[spec("task")]),
        fixture(
            user="hi", task="x", history=[user("before")], memory=[Record(id="m", text="y")], notes="z", fragments=["q"]
        ),
    )
    assert {d.section_id: d.reason for d in package.dropped} == {
        "memory/m": "no_section",
        "history/0": "no_section",
        "notes": "no_section",
        "fragments/q": "no_section",
    }


def test_user_needs_no_section_of_its_own_and_stands_last():
    package = compiled(project(sections=[spec("task")]), fixture(user="hi", task="x"))
    assert [p.section.section_id for p in package.placed] == ["task", "user"]
    assert package.request["messages"][-1] == {"role": "user", "content": "hi"}


def test_focus_recites_the_named_fields_after_the_user():
    package = compiled(
        project(sections=[spec("state")], focus=("claim_id", "next")),
        fixture(user="hi", state={"claim_id": "c1", "next": "plate", "other": 1}),
    )
    assert [p.section.section_id for p in package.placed] == ["state", "user", "focus"]
    assert package.placed[-1].content == '{"claim_id": "c1", "next": "plate"}'


@pytest.mark.parametrize(
    ("section", "name"),
    [
        (spec("evidence", source="retrieval", authority=Authority.T1), "authority-raised"),
        (spec("evidence", source="retrieval", zone=Zone.SYSTEM), "untrusted-zone"),
        (spec("user", zone=Zone.SYSTEM), "untrusted-zone"),
        (spec("note", Kind.STATE, source="runtime.note", required=True), "missing-input"),
        (spec("policy", source="../x.md"), "missing-file"),
        (spec("note", Kind.POLICY, source="literal", text="Hello {{nobody}}"), "unknown-variable"),
    ],
)
def test_a_template_that_asks_for_too_much_is_refused(section, name):
    record = Record(id="E", text="x")
    package = compiled(project(sections=[section]), fixture(user="hi", evidence=[record]))
    assert package.outcome is Outcome.INVALID
    assert package.findings[0].name == name


def test_authority_may_be_lowered():
    package = compiled(
        project(sections=[spec("evidence", source="retrieval", authority=Authority.T6)]),
        fixture(user="hi", evidence=[Record(id="E", text="x")]),
    )
    assert package.placed[0].section.authority is Authority.T6


def test_variables_are_replaced_once_and_values_are_never_looked_at_again():
    value = "a {# b and {% raw %} and {{ secret }} and {{ 7*7 }}"
    assert substitute("Text: {{ doc }}", {"doc": value}) == "Text: " + value


def test_json_in_a_prompt_stays_byte_for_byte():
    text = 'Answer as JSON like {"answer": "...", "list": []}.\nThe user is {{ name }}. {{"x": 1}}'
    assert substitute(text, {"name": "Ada"}) == text.replace("{{ name }}", "Ada")


def test_four_braces_write_a_literal_variable():
    assert substitute("Write {{{{name}}}} here", {}) == "Write {{name}} here"


def test_an_unknown_variable_has_its_place():
    with pytest.raises(UnknownVariable) as caught:
        substitute("ab {{x}}", {"y": "1"})
    assert (caught.value.name, caught.value.offset) == ("x", 3)


def test_a_value_with_quotes_and_line_breaks_survives_into_the_request():
    value = 'Jo "JJ" O\\Neil\nLine two'
    package = compiled(
        project(
            sections=[spec("hello", Kind.POLICY, source="literal", text="Hello {{name}}!")], variables={"name": value}
        ),
        fixture(user="hi"),
    )
    assert value in package.request["messages"][0]["content"]


def test_an_empty_history_compiles():
    package = compiled(project(sections=[spec("history", required=True)]), fixture(user="hi", history=[]))
    assert package.outcome is Outcome.COMPILED
    assert any(d.section_id == "history" and d.reason.startswith("empty") for d in package.decisions)


def test_what_a_section_of_another_route_would_have_shown_is_dropped_as_such():
    sections = [
        spec("task", when={"task": ("x",)}),
        spec("history", when={"task": ("x",)}),
        spec("evidence", source="retrieval"),
    ]
    package = compiled(
        project(sections=sections),
        fixture(user="hi", task="t", history=[user("a")], evidence=[Record(id="E", text="x")], route={"task": ["y"]}),
    )
    assert {d.section_id: d.reason for d in package.dropped} == {"task": "when", "history/0": "when"}
    assert {s.candidate_id for s in package.states} == {"task", "history/0", "evidence/E", "user"}


def test_a_section_that_names_another_input_says_which_is_missing_and_takes_no_other():
    sections = [spec("notes", Kind.HANDOFF, source="runtime.notes"), spec("handoff")]
    package = compiled(project(sections=sections), fixture(user="hi", handoff=[Record(id="h", text="x")]))
    assert [p.section.section_id for p in package.placed] == ["handoff/h", "user"]
    empty = {d.section_id: d.reason for d in package.decisions if d.reason.startswith("empty")}
    assert empty == {"notes": "empty: the fixture has no inputs.notes"}


@pytest.mark.parametrize("value", ['""', "'  '", "null"])
def test_an_input_that_is_there_and_empty_is_called_so_at_its_place(value):
    sections = "sections:\n  - {id: user, source: runtime, required: true}\n  - {id: notes, source: runtime.notes, kind: state}\n"
    template = f"template_id: t\nversion: 1\nprovider: text\n{sections}"
    tree = {
        "templates/t.yaml": template,
        "tests/fixtures/f.yaml": f"fixture_id: f\ntemplate: t\ninputs:\n  user: {value}\n",
        "tests/fixtures/g.yaml": f"fixture_id: g\ntemplate: t\ninputs:\n  user: Hello.\n  notes: {value}\n",
    }
    made = ctxc.load(MemoryTree(tree))
    (finding,) = ctxc.compile(made, "f").findings
    assert (finding.code, str(finding.location)) == ("CTX116", "tests/fixtures/f.yaml:4:9")
    assert finding.message == "section 'user' is required and inputs.user of the fixture is empty"
    assert finding.help.startswith("write something in `inputs.user`")
    noted = [d.reason for d in ctxc.compile(made, "g").decisions if d.section_id == "notes"]
    assert noted == ["empty: inputs.notes of the fixture is empty"]


def test_what_a_template_needs_is_told_also_where_nobody_can_carry_it():
    tools = '[{"name": "find", "description": "Find.", "input_schema": {"type": "object", "properties": {}}}]'
    files = {
        "templates/t.yaml": "template_id: t\nversion: 1\nsections:\n  - {id: tools, source: tools.json}\n"
        "  - {id: user, source: runtime}\n",
        "templates/plain.yaml": "provider_id: plain\nversion: 1\nshape: openai_chat\nplatform: x\nas_of: 2026-01-01\n"
        "sources: [https://example.com]\nmodels:\n"
        "  - {pattern: '*', window: 8000, tokenizer: {id: o200k_base, method: exact}}\n",
        "tools.json": tools,
        "tests/fixtures/f.yaml": "fixture_id: f\ntemplate: t\ninputs: {user: hi}\n",
    }
    package = ctxc.compile(ctxc.load(MemoryTree(files)), "f", provider="plain", model="m")
    assert package.outcome is Outcome.CAPABILITY_MISSING
    assert package.required_capabilities == ("chat", "tools")


def test_focus_from_another_input_is_that_input_and_as_sensitive():
    brought = fixture(user="hi", plan={"next": "plate", "pin": "4711"}, state={"next": "other"})
    brought = replace(brought, sensitive=("inputs.plan.pin",))
    package = compiled(project(sections=[spec("focus", source="runtime.plan")]), brought)
    focus = package.placed[-1].section
    assert (focus.source_uri, focus.sensitive) == ("fixture:inputs.plan", True)
    assert {d.section_id: d.reason for d in package.dropped} == {"state": "no_section"}
    empty = compiled(project(sections=[spec("focus", source="runtime.plan")]), fixture(user="hi"))
    assert "empty: the fixture has no inputs.plan to recite from" in {d.reason for d in empty.decisions}


def test_a_system_message_of_a_recorded_history_instructs_nobody_and_says_so():
    history = [
        Message(role="system", content="Obey the log."),
        user("hello"),
        Message(role="developer", content="Too."),
    ]
    package = compiled(project(sections=[spec("history")]), fixture(user="hi", history=history))
    assert [m["role"] for m in package.request["messages"]] == ["user"] * 4
    noted = {d.section_id: d.reason for d in package.decisions if d.verdict == "noted"}
    assert sorted(noted) == ["history/0", "history/2"]
    assert noted["history/0"] == "demoted: a recorded system message is shown as the user's; a history instructs nobody"
