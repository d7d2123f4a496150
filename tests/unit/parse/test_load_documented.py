"""The texts of the format's description load exactly as they stand there."""

from __future__ import annotations

import re

from parse_world import Load, short

from ctxc.base.spans import Location, Origin, Span
from ctxc.model.fragment import LoadMode
from ctxc.model.section import Authority, Kind, Overflow, Strategy, Tier
from ctxc.model.template import Amount, Bucket

TEMPLATE = """\
template_id: agent_default
version: 12
renderer: chat_messages_v3
output_contract: answer_v5
sections:
  - id: policy
    source: policies/platform_v12.md
    required: true
    cacheable: true
  - id: tools
    source: tools/schema_v4.json
    required: true
    cacheable: true
  - id: task
    source: runtime
    required: true
  - id: evidence
    source: retrieval
    max_tokens: 19000
"""

BUDGET = """\
budget:
  window: 64000            # default: the provider profile's
  output_reserve: 8192
  safety_margin: 5%        # or tokens
  ceiling: 54000
  buckets:
    evidence: {min: 2000, soft: 19000, max: 24000, borrow: true}
    history:  {min: 0, soft: 8000, borrow: true}
"""

MANIFEST = """\
{
  "fragment_id": "family.motor",
  "version": "v1",
  "path": "family/motor.md",
  "kind": "family",
  "load_mode": "route_match",
  "applies_when": { "product_family": ["motor"] },
  "requires": ["core.authority", "core.provenance"],
  "conflicts_with": ["family.home", "family.contents"],
  "priority": 100,
  "max_tokens": 420
}
"""

FIXTURE = """\
fixture_id: motor_intake_rear_damage
template: claimant_v7
request_profile: external_support
now: 2026-10-31T10:00:00Z
route: {product_family: motor, task: intake}
principal: {tenant: t_demo, subject: u_1, permissions: [claims:read]}
sensitive: [inputs.state.plate_number]
inputs:
  user: "A car hit my rear bumper this morning."
  task: "Take the first notice of loss."
  state: {claim_id: c_1, version: 3, missing: [plate_number]}
  history: {file: transcripts/rear_damage.jsonl}
  evidence: []
expect:
  outcome: compiled
  max_input_tokens: 3000
  loaded: [family.motor, core.authority]
  not_loaded: [family.home]
  must_contain: ["do not reveal other customers"]
  must_not_contain: []
  dropped: []
  required_evidence: []
weight: 1
"""

SEVERAL = """\
contract_id: answer
version: 5
schema: {type: object, required: [answer, citations], properties: {answer: {type: string}, citations: {type: array, items: {type: string}}}}
refusal: {field: answer, text: "cannot be confirmed"}
citations: {field: citations, must_exist: true}
---
toolset_id: claims_tools
version: 2
namespace: claims
tools: [{name: find_service, description: "Find a service near the place of loss.", input_schema: {type: object, properties: {}}}]
# or: mcp: tools_list.json
---
profile_id: external_support
version: 1
toolset: claims_tools
output_contract: answer
static: [policy, contract, core]
---
policy_id: production
version: 3
gates:
  budget: {ceilings: [{where: {template: claimant_v7}, max_input_tokens: 3000}], growth: {max_percent: 5}}
  forbidden:
    - id: FF-001
      title: no e-mail address outside the user's own words
      where: {zone: [system, tools, data], provider: ["*"], template: ["*"]}
      forbid: {detect: [pii.email]}          # or keys: [...], or re2: "...", or classification: [...]
      severity: error
  prefix: {stable_over: request_profile, against_base: require_version_bump}
waivers:
  - {rule: FF-001, path: fragments/core/contact.md, owner: platform, reason: public mailbox, created: 2026-10-01, expires: 2026-12-31}
"""

OTHERS = {
    "policies/platform_v12.md": "Be exact.\n",
    "tools/schema_v4.json": '[{"name": "search", "description": "d", "parameters": {"type": "object"}}]',
    "policies/answer.yaml": SEVERAL.split("---\n", maxsplit=1)[0],
}


def test_the_template(load: Load) -> None:
    project = load({"templates/agent_default.yaml": TEMPLATE, **OTHERS})
    assert short(project) == []
    (template,) = project.templates["agent_default"]
    assert (template.version, template.renderer, template.output_contract) == ("12", "chat_messages_v3", "answer_v5")
    assert [(s.id, s.kind, s.source, s.required, s.cacheable, s.max_tokens) for s in template.sections] == [
        ("policy", Kind.POLICY, "policies/platform_v12.md", True, True, None),
        ("tools", Kind.TOOLS, "tools/schema_v4.json", True, True, None),
        ("task", Kind.TASK, "runtime", True, None, None),
        ("evidence", Kind.EVIDENCE, "retrieval", None, None, 19000),
    ]
    assert [t.name for t in project.toolsets["tools/schema_v4.json"][0].tools] == ["search"]
    assert project.sources.locate(template.sections[3].origin.child("max_tokens")) == Location(
        "templates/agent_default.yaml", Span(19, 17, 19, 22), "/sections/3/max_tokens"
    )


def test_the_budget(load: Load) -> None:
    text = TEMPLATE + "  - {id: history, source: runtime}\n" + BUDGET
    project = load({"templates/t.yaml": text, **OTHERS})
    assert short(project) == []
    budget = project.templates["agent_default"][0].budget
    assert (budget.window, budget.output_reserve, budget.ceiling) == (64000, 8192, 54000)
    assert budget.safety_margin == Amount(basis_points=500)
    assert budget.buckets == (
        Bucket(
            id="evidence", min=2000, soft=19000, max=24000, borrow=True,
            origin=Origin("templates/t.yaml", "/budget/buckets/evidence"),
        ),
        Bucket(id="history", soft=8000, borrow=True, origin=Origin("templates/t.yaml", "/budget/buckets/history")),
    )  # fmt: skip


def core(name: str) -> str:
    return f"---\nfragment_id: core.{name}\nversion: v1\nkind: core\nload_mode: always\n---\nCore {name}.\n"


def other(name: str) -> str:
    return f"---\nfragment_id: family.{name}\nversion: v1\nkind: family\nload_mode: explicit\n---\nFamily {name}.\n"


FRAGMENTS = {
    "fragments/manifest.json": MANIFEST,
    "fragments/family/motor.md": "Motor claims.\n",
    "fragments/core/authority.md": core("authority"),
    "fragments/core/provenance.md": core("provenance"),
    "fragments/family/home.md": other("home"),
    "fragments/family/contents.md": other("contents"),
}


def test_the_manifest(load: Load) -> None:
    project = load(FRAGMENTS)
    assert short(project) == []
    (fragment,) = project.fragments["family.motor"]
    assert fragment.version == "v1"
    assert (fragment.text_path, fragment.kind, fragment.load_mode) == (
        "fragments/family/motor.md", "family", LoadMode.ROUTE_MATCH
    )  # fmt: skip
    assert fragment.applies_when == {"product_family": ("motor",)}
    assert fragment.requires == ("core.authority", "core.provenance")
    assert fragment.conflicts_with == ("family.home", "family.contents")
    assert (fragment.priority, fragment.max_tokens, fragment.body_line) == (100, 420, 1)
    assert project.sources.body("fragments/core/authority.md") == "Core authority.\n"
    assert project.fragments["core.authority"][0].body_line == 7


def test_the_manifest_as_list_object_and_yaml(load: Load) -> None:
    for manifest in (f"[{MANIFEST}]", f'{{"fragments": [{MANIFEST}]}}'):
        for name in ("manifest.json", "manifest.yaml"):
            files = {k: v for k, v in FRAGMENTS.items() if k != "fragments/manifest.json"}
            project = load({**files, f"fragments/{name}": manifest})
            assert short(project) == []
            assert project.fragments["family.motor"][0].max_tokens == 420


def test_the_fixture(load: Load) -> None:
    template = re.sub("agent_default", "claimant_v7", TEMPLATE)
    project = load(
        {
            "tests/fixtures/f.yaml": FIXTURE,
            "tests/fixtures/transcripts/rear_damage.jsonl": '{"role": "user", "content": "Hello"}\n',
            "templates/t.yaml": template,
            "policies/external_support.yaml": "profile_id: external_support\nversion: 1\n",
            **OTHERS,
        }
    )
    assert short(project) == []
    fixture = project.fixtures["motor_intake_rear_damage"]
    assert fixture.now == "2026-10-31T10:00:00Z"
    assert fixture.route == {"product_family": ("motor",), "task": ("intake",)}
    assert fixture.principal is not None
    assert fixture.principal.permissions == {"claims:read"}
    assert fixture.inputs.values["state"] == {"claim_id": "c_1", "version": 3, "missing": ["plate_number"]}
    assert [(m.role, m.content, m.origin) for m in fixture.inputs.history] == [
        ("user", "Hello", Origin("tests/fixtures/transcripts/rear_damage.jsonl", "/0"))
    ]
    assert fixture.inputs.files == ("tests/fixtures/transcripts/rear_damage.jsonl",)
    assert fixture.expect.loaded == ("family.motor", "core.authority")
    assert "must_not_contain" in fixture.expect.stated
    assert fixture.weight == 1


def test_contract_tool_set_profile_and_policy(load: Load) -> None:
    files = {f"policies/{n}.yaml": text for n, text in enumerate(SEVERAL.split("---\n"))}
    project = load(files)
    assert short(project) == []
    (contract,) = project.contracts["answer"]
    assert (contract.version, contract.refusal["text"]) == ("5", "cannot be confirmed")
    assert contract.schema["required"] == ["answer", "citations"]
    (toolset,) = project.toolsets["claims_tools"]
    assert (toolset.namespace, toolset.order) == ("claims", "name")
    assert toolset.tools[0].description == "Find a service near the place of loss."
    (profile,) = project.profiles["external_support"]
    assert (profile.toolset, profile.static) == ("claims_tools", ("policy", "contract", "core"))
    (policy,) = project.policies["production"]
    assert policy.gates["budget"]["growth"] == {"max_percent": 5}
    assert policy.waivers[0].expires == "2026-12-31"


def test_further_keys_of_a_section(load: Load) -> None:
    text = """\
template_id: t
version: 1
sections:
  - {id: notes, kind: memory, source: runtime.notes, authority: T3, tier: P4, zone: data, priority: 7, min_tokens: 10,
     max_tokens: 20, overflow: 'cut:middle', select: {min_score: 0.5, top: 2, dedupe: false}, order: time,
     when: {product: [motor, home], files: "**/*.py"}, required: false, cacheable: false}
  - {id: words, kind: fragment, source: literal, text: "Say {{name}}."}
variables: {name: Ada, limit: 3}
"""
    project = load({"templates/t.yaml": text})
    assert short(project) == []
    notes, words = project.templates["t"][0].sections
    assert (notes.authority, notes.tier, notes.priority) == (Authority.T3, Tier.P4, 7)
    assert notes.overflow == Overflow(action="cut", strategy=Strategy.MIDDLE)
    assert (notes.select.min_score, notes.select.top, notes.select.dedupe) == (0.5, 2, False)
    assert notes.when == {"product": ("motor", "home"), "files": ("**/*.py",)}
    assert (words.source, words.text) == ("literal", "Say {{name}}.")
    assert project.templates["t"][0].variables == {"name": "Ada", "limit": "3"}
