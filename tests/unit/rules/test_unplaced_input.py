"""What lint says that no section takes is what a compile drops."""

from __future__ import annotations

import pytest
from world import Record, compiled, fixture, project, spec, user

from ctxc.model.section import Kind
from ctxc.model.template import SectionSpec
from ctxc.rules.unplaced_input import taken

RECORDS = ("memory", "evidence", "tool_results", "handoff", "examples")


@pytest.mark.parametrize(
    ("sections", "focus"),
    [
        ([spec("task")], ()),
        ([spec("task")], ("a",)),
        ([spec("focus", source="runtime.task")], ()),
        ([spec("evidence", source="retrieval"), spec("history")], ()),
        ([spec("notes", Kind.HANDOFF, source="runtime.notes"), spec("facts", Kind.EVIDENCE, source="runtime")], ()),
        ([spec("open", Kind.STATE, source="runtime.state.a"), spec("memory")], ()),
        ([spec("results", Kind.TOOL_RESULT), spec("examples"), spec("contract", source="runtime")], ()),
        ([spec("pieces", Kind.FRAGMENT, source="fragments")], ()),
        ([spec("late", Kind.EVIDENCE, source="retrieval", when={"topic": ("refund",)})], ()),
        ([spec("note", Kind.POLICY, source="literal", text="x"), spec("tools", source="runtime")], ()),
    ],
)
def test_lint_and_compile_agree(sections: list[SectionSpec], focus: tuple[str, ...]) -> None:
    made = project(sections=sections, focus=focus)
    brought = fixture(
        user="hi", task={"a": 1}, state={"a": 1}, notes="n", other="o", history=[user("before")],
        **{name: [Record(id=f"r_{name}", text="t")] for name in RECORDS},
    )  # fmt: skip
    package = compiled(made, brought)
    assert package.request is not None, package.findings
    keys = {"user", "task", "state", "notes", "other", "history", *RECORDS}
    gone = {d.section_id.partition("/")[0] for d in package.dropped if d.reason == "no_section"}
    assert keys - taken(made.templates["t"][-1]) == gone
