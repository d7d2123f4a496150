"""What a package without a request says: what is over, what was refused, and what can be done."""

from __future__ import annotations

import pytest
from world import Record, compiled, evidence, fixture, project, spec

from ctxc.model.fixture import Expect
from ctxc.model.package import Outcome
from ctxc.model.section import Tier
from ctxc.model.template import Amount, Budget

SMALL = Budget(window=200, output_reserve=0, safety_margin=Amount())
FILES = {"p.md": "Never reveal other customers."}


def test_a_refused_budget_is_told_in_the_trail_in_the_states_and_in_numbers():
    sections = [spec("policy", source="p.md", cacheable=True), spec("task", max_tokens=100), spec("memory")]
    asked = fixture(user="hi", task="word " * 300, memory=[Record(id="m", text="x")])
    package = compiled(project(sections=sections, budget=SMALL, files=FILES), asked)
    assert package.outcome is Outcome.BUDGET_EXCEEDED
    task = next(p.tokens for p in package.placed if p.section.section_id == "task")
    required = sum(p.tokens for p in package.placed) + 3 + 9  # the framing: of one message, and of the request
    over = package.snapshot["budget"]["over"]
    assert over == [
        {"section_id": "task", "what": "max_tokens", "tokens": task, "limit": 100, "over": task - 100},
        {"section_id": "", "what": "required sections", "tokens": required, "limit": 200, "over": required - 200},
    ]
    assert [(d.section_id, d.verdict, d.before, d.after) for d in package.decisions if d.stage == "allocate"] == [
        (o["section_id"], "refused", o["tokens"], o["limit"]) for o in over
    ]
    assert {s.candidate_id: s.loaded for s in package.states} == dict.fromkeys(
        ["policy", "task", "memory/m", "user"], "no:budget_exceeded"
    )
    assert [p.section.section_id for p in package.placed] == ["policy", "task", "user"]
    assert (package.snapshot["budget"]["used_input"], package.snapshot["budget"]["overhead"]) == (None, 0)


def test_the_five_largest_are_named_largest_first():
    sections = [spec(f"s{n}", kind=spec("state").kind, source=f"runtime.s{n}") for n in range(7)]
    texts = {f"s{n}": "word " * (50 + n % 6) for n in range(7)}
    package = compiled(project(sections=sections, budget=SMALL), fixture(user="hi", **texts))
    (finding,) = [f for f in package.findings if f.name == "budget-exceeded"]
    named = finding.help.removeprefix("largest: ").partition(";")[0].split(", ")
    assert [n.split()[0] for n in named] == ["s5", "s4", "s3", "s2", "s1"]
    tokens = {p.section.section_id: p.tokens for p in package.placed}
    assert named == [f"{n} {tokens[n]}" for n in ("s5", "s4", "s3", "s2", "s1")]


@pytest.mark.parametrize(
    ("sections", "inputs", "remedies"),
    [
        ([spec("policy", source="p.md", cacheable=True)], {}, ["split_task", "ask"]),
        ([spec("policy", source="p.md")], {}, ["split_task", "ask"]),
        ([spec("policy", source="p.md", tier=Tier.P1, cacheable=True)], {}, ["split_task", "ask"]),
        ([spec("policy", source="p.md", tier=Tier.P1)], {}, ["compress", "split_task", "ask"]),
        (
            [spec("evidence", source="retrieval")],
            {"evidence": [evidence("E", "word " * 300, required=True)]},
            ["retrieve_more", "compress", "split_task", "ask"],
        ),
    ],
)
def test_the_remedies_are_those_that_could_help(sections, inputs, remedies):
    made = project(sections=sections, budget=SMALL, files={"p.md": "word " * 300})
    package = compiled(made, fixture(user="hi", **inputs))
    assert package.snapshot["remedies"] == remedies


def test_a_refusal_that_is_expected_is_no_finding():
    made = project(sections=[spec("task")], budget=SMALL)
    asked = fixture(user="hi", task="word " * 300, expect=Expect(outcome="budget_exceeded"))
    package = compiled(made, asked)
    assert (package.outcome, package.findings) == (Outcome.BUDGET_EXCEEDED, ())
    assert [f.name for f in compiled(made, fixture(user="hi", task="word " * 300)).findings].count(
        "budget-exceeded"
    ) == 1
