"""Where a finding of a compile stands: at what caused it, once, whatever else it keeps from being compiled."""

from __future__ import annotations

import pytest

import ctxc
from ctxc.app.compiling import CompileOptions, compile_fixtures
from ctxc.app.selection import Selection
from ctxc.app.workspace import open_workspace
from ctxc.model.package import Outcome
from ctxc.source.memory import MemoryTree

FIXTURE = "fixture_id: {0}\ntemplate: {1}\ninputs: {{user: Hello.}}\n"


def test_a_fixture_of_a_circle_of_templates_is_led_to_where_the_circle_is_told():
    tree = {
        f"templates/{a}.yaml": f"template_id: {a}\nversion: 1\nextends: {b}\nsections: [{{id: task, source: runtime}}]\n"
        for a, b in (("a", "b"), ("b", "c"), ("c", "b"))
    }
    made = ctxc.load(MemoryTree({**tree, **{f"tests/fixtures/{x}.yaml": FIXTURE.format(f"f{x}", x) for x in "abc"}}))
    for name in "abc":
        (finding,) = ctxc.compile(made, f"f{name}").findings
        assert finding.message == f"template '{name}' could not be loaded: templates/c.yaml has errors"
        assert finding.location.path == f"templates/{name}.yaml"


def test_a_circle_of_fragments_is_told_once_of_all_fixtures(tmp_path):
    text = "---\nfragment_id: {0}\nversion: 1\nkind: core\nload_mode: always\nrequires: [{1}]\n---\nRule {0}.\n"
    tree = {f"fragments/{a}.md": text.format(a, b) for a, b in ("xy", "yz", "zx")}
    tree["templates/t.yaml"] = (
        "template_id: t\nversion: 1\nprovider: text\nsections:\n"
        "  - {id: fragments, kind: fragment, source: fragments}\n  - {id: user, source: runtime}\n"
    )
    tree |= {f"tests/fixtures/{n}.yaml": FIXTURE.format(n, "t") for n in ("f", "g")}
    for path, body in tree.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(body, encoding="utf-8")
    workspace = open_workspace(tmp_path, flags={}, environment={}, no_cache=True)
    run = compile_fixtures(workspace, Selection(), CompileOptions()).run
    assert [c.row.outcome for c in run.compiled] == ["invalid", "invalid"]
    told = {(f.location.path, f.location.span, f.message) for f in run.report.findings if f.name == "requires-cycle"}
    assert [(path, message.rpartition(": ")[2]) for path, _, message in told] == [
        ("fragments/z.md", "x -> y -> z -> x")
    ]


@pytest.mark.parametrize(
    ("schema", "outcome", "place"),
    [
        ("{type: object, properties: {a: {type: string}}}", Outcome.INVALID, "policies/c.yaml:3:9"),
        ("{type: object, additionalProperties: false, properties: {a: {type: string}}}", Outcome.COMPILED, ""),
    ],
)
def test_a_schema_that_a_provider_refuses_is_told_at_the_contract(schema, outcome, place):
    made = ctxc.load(
        MemoryTree(
            {
                "policies/c.yaml": f"contract_id: c\nversion: 1\nschema: {schema}\n",
                "templates/t.yaml": "template_id: t\nversion: 1\nprovider: anthropic\nmodel: claude-sonnet-4-5\n"
                "output_contract: c\nsections:\n  - {id: user, source: runtime}\n",
                "tests/fixtures/f.yaml": FIXTURE.format("f", "t"),
            }
        )
    )
    package = ctxc.compile(made, "f")
    assert package.outcome is outcome
    refused = [f for f in package.findings if f.name == "provider-refuses"]
    assert [str(f.location) for f in refused] == ([place] if place else [])
    assert all(f.help == "change the schema of the output contract" and f.fixture == "f" for f in refused)
