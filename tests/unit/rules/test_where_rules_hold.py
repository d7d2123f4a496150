"""Which sections and texts a policy's rule speaks of, and how often it says so."""

from __future__ import annotations

import pytest
from rule_lab import findings_of

from ctxc.rules import rule
from ctxc.rules.documentation import Example

TEMPLATE = "template_id: {id}\nversion: 1\nprovider: text\nroute: [{route}]\nsections:\n"
FIXTURE = "fixture_id: {id}\ntemplate: {template}\nroute: {{{route}}}\ninputs: {{user: Hello.}}\n"


def found(name: str, files: dict[str, str]) -> list[tuple[str, str, str]]:
    """Path, fixture and message of what a rule finds."""
    example = Example(files={path: text.encode() for path, text in files.items()}, links={})
    return [(f.location.path, f.fixture, f.message) for f in findings_of(example, [rule(name)], compiled=True)]


# --- ceilings of sections --------------------------------------------------------------------------------------------


def ceilings(limit: str, *topics: str) -> dict[str, str]:
    """A template that shows the topic of a route, and a fixture for each topic."""
    sections = "  - {id: policy, source: policies/house.md}\n  - {id: user, source: runtime}\n"
    policy = f"policy_id: p\nversion: 1\ngates: {{budget: {{ceilings: [{{where: {{section: policy}}, {limit}}}]}}}}\n"
    files = {
        "templates/t.yaml": TEMPLATE.format(id="t", route="topic") + sections,
        "policies/house.md": "Speak of {{topic}} only.\n",
        "policies/p.yaml": policy,
    }
    for number, topic in enumerate(topics):
        name = "abc"[number]
        files[f"tests/fixtures/{name}.yaml"] = FIXTURE.format(id=name, template="t", route=f"topic: {topic}")
    return files


def test_a_section_over_its_ceiling_is_told_once_with_the_range_and_the_fixture_with_most() -> None:
    asked = ceilings("max_bytes: 87", "tax", "tea and coffee and everything else", "home")
    message = "section 'policy' has 88 to 119 bytes in 3 fixtures (most in 'b'), up to 32 over the ceiling of 87"
    assert found("token-ceiling", asked) == [("policies/house.md", "b", message)]


def test_a_section_that_is_alike_in_all_fixtures_has_no_range() -> None:
    told = found("token-ceiling", ceilings("max_bytes: 87", "tax", "tea"))
    assert told == [("policies/house.md", "a", "section 'policy' has 88 bytes in 2 fixtures, 1 over the ceiling of 87")]
    told = found("token-ceiling", ceilings("max_tokens: 9", "tax", "tea"))
    assert [(p, f) for p, f, _ in told] == [("policies/house.md", "a")]
    assert " tokens in 2 fixtures, " in told[0][2]


def test_only_fixtures_that_are_over_the_ceiling_are_counted() -> None:
    told = found("token-ceiling", ceilings("max_bytes: 95", "tax", "tea and coffee and everything else"))
    assert told == [("policies/house.md", "b", "section 'policy' has 119 bytes, 24 over the ceiling of 95")]


# --- where forbidden texts stand -------------------------------------------------------------------------------------

FRAGMENT = "{{fragment_id: {id}, version: v1, path: {id}.md, kind: task, load_mode: {mode}{more}}}"


def forbidden(template: str, **fragments: str) -> dict[str, str]:
    """Two templates that take fragments by keys of their own, and a rule for one of them."""
    take = "  - {id: policy, source: literal, text: Answer briefly.}\n  - {id: fragments, source: fragments}\n"
    entries = "".join(f"  - {FRAGMENT.format(id=n, mode=m.split()[0], more=m[len(m.split()[0]):])}\n"
                      for n, m in fragments.items())  # fmt: skip
    return {
        "templates/shop.yaml": TEMPLATE.format(id="shop", route="aisle") + take,
        "templates/desk.yaml": TEMPLATE.format(id="desk", route="topic") + take,
        "fragments/manifest.yaml": f"fragments:\n{entries}",
        **{f"fragments/{n}.md": "Write to jane.roe@kettle-works.com.\n" for n in fragments},
        "tests/fixtures/f.yaml": "fixture_id: f\ntemplate: shop\nroute: {aisle: none}\n",
        "tests/fixtures/g.yaml": "fixture_id: g\ntemplate: desk\nroute: {topic: none}\n",
        "policies/p.yaml": "policy_id: p\nversion: 1\ngates:\n  forbidden:\n    - {id: FF-1, title: no e-mail address, "
        f"where: {{template: {template}}}, search: [sources], forbid: {{detect: [pii.email]}}}}\n",
    }


def paths(files: dict[str, str]) -> list[str]:
    return sorted(path for path, _, _ in found("forbidden-content", files))


def test_a_fragment_belongs_to_the_templates_whose_routes_can_load_it() -> None:
    by_topic = {"refund": "route_match, applies_when: {topic: [refund]}"}
    assert paths(forbidden("shop", **by_topic)) == []
    assert paths(forbidden("desk", **by_topic)) == ["fragments/refund.md"]  # no fixture has this topic yet


def test_a_fragment_belongs_to_all_templates_where_any_route_or_request_loads_it() -> None:
    both = {"core": "always", "asked": "explicit"}
    for template in ("shop", "desk"):
        assert paths(forbidden(template, **both)) == ["fragments/asked.md", "fragments/core.md"]


def test_a_fragment_belongs_where_another_requires_it_or_a_fixture_names_it() -> None:
    asked = forbidden("shop", needed="route_match, applies_when: {topic: [refund]}", core="always, requires: [needed]")
    assert paths(asked) == ["fragments/core.md", "fragments/needed.md"]
    asked = forbidden("shop", refund="route_match, applies_when: {topic: [refund]}")
    asked["tests/fixtures/f.yaml"] += "inputs: {fragments: [refund]}\n"
    assert paths(asked) == ["fragments/refund.md"]


def test_a_key_that_a_fixture_gives_beside_those_of_its_template_counts() -> None:
    asked = forbidden("shop", refund="route_match, applies_when: {topic: [refund]}")
    asked["tests/fixtures/f.yaml"] = "fixture_id: f\ntemplate: shop\nroute: {aisle: none, topic: other}\n"
    assert paths(asked) == ["fragments/refund.md"]


def test_a_contract_belongs_to_the_templates_that_answer_by_it() -> None:
    schema = "schema: {type: object, description: Write to jane.roe@kettle-works.com.}\n"
    asked = forbidden("shop") | {
        "fragments/manifest.yaml": "fragments: []\n",
        "templates/answer.yaml": f"contract_id: answer\nversion: 1\n{schema}",
    }
    asked["templates/desk.yaml"] = asked["templates/desk.yaml"].replace("route:", "output_contract: answer\nroute:", 1)
    assert paths(asked) == []
    asked["policies/p.yaml"] = asked["policies/p.yaml"].replace("template: shop", "template: desk")
    assert paths(asked) == ["templates/answer.yaml"]
    # By the profile that a fixture names, too.
    asked["templates/desk.yaml"] = asked["templates/desk.yaml"].replace("output_contract: answer\n", "")
    assert paths(asked) == []
    asked["templates/front.yaml"] = "profile_id: front\nversion: 1\noutput_contract: answer\n"
    asked["tests/fixtures/g.yaml"] += "request_profile: front\n"
    assert paths(asked) == ["templates/answer.yaml"]


# --- names of nothing ------------------------------------------------------------------------------------------------


def named(where: str, *, step: str = "budget: {{ceilings: [{{where: {}, max_input_tokens: 900}}]}}") -> list[str]:
    """What is told of a policy's ``where`` over a small project."""
    files = ceilings("max_tokens: 900", "tax")
    files["policies/p.yaml"] = f"policy_id: p\nversion: 1\ngates: {{{step.format(where)}}}\n"
    return [message for _, _, message in found("idle-selector", files)]


def test_a_name_of_nothing_in_a_list_is_told_where_the_others_fit() -> None:
    assert named("{template: [t, tt]}") == [
        "this `where` of policy p names template 'tt', which does not exist; did you mean \"t\"?"
    ]
    assert named("{template: t, section: [policy, polcy]}") == [
        "this `where` of policy p names section 'polcy', which does not exist; did you mean \"policy\"?"
    ]
    assert named("{fixture: [a, b], zone: system, path: policies/house.md}") == [
        "this `where` of policy p names fixture 'b', which does not exist"
    ]
    for where in (
        "{template: '*', section: 'pol*'}",
        "{path: [policies/house.md, templates/t.yaml]}",
        "{model: [x, '']}",
    ):
        assert "does not exist" not in " ".join(named(where)), where


def test_a_name_of_nothing_is_told_where_nothing_has_to_fit() -> None:
    """What is forbidden in a section may be about one that stays empty, but not about one that there is not."""
    step = "forbidden: [{{id: F, where: {}, forbid: {{detect: [secret]}}}}]"
    assert named("{section: user, kind: evidence}", step=step) == []
    assert named("{section: usr}", step=step) == [
        "this `where` of policy p names section 'usr', which does not exist; did you mean \"user\"?"
    ]
    assert named("{zone: [system, sytem]}", step=step) == [
        "this `where` of policy p names zone 'sytem', which does not exist; did you mean \"system\"?"
    ]
    assert named("{template: tt}", step=step) == ["this `where` of policy p fits no fixture"]


def test_an_exception_for_nothing_is_told() -> None:
    assert named("", step="coverage: {{except: [topic=tax, t, tt]}}") == [
        "`except` names 'topic=tax', which does not exist",
        "`except` names 'tt', which does not exist; did you mean \"t\"?",
    ]


def test_no_name_is_told_to_be_nothing_that_a_broken_file_may_define() -> None:
    files = ceilings("max_tokens: 900", "tax")
    step = "coverage: {except: [u]}, budget: {ceilings: [{where: {template: [t, u]}, max_input_tokens: 900}]}"
    files["policies/p.yaml"] = f"policy_id: p\nversion: 1\ngates: {{{step}}}\n"
    assert len(found("idle-selector", files)) == 2
    assert found("idle-selector", files | {"templates/u.yaml": "template_id: u\nversoin: 1\n"}) == []


# --- what a broken fixture may use -----------------------------------------------------------------------------------

PROFILE = "profile_id: front\nversion: 1\ntoolset: house\n"
TOOLS = "toolset_id: house\nversion: 1\ntools: [{name: find, description: Find it., input_schema: {type: object}}]\n"


def test_no_tool_set_is_called_unused_that_a_broken_fixture_may_use() -> None:
    files = ceilings("max_tokens: 900", "tax")
    files |= {"templates/f.yaml": PROFILE, "templates/h.yaml": TOOLS}
    assert len(found("unused-toolset", files)) == 1
    assert (
        found(
            "unused-toolset", files | {"tests/fixtures/z.yaml": "fixture_id: z\ntemplate: t\nrequest_profil: front\n"}
        )
        == []
    )


@pytest.mark.parametrize(("load", "text", "told"), [("always", " ", 0), ("explicit", "Text.", 1)])
def test_a_fragment_without_text_is_reached_where_its_text_would_be(load: str, text: str, told: int) -> None:
    files = ceilings("max_tokens: 900", "tax")
    files["templates/t.yaml"] += "  - {id: fragments, source: fragments}\n"
    files["fragments/a.md"] = f"---\nfragment_id: a\nversion: 1\nkind: core\nload_mode: {load}\n---\n{text}\n"
    files["policies/p.yaml"] = "policy_id: p\nversion: 1\ngates: {coverage: {kinds: [fragment]}}\n"
    assert len(found("uncovered", files)) == told


# --- fields that a contract requires ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "fields"),
    [
        ("{properties: {a: {}}, required: [a, b]}", ["b"]),
        ("{properties: {enum: {properties: {a: {}}, required: [b]}}}", ["b"]),
        ("{properties: {x: {items: {anyOf: [{properties: {a: {}}, required: [b]}]}}}}", ["b"]),
        ("{$defs: {allOf: {properties: {a: {}}, required: [b]}}}", ["b"]),
        ("{properties: {a: {}, b: {}}, if: {properties: {a: {const: 1}}}, then: {properties: {a: {}}, required: [b]}}", []),
        ("{properties: {b: {}}, anyOf: [{properties: {a: {}}, required: [a, b]}]}", []),
        ("{allOf: [{properties: {b: {}}}, {properties: {a: {}}, required: [a, b]}]}", []),
        ("{allOf: [{$ref: '#/$defs/x'}], properties: {a: {}}, required: [a, b], $defs: {x: {properties: {b: {}}}}}", []),
        ("{patternProperties: {'^b': {}}, properties: {a: {}}, required: [a, b]}", []),
        ("{properties: {a: {default: {properties: {x: 1}, required: [y]}}}}", []),
    ],
)  # fmt: skip
def test_a_required_field_is_missing_only_where_no_other_part_may_declare_it(schema: str, fields: list[str]) -> None:
    files = {"templates/c.yaml": f"contract_id: c\nversion: 1\nschema: {schema}\n"}
    told = [message for _, _, message in found("contract-field", files) if "requires" in message]
    assert [message.split("'")[3] for message in told] == fields


# --- texts that are empty --------------------------------------------------------------------------------------------


def test_an_empty_file_that_a_section_has_to_have_is_an_error_whoever_else_shows_it() -> None:
    sections = "  - {id: hint, kind: policy, source: policies/a.md, required: false}\n  - {id: rules, kind: policy, source: policies/a.md}\n"
    files = {"templates/t.yaml": TEMPLATE.format(id="t", route="") + sections, "policies/a.md": " \n"}
    example = Example(files={path: text.encode() for path, text in files.items()}, links={})
    assert [(f.severity.label, f.message) for f in findings_of(example, [rule("empty-text")], compiled=True)] == [
        ("error", "section 'rules' shows policies/a.md, which has no text")
    ]
