"""Templates: what they may say, what they extend, and where each fault is shown."""

from __future__ import annotations

import pytest
from parse_world import Load, short

from ctxc.base.spans import Origin, Span
from ctxc.model.section import Kind
from ctxc.model.template import Amount

HEAD = "template_id: t\nversion: 1\n"


def template(sections: str, more: str = "") -> dict[str, str]:
    return {"templates/t.yaml": f"{HEAD}sections:\n{sections}{more}", "prompts/a.md": "A.\n"}


@pytest.mark.parametrize(
    ("section", "where", "name", "said"),
    [
        ("  - {id: role, source: prompts/a.md}", "4:10", "section-kind", "has no kind"),
        ("  - {id: polcy, source: prompts/a.md}", "4:10", "section-kind", "did you mean `kind: policy`?"),
        ("  - {id: policy}", "4:5", "missing-key", "has no source"),
        ("  - {id: policy, source: retrival}", "4:26", "bad-value", 'did you mean "retrieval"?'),
        ("  - {id: policy, source: prompts/b.md}", "4:26", "missing-file", 'did you mean "prompts/a.md"?'),
        ("  - {id: policy, source: Prompts/A.md}", "4:26", "path-case", 'is spelt "prompts/a.md"'),
        ("  - {id: policy, source: ../a.md}", "4:26", "path-outside", "has the component '..'"),
        ("  - {id: policy, source: /etc/passwd.md}", "4:26", "path-outside", "is absolute"),
        ("  - {id: policy, source: literal}", "4:5", "missing-key", "has no text"),
        ("  - {id: policy, source: prompts/a.md, text: x}", "4:40", "bad-value", "only where the source is `literal`"),
        ("  - {id: policy, source: runtime, min_tokens: 9, max_tokens: 8}", "4:47", "bad-value", "above max_tokens"),
        ("  - {id: policy, source: runtime, kind: polcy}", "4:41", "bad-value", 'did you mean "policy"?'),
        ("  - {id: policy, source: runtime, priority: 101}", "4:45", "bad-value", "at most 100"),
        ("  - {id: policy, source: runtime, tier: 1}", "4:41", "bad-value", '"1" is not one'),
        ("  - {id: task, source: runtime}\n  - {id: task, source: runtime}", "5:10", "duplicate-id", "stands twice"),
        ("  []", "1:1", "missing-key", "has no sections"),
    ],
)
def test_faults_of_sections(load: Load, section: str, where: str, name: str, said: str) -> None:
    project = load(template(section + "\n"))
    assert short(project) == [f"templates/t.yaml:{where} {name}"]
    assert said in project.findings[0].message
    assert project.findings[0].help
    assert project.templates == {}
    assert project.broken == {"templates/t.yaml": "t"}
    assert project.broken_kinds == {"templates/t.yaml": "template"}


@pytest.mark.parametrize(
    ("more", "where", "name"),
    [
        ("checkpoints: [tsk]\n", "5:15", "unknown-section"),
        ("budget: {buckets: {evidence: {min: 5, soft: 3}}}\n", "5:30", "bad-value"),
        ("budget: {window: 10, output_reserve: 10}\n", "5:38", "bad-value"),
        ("budget: {safety_margin: 5}\nbudget: {}\n", "6:1", "duplicate-key"),
        ("budget: {safety_margin: much}\n", "5:25", "bad-value"),
        ("focus: [a, a]\n", "5:12", "bad-value"),
        ("variables: {a b: 1}\n", "5:13", "bad-value"),
        ("deterministic: [{when: {a: b}}]\n", "5:17", "missing-key"),
        ("output_contract: answr\n", "5:18", "unknown-reference"),
        ("provider: txt\n", "5:11", "unknown-reference"),
    ],
)
def test_faults_of_other_keys(load: Load, more: str, where: str, name: str) -> None:
    project = load(template("  - {id: task, source: runtime}\n", more))
    assert short(project) == [f"templates/t.yaml:{where} {name}"]


def test_a_bucket_that_is_no_section_is_a_warning(load: Load) -> None:
    project = load(template("  - {id: task, source: runtime}\n", "budget: {buckets: {evidense: {min: 1}}}\n"))
    assert [(str(f.location), f.severity.label) for f in project.findings] == [("templates/t.yaml:5:20", "warning")]
    assert project.templates["t"][0].budget.buckets[0].id == "evidense"


def test_margins_in_tokens_and_in_percent(load: Load) -> None:
    for written, amount in (
        ("500", Amount(tokens=500)),
        ("7.25%", Amount(basis_points=725)),
        ("5%", Amount(basis_points=500)),
    ):
        project = load(template("  - {id: task, source: runtime}\n", f"budget: {{safety_margin: {written}}}\n"))
        assert project.templates["t"][0].budget.safety_margin == amount


def test_kind_of_sections_whose_source_says_it(load: Load) -> None:
    project = load(template("  - {id: rules, source: fragments}\n  - {id: task, source: runtime.job.text}\n"))
    assert short(project) == []
    assert [(s.kind, s.source) for s in project.templates["t"][0].sections] == [
        (Kind.FRAGMENT, "fragments"), (Kind.TASK, "runtime.job.text")
    ]  # fmt: skip


def test_checkpoints_may_name_groups_of_fragments(load: Load) -> None:
    project = load(template("  - {id: rules, source: fragments}\n", "checkpoints: [core, rules]\n"))
    assert short(project) == []
    assert project.templates["t"][0].checkpoints == ("core", "rules")


BASE = """\
template_id: base
version: 1.0.0
output_contract: c
variables: {name: Ada, tone: plain}
budget: {window: 100, ceiling: 50, buckets: {evidence: {min: 1}, history: {min: 2}}}
sections:
  - {id: policy, source: prompts/a.md, required: true}
  - {id: task, source: runtime, max_tokens: 10}
  - {id: evidence, source: retrieval}
checkpoints: [policy]
"""
OWN = """\
template_id: own
version: 2.0.0
extends: base
variables: {tone: warm}
budget: {ceiling: 40, buckets: {history: {min: 3}, task: {min: 4}}}
sections:
  - {id: extra, kind: state, source: runtime}
  - {id: task, max_tokens: 20}
"""
CONTRACT = "contract_id: c\nversion: 1\nschema: {type: object}\n"


def test_a_template_takes_over_what_it_extends(load: Load) -> None:
    files = {
        "templates/base.yaml": BASE,
        "templates/own.yaml": OWN,
        "prompts/a.md": "A.\n",
        "policies/c.yaml": CONTRACT,
    }
    project = load(files)
    assert short(project) == []
    own, base = project.templates["own"][0], project.templates["base"][0]
    assert (own.version, own.output_contract, own.extends, own.checkpoints) == ("2.0.0", "c", "base", ("policy",))
    assert own.variables == {"name": "Ada", "tone": "warm"}
    assert [(s.id, s.max_tokens, s.origin) for s in own.sections] == [
        ("policy", None, Origin("templates/base.yaml", "/sections/0")),
        ("task", 20, Origin("templates/own.yaml", "/sections/1")),
        ("evidence", None, Origin("templates/base.yaml", "/sections/2")),
        ("extra", None, Origin("templates/own.yaml", "/sections/0")),
    ]
    assert own.sections[1].source == "runtime"
    assert (own.budget.window, own.budget.ceiling) == (100, 40)
    assert [(b.id, b.min) for b in own.budget.buckets] == [("evidence", 1), ("history", 3), ("task", 4)]
    assert own.paths == ("templates/own.yaml", "templates/base.yaml")
    assert own.content_hash != base.content_hash
    changed = load({**files, "templates/base.yaml": BASE.replace("max_tokens: 10", "max_tokens: 11")})
    assert changed.templates["own"][0].content_hash == own.content_hash, "the key is overridden"
    changed = load({**files, "templates/base.yaml": BASE.replace("required: true", "required: false")})
    assert changed.templates["own"][0].content_hash != own.content_hash


def test_the_hash_does_not_depend_on_how_the_file_is_written(load: Load) -> None:
    plain = load(template("  - {id: task, source: runtime}\n")).templates["t"][0]
    other = '{"sections": [{"source": "runtime", "id": "task"}],\r\n "version": 1, "template_id": "t"}'
    assert load({"templates/x.json": other}).templates["t"][0].content_hash == plain.content_hash


def test_circles_of_extends_name_the_chain(load: Load) -> None:
    files = {
        f"templates/{a}.yaml": f"template_id: {a}\nversion: 1\nextends: {b}\nsections: [{{id: task, source: runtime}}]\n"
        for a, b in (("a", "b"), ("b", "c"), ("c", "b"))
    }
    project = load(files)
    assert short(project) == ["templates/c.yaml:3:10 extends-cycle"]
    assert project.findings[0].message.endswith(": templates/b.yaml -> templates/c.yaml -> templates/b.yaml")
    assert project.broken_with == {"templates/a.yaml": "templates/c.yaml", "templates/b.yaml": "templates/c.yaml"}
    assert project.templates == {}
    assert sorted(project.broken.values()) == ["a", "b", "c"]


def test_two_circles_are_told_apart_and_each_once(load: Load) -> None:
    files = {
        f"templates/{a}.yaml": f"template_id: {a}\nversion: 1\nextends: {b}\nsections: [{{id: task, source: runtime}}]\n"
        for a, b in (("a", "b"), ("b", "a"), ("c", "c"), ("d", "e"), ("e", "f"), ("f", "d"))
    }
    assert short(load(files)) == [f"templates/{x}.yaml:3:10 extends-cycle" for x in "bcf"]


def test_what_extends_nothing_is_reported_once(load: Load) -> None:
    project = load({"templates/own.yaml": OWN})
    assert short(project) == ["templates/own.yaml:3:10 unknown-reference"]
    assert project.broken == {"templates/own.yaml": "own"}


def test_what_extends_a_broken_template_is_no_second_fault(load: Load) -> None:
    project = load({"templates/own.yaml": OWN, "templates/base.yaml": BASE.replace("version: 1.0.0", "version: [1]")})
    assert short(project) == ["templates/base.yaml:2:10 wrong-type"]
    assert project.broken == {"templates/base.yaml": "base", "templates/own.yaml": "own"}


def test_a_fault_of_the_base_is_shown_once_and_spoils_both(load: Load) -> None:
    project = load({"templates/base.yaml": BASE, "templates/own.yaml": OWN, "policies/c.yaml": CONTRACT})
    assert short(project) == ["templates/base.yaml:7:26 missing-file"]
    assert set(project.broken.values()) == {"base", "own"}


def test_the_version_that_reads_as_a_number(load: Load) -> None:
    project = load({"templates/t.yaml": "template_id: t\nversion: 1.10\nsections: [{id: task, source: runtime}]\n"})
    (finding,) = project.findings
    assert (finding.code, finding.severity.label) == ("CTX019", "warning")
    assert finding.location.span == Span(2, 10, 2, 14)
    assert project.templates["t"][0].version == "1.10"


def test_tools_in_every_form(load: Load) -> None:
    schema = '{"type": "object"}'
    forms = {
        "openai.json": f'[{{"type": "function", "function": {{"name": "f", "description": "d", "parameters": {schema}, "strict": true}}}}]',
        "anthropic.json": f'{{"tools": [{{"name": "f", "description": "d", "input_schema": {schema}, "cache_control": {{}}}}]}}',
        "mcp.json": f'{{"jsonrpc": "2.0", "id": 1, "result": {{"tools": [{{"name": "f", "description": "d", "inputSchema": {schema}}}]}}}}',
        "bedrock.json": f'{{"toolConfig": {{"tools": [{{"toolSpec": {{"name": "f", "description": "d", "inputSchema": {{"json": {schema}}}}}}}]}}}}',
        "gemini.json": f'[{{"functionDeclarations": [{{"name": "f", "description": "d", "parameters": {schema}}}]}}]',
        "own.yaml": f"toolset_id: s\nversion: 3\ntools: [{{name: f, description: d, input_schema: {schema}}}]\n",
    }  # fmt: skip
    for name, text in forms.items():
        files = template(f"  - {{id: tools, source: tools/{name}}}\n") | {f"tools/{name}": text}
        project = load(files)
        assert short(project) == [], name
        (tool,) = project.toolsets[f"tools/{name}"][0].tools
        assert (tool.name, tool.description, tool.input_schema) == ("f", "d", {"type": "object"}), name
        assert tool.strict is (True if name == "openai.json" else None)
        assert tool.extra == ({"cache_control": {}} if name == "anthropic.json" else {})


@pytest.mark.parametrize(
    ("text", "where", "name"),
    [
        ('{"a": 1}', "1:1", "wrong-type"),
        ('[{"description": "d"}]', "1:2", "missing-key"),
        ('[{"name": "f"}, {"name": "f"}]', "1:26", "duplicate-tool"),
        ('[{"type": "web_search"}]', "1:11", "bad-value"),
        ('[{"name": "f", "parameters": []}]', "1:30", "wrong-type"),
        ('[{"name": "f", "desciption": "d"}]', "1:16", "unknown-key"),
        ('[{"name": "f", "name": "g"}]', "1:16", "duplicate-key"),
        ('[{"name": "f",}]', "1:15", "syntax"),
    ],
)
def test_faults_of_tool_files(load: Load, text: str, where: str, name: str) -> None:
    project = load(template("  - {id: tools, source: tools/x.json}\n") | {"tools/x.json": text})
    assert short(project) == [f"tools/x.json:{where} {name}"]
    assert "tools/x.json" in project.broken
