"""Policies, contracts, profiles and tool sets: what is checked when they are loaded."""

from __future__ import annotations

import pytest
from parse_world import Load, short

WAIVER = "{rule: R, path: a.md, owner: o, reason: r, created: 2026-10-01, expires: 2026-12-31}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"policy_id: p\nwaivers: [{WAIVER}]\n", []),
        (f"policy_id: p\nwaivers: [{WAIVER.replace('path: a.md, ', '')}]\n", ["2:11 missing-key"]),
        (f"policy_id: p\nwaivers: [{WAIVER.replace('reason: r, ', '')}]\n", ["2:11 missing-key"]),
        (f"policy_id: p\nwaivers: [{WAIVER.replace('2026-12-31', '2026-02-31')}]\n", ["2:84 bad-value"]),
        (f"policy_id: p\nwaivers: [{WAIVER.replace('2026-12-31', 'never')}]\n", ["2:84 bad-value"]),
        ("policy_id: p\ngates: {budgt: {}}\n", ["2:9 unknown-key"]),
        ("policy_id: p\ngates: {forbidden: [{id: x, forbid: {}}]}\n", ["2:37 bad-value"]),
        ("policy_id: p\nrules: {CTX201: of}\n", ["2:17 bad-value"]),
        ("contract_id: c\nschema: {type: objekt}\n", ["2:16 invalid-json-schema"]),
        ("contract_id: c\nschema: {properties: [a]}\n", ["2:22 invalid-json-schema"]),
        ("contract_id: c\nschema: {$ref: 'https://example.com/s.json'}\n", ["2:16 invalid-json-schema"]),
        ("contract_id: c\nschema: {$ref: '#/$defs/nam', $defs: {name: {}}}\n", ["2:16 invalid-json-schema"]),
        ("contract_id: c\nschema: true\n", ["2:9 bad-value"]),
        ("contract_id: c\nschema: {}\nrefusal: {field: a}\n", ["3:10 missing-key"]),
        ("contract_id: c\n", ["1:1 missing-key"]),
        ("profile_id: p\ntoolset: nothing\noutput_contract: c\n", ["2:10 unknown-reference", "3:18 unknown-reference"]),
        ("profile_id: p\nstatic: [tools, core, polcy]\n", ["2:23 unknown-section"]),
        ("toolset_id: t\n", ["1:1 missing-key"]),
        ("toolset_id: t\ntools: []\nmcp: x.json\n", ["3:1 bad-value"]),
        ("toolset_id: t\nmcp: x.json\n", ["2:6 missing-file"]),
        ("toolset_id: t\ntools: [{name: a, descripton: x}]\n", ["2:19 unknown-key"]),
    ],
)
def test_faults(load: Load, text: str, expected: list[str]) -> None:
    assert short(load({"policies/x.yaml": text})) == [f"policies/x.yaml:{e}" for e in expected]


def test_a_static_name_that_a_broken_template_may_have_is_left_to_it(load: Load) -> None:
    files = {"templates/p.yaml": "profile_id: p\nstatic: [rules]\n", "templates/t.yaml": "template_id: t\nx: 1\n"}
    assert "templates/p.yaml" not in {f.location.path for f in load(files).findings}


def test_an_mcp_answer_beside_the_tool_set(load: Load) -> None:
    answer = (
        '{"tools": [{"name": "b", "title": "B", "description": "d", "inputSchema": {"type": "object"}, '
        '"annotations": {"readOnlyHint": true}}]}'
    )
    project = load(
        {"policies/t.yaml": "toolset_id: t\nversion: 1\nmcp: mcp/list.json\n", "policies/mcp/list.json": answer}
    )
    assert short(project) == []
    (toolset,) = project.toolsets["t"]
    assert toolset.mcp == "policies/mcp/list.json"
    assert toolset.tools[0].extra == {"title": "B", "annotations": {"readOnlyHint": True}}
    assert toolset.tools[0].origin.path == "policies/mcp/list.json"
    assert str(project.sources.locate(toolset.tools[0].origin)) == "policies/mcp/list.json:1:12"


def test_hashes_follow_what_a_model_sees(load: Load) -> None:
    text = (
        "toolset_id: t\nversion: 1\ntools: [{name: a, description: x, input_schema: {type: object, properties: {}}}]\n"
    )
    one = load({"policies/x.yaml": text}).toolsets["t"][0]
    other = load(
        {"policies/y.yaml": text.replace("type: object, properties: {}", "properties: {}, type: object")}
    ).toolsets["t"][0]
    third = load({"policies/x.yaml": text.replace("description: x", "description: y")}).toolsets["t"][0]
    assert one.content_hash == other.content_hash != third.content_hash
