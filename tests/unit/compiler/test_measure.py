"""What a section takes: the text of a contract, and what the request's shape adds for tools and contracts."""

from __future__ import annotations

import pytest
from world import compiled, fixture, project, provider, spec

from ctxc.model.contract import Contract, RequestProfile, ToolSet
from ctxc.model.section import Kind, Tool

SCHEMA = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
TOOLS = tuple(
    Tool(name=name, description=f"Find a {name} near the place of loss.", input_schema=SCHEMA)
    for name in ("garage", "expert")
)


def contract_text(capabilities, **more):
    contract = Contract(id="answer", version="1", schema=SCHEMA, **more)
    made = project(sections=[spec("contract")], contract=contract, providers=[provider(capabilities=capabilities)])
    package = compiled(made, fixture(user="hi"))
    (placed,) = [p for p in package.placed if p.section.kind is Kind.CONTRACT]
    return placed.content


def test_a_contract_says_all_where_the_provider_has_no_field_for_it():
    """The schema as text, and what a schema cannot say."""
    said = contract_text(
        (),
        description="The answer to the desk.",
        refusal={"field": "answer", "text": "cannot be confirmed"},
        citations={"field": "sources", "must_exist": True},
    )
    assert said.split("\n") == [
        "The answer to the desk.",
        "Answer with one JSON value that satisfies this JSON Schema:",
        '{"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}',
        'When it cannot be answered, `answer` says: "cannot be confirmed"',
        "`sources` lists the ids of the evidence that supports the answer; only ids that stand in this request.",
    ]


def test_a_contract_in_a_field_of_its_own_says_only_what_the_field_cannot():
    said = contract_text(("json_schema",), refusal={"text": "no"}, citations={"field": "sources", "must_exist": False})
    assert said.split("\n") == [
        'When it cannot be answered, say: "no"',
        "`sources` lists the ids of the evidence that supports the answer.",
    ]
    assert contract_text(("json_schema",), refusal={"say": "Say no."}, citations={"say": "Cite."}) == "Say no.\nCite."
    assert contract_text(("json_schema",)) == ""


@pytest.mark.parametrize("shape", ["openai_chat", "anthropic_messages", "openai_responses", "gemini_generate_content"])
def test_tools_take_what_they_add_to_the_request(shape):
    def package_of(tools):
        made = project(
            sections=[spec("policy", source="p.md"), spec("tools")],
            files={"p.md": "Never reveal other customers."},
            toolset=ToolSet(id="t", version="1", tools=tools),
            profile=RequestProfile(id="p", version="1", toolset="t"),
            providers=[provider(shape_id=shape, capabilities=("tools",), framing={"per_tool": 9})],
        )
        return compiled(made, fixture(user="hi"))

    none, both = package_of(()), package_of(TOOLS)
    added = both.snapshot["budget"]["used_input"] - none.snapshot["budget"]["used_input"]
    (tools,) = [p for p in both.placed if p.section.kind is Kind.TOOLS]
    assert tools.tokens == added > 20
    assert both.snapshot["budget"]["overhead"] == none.snapshot["budget"]["overhead"]


def test_a_contract_in_a_field_takes_what_the_field_adds():
    contract = Contract(id="answer", version="1", schema=SCHEMA)

    def package_of(**more):
        return compiled(project(sections=[spec("task"), spec("contract")], **more), fixture(user="hi", task="Help."))

    without = compiled(project(sections=[spec("task")]), fixture(user="hi", task="Help."))
    package = package_of(contract=contract)
    (placed,) = [p for p in package.placed if p.section.kind is Kind.CONTRACT]
    added = package.snapshot["budget"]["used_input"] - without.snapshot["budget"]["used_input"]
    assert placed.tokens == added > 10
    assert [p.tokens for p in package.placed if p.section.kind is Kind.TASK] == [
        p.tokens for p in without.placed if p.section.kind is Kind.TASK
    ]


def test_a_contract_asks_for_a_field_only_where_there_is_a_contract_and_a_field():
    contract = Contract(id="answer", version="1", schema=SCHEMA)
    for given, capabilities, required in (
        (contract, ("json_schema",), ("chat", "json_schema")),
        (contract, ("tools",), ("chat",)),
        (None, ("json_schema",), ("chat",)),
    ):
        made = project(sections=[spec("task")], contract=given, providers=[provider(capabilities=capabilities)])
        assert compiled(made, fixture(user="hi", task="Help.")).required_capabilities == required
