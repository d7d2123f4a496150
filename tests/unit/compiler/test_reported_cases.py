"""Reports of the field, each in our formats: what went wrong elsewhere has to go right here."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

from world import compiled, compiler

from ctxc.compiler.stage import Options
from ctxc.model.package import Outcome
from ctxc.model.project import Project, Settings
from ctxc.parse.load import load_project
from ctxc.providers import profile_ids, profile_text
from ctxc.source.memory import MemoryTree

CASES = Path(__file__).parents[2] / "cases"

TEMPLATE = """\
template_id: t
version: 1
provider: openai
model: gpt-4o
budget: {{window: {window}, output_reserve: 200}}
sections:
  - {{id: policy, kind: policy, source: literal, text: "Be exact.", required: true}}
{sections}
"""


def loaded(files: dict[str, str], sections: str, window: int = 64_000) -> Project:
    tree = MemoryTree({"templates/t.yaml": TEMPLATE.format(sections=sections, window=window), **files})
    return load_project(tree, Settings(), builtin_providers={p: profile_text(p) for p in profile_ids()})


def fixture_text(inputs: str) -> str:
    return f"fixture_id: f\ntemplate: t\ninputs:\n  user: Go on.\n{inputs}"


def test_bt_018_arguments_of_tool_calls_are_counted() -> None:
    """https://github.com/odysseus-dev/odysseus/issues/2748: 12k tokens of arguments looked like 4."""
    body = " ".join(f"line {n} of the file." for n in range(3000))
    history = [
        {"role": "user", "content": "write it"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "w",
                    "type": "function",
                    "function": {"name": "write_file", "arguments": json.dumps({"path": "a.txt", "body": body})},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "w", "content": "ok"},
    ]
    project = loaded(
        {
            "tests/fixtures/h.json": json.dumps(history),
            "tests/fixtures/f.yaml": fixture_text("  history: {file: h.json}\n"),
        },
        "  - {id: history, source: runtime}",
    )
    package = compiled(project, project.fixtures["f"])
    assert package.outcome is Outcome.COMPILED, (project.findings, package.findings)
    assert sum(p.tokens for p in package.placed if p.section.slot == "history") > 10_000


def test_bt_019_tool_definitions_are_counted() -> None:
    """https://github.com/gptscript-ai/gptscript/pull/942: tools were left out of the total."""
    tools = (CASES / "bt-019/tools.openai.json").read_text("utf-8")
    project = loaded(
        {"tools.json": tools, "tests/fixtures/f.yaml": fixture_text("")}, "  - {id: tools, source: tools.json}"
    )
    package = compiled(project, project.fixtures["f"])
    assert package.outcome is Outcome.COMPILED, (project.findings, package.findings)
    section = next(s for s in package.snapshot["sections"] if s["kind"] == "tools")
    assert section["tokens"] > 1_000
    assert package.snapshot["budget"]["used_input"] > section["tokens"]


def test_bt_008_a_long_history_keeps_pairs_and_begins_with_a_user_message() -> None:
    """https://github.com/zeroclaw-labs/zeroclaw/pull/5264: trimming between a call and its result."""
    history = (CASES / "bt-008/history.anthropic.json").read_text("utf-8")
    project = loaded(
        {"tests/fixtures/h.json": history, "tests/fixtures/f.yaml": fixture_text("  history: {file: h.json}\n")},
        "  - {id: history, source: runtime, max_tokens: 700}",
    )

    package = compiler(project, Options(provider="anthropic")).compile(project.fixtures["f"])
    assert package.outcome is Outcome.COMPILED, (project.findings, package.findings)
    assert package.dropped
    messages = package.request["messages"]  # type: ignore[index]
    assert messages[0]["role"] == "user"
    assert any(block["type"] == "text" for block in messages[0]["content"])
    for before, message in pairwise(messages):
        results = {b["tool_use_id"] for b in message["content"] if b["type"] == "tool_result"}
        calls = {b["id"] for b in before["content"] if b["type"] == "tool_use"}
        assert results == calls


def test_bt_011_the_first_message_is_no_tool_message() -> None:
    """https://github.com/langchain-ai/langchain/issues/33245: the last N messages began with a tool message."""
    history = (CASES / "bt-011/history.openai.json").read_text("utf-8")
    for limit in range(10, 80, 5):
        project = loaded(
            {"tests/fixtures/h.json": history, "tests/fixtures/f.yaml": fixture_text("  history: {file: h.json}\n")},
            f"  - {{id: history, source: runtime, max_tokens: {limit}}}",
        )
        package = compiled(project, project.fixtures["f"])
        assert package.outcome is Outcome.COMPILED, (project.findings, package.findings)
        roles = [m["role"] for m in package.request["messages"]]  # type: ignore[index]
        assert roles[0] == "system"
        assert roles[1] != "tool"
        open_calls: set[str] = set()
        for message in package.request["messages"]:  # type: ignore[index]
            if message["role"] == "tool":
                assert message["tool_call_id"] in open_calls
            open_calls |= {c["id"] for c in message.get("tool_calls") or ()}


def test_bt_016_a_window_that_is_all_reserve() -> None:
    """https://github.com/run-llama/llama_index/issues/14722: a negative budget that looked usable."""
    project = loaded({"tests/fixtures/f.yaml": fixture_text("")}, "", window=200)
    package = compiled(project, project.fixtures["f"])
    assert package.outcome is Outcome.INVALID
    assert [str(f.location) for f in project.findings] == ["templates/t.yaml:5:39"]
    assert project.findings[0].message == "output_reserve 200 leaves nothing of the window 200"
    assert "could not be loaded: templates/t.yaml has errors" in package.findings[0].message


def test_tk_001_special_token_literals_are_ordinary_text() -> None:
    """https://github.com/RooCodeInc/Roo-Code/issues/7539: counting raised."""
    text = (CASES / "tk-001/prompt.md").read_text("utf-8")
    project = loaded(
        {"prompt.md": text, "tests/fixtures/f.yaml": fixture_text("")},
        "  - {id: rules, kind: policy, source: prompt.md}",
    )
    package = compiled(project, project.fixtures["f"])
    assert package.outcome is Outcome.COMPILED, (project.findings, package.findings)
    placed = next(p for p in package.placed if p.section.section_id == "rules")
    assert placed.tokens > 20
    assert text.rstrip("\n") in package.request["messages"][0]["content"]  # type: ignore[index]


def test_a_broken_fragment_refuses_the_fixtures_that_might_need_it() -> None:
    files = {
        "fragments/a.md": "Be kind.",
        "fragments/manifest.json": '{"fragments": [{"fragment_id": "a", "version": "v1", "path": "a.md", "kind": "core", '
        '"load_mode": "always"}, {"fragment_id": "b", "version": "v1", "kind": "nonsense"}]}',
        "tests/fixtures/f.yaml": fixture_text(""),
    }
    project = loaded(files, "  - {id: rules, kind: fragment, source: fragments}")
    package = compiled(project, project.fixtures["f"])
    assert package.outcome is Outcome.INVALID
    assert package.findings[0].message == "fragment 'b' could not be loaded, and nobody can tell which routes load it"
    assert str(package.findings[0].location).startswith("fragments/manifest.json:1:110")
    without = loaded(files, "")
    assert compiled(without, without.fixtures["f"]).outcome is Outcome.COMPILED
