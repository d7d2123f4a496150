"""What moves, appears, disappears or is matched anew; tools, contracts, versions and budgets."""

from __future__ import annotations

import json

from diff_projects import (
    POLICY,
    basic,
    by_id,
    comparable,
    diff_of,
    differing,
    fixture,
    fragment,
    section,
    template,
    text_of,
)
from repos import Repo


def test_a_pure_reorder_is_a_move_and_no_edit(repo: Repo) -> None:
    one = "{id: one, kind: policy, source: policies/one.md, required: true, cacheable: true}"
    two = "{id: two, kind: policy, source: policies/two.md, required: true, cacheable: true}"
    three = "{id: three, kind: policy, source: policies/three.md, required: true, cacheable: true}"
    user = "{id: user, source: runtime, required: true}"
    texts = {f"policies/{n}.md": f"The text of {n}.\n" for n in ("one", "two", "three")}
    files = {**texts, "templates/t.yaml": template("t", one, two, three, user), "tests/fixtures/a.yaml": fixture("a")}
    repo.commit("base", files)
    repo.commit("head", {"templates/t.yaml": template("t", two, three, one, user)})
    change = diff_of(repo, base="HEAD~1", head="HEAD")
    told = by_id(change)["a"]
    assert [(s.section_id, s.status, s.facets, s.base_position, s.head_position) for s in told.sections] == [
        ("one", "moved", ("order",), 0, 2)
    ]
    assert told.tokens.delta == 0 and told.drops == ()
    assert {b.section_id: b.status for b in told.base_layout} == {
        "one": "moved", "two": "unchanged", "three": "unchanged", "user": "unchanged",
    }  # fmt: skip
    assert told.prefix is not None and told.prefix.first_difference is not None
    assert told.prefix.first_difference.section_id == "one" or told.prefix.first_difference.section_id == "two"
    assert "moved from place 1 to 3" in text_of(change)


def test_an_insertion_moves_nothing(repo: Repo) -> None:
    listed = [f"{{id: s{n}, kind: policy, source: policies/{n}.md, required: true}}" for n in range(6)]
    user = "{id: user, source: runtime, required: true}"
    texts = {f"policies/{n}.md": f"The text of {n}.\n" for n in range(6)}
    old = template("t", *listed[1:], user)
    repo.commit("base", {**texts, "templates/t.yaml": old, "tests/fixtures/a.yaml": fixture("a")})
    repo.commit("head", {"templates/t.yaml": template("t", *listed, user)})
    told = by_id(diff_of(repo, base="HEAD~1", head="HEAD"))["a"]
    assert [(s.section_id, s.status) for s in told.sections] == [("s0", "added")]


def tools_json(count: int, *, turned: bool = False) -> str:
    def schema(n: int) -> dict[str, object]:
        value = {
            "type": "object",
            "properties": {"path": {"type": "string", "description": f"Path {n}"}, "limit": {"type": "integer"}},
            "required": ["path"],
            "additionalProperties": False,
        }
        if turned:
            value["properties"] = dict(reversed(value["properties"].items()))
            value = dict(reversed(value.items()))
        return value

    tools = [
        {"name": f"tool_{n:03d}", "description": f"Does thing {n}.", "inputSchema": schema(n)} for n in range(count)
    ]
    if turned:
        tools = [dict(reversed(t.items())) for t in tools]
    return json.dumps(tools, indent=1)


def with_tools(tools: str, *, order: str = "name") -> dict[str, str]:
    """A project whose template sends a tool set to OpenAI's interface."""
    return {
        "templates/t.yaml": (
            "template_id: t\nversion: 1\nprovider: openai\nmodel: gpt-4.1\nrequest_profile: p\nsections:\n"
            "  - {id: tools, source: toolset, cacheable: true, required: true}\n"
            "  - {id: user, source: runtime, required: true}\n"
        ),
        "templates/profile.yaml": "profile_id: p\nversion: 1\ntoolset: ts\nstatic: [tools]\n",
        "templates/toolset.yaml": f"toolset_id: ts\nversion: 1.0.0\norder: {order}\nmcp: tools.json\n",
        "templates/tools.json": tools,
        "tests/fixtures/a.yaml": fixture("a"),
    }


def test_ninety_four_tools_with_their_keys_in_another_order(repo: Repo) -> None:
    repo.commit("base", with_tools(tools_json(94)))
    repo.commit("head", with_tools(tools_json(94, turned=True)))
    change = diff_of(repo, base="HEAD~1", head="HEAD")
    tools = by_id(change)["a"].tools
    assert tools is not None
    assert (tools.changed, tools.added, tools.removed, tools.moved, tools.reserialized) == (0, 0, 0, 0, 94)
    assert not tools.breaking and {t.status for t in tools.tools} == {"reserialized"}
    assert "0 tools changed, 94 re-serialized" in text_of(change)
    prefix = by_id(change)["a"].prefix
    assert prefix is not None and not prefix.stable and prefix.reasons == ("tools_changed",)
    assert prefix.first_difference is not None and prefix.first_difference.path == "templates/tools.json"


def tool(name: str, schema: object, **more: object) -> dict[str, object]:
    return {"name": name, "description": f"{name} tool", "inputSchema": schema, **more}


def test_a_tool_that_moved_and_changed_is_neither_gone_nor_new(repo: Repo) -> None:
    old = [tool("a", {"type": "object", "properties": {"x": {"type": "string"}}}), tool("b", {"type": "object"})]
    new = [old[1], tool("a", {"type": "object", "properties": {"x": {"type": "integer"}}})]
    repo.commit("base", with_tools(json.dumps(old), order="given"))
    repo.commit("head", with_tools(json.dumps(new), order="given"))
    change = diff_of(repo, base="HEAD~1", head="HEAD")
    tools = by_id(change)["a"].tools
    assert tools is not None and (tools.added, tools.removed, tools.changed, tools.moved) == (0, 0, 1, 1)
    (told,) = tools.tools
    assert (told.name, told.moved, told.base_position, told.head_position) == ("a", True, 0, 1)
    assert [(c.pointer, c.breaking, c.reason) for c in told.changes] == [
        ("/properties/x/type", True, "type changed: string → integer")
    ]
    printed = text_of(change)
    assert "moved from place 1 to 2" in printed and "type changed: string → integer" in printed


def test_the_same_tools_in_another_order(repo: Repo) -> None:
    tools = [tool(n, {"type": "object"}) for n in ("alpha", "beta", "gamma")]
    turned = [tools[1], tools[0], tools[2]]
    repo.commit("base", with_tools(json.dumps(tools), order="given"))
    repo.commit("head", with_tools(json.dumps(turned), order="given"))
    change = diff_of(repo, base="HEAD~1", head="HEAD")
    assert "same 3 tools, order changed" in text_of(change)
    prefix = by_id(change)["a"].prefix
    assert prefix is not None and not prefix.stable


def test_tools_by_name_do_not_depend_on_the_order_of_a_file(repo: Repo) -> None:
    tools = [tool(n, {"type": "object"}) for n in ("alpha", "beta", "gamma")]
    repo.commit("base", with_tools(json.dumps(tools)))
    repo.commit("head", with_tools(json.dumps([tools[1], tools[0], tools[2]])))
    change = diff_of(repo, base="HEAD~1", head="HEAD")
    assert change.is_empty
    reasons = [v.reason for v in change.versions if v.kind == "toolset"]
    assert reasons == ["same 3 tools, order changed in the file; a model reads them by name"]
    assert not any(v.missing for v in change.versions)


def test_fields_that_no_provider_sees_are_said_to_be_so(repo: Repo) -> None:
    repo.commit("base", with_tools(json.dumps([tool("a", {"type": "object"}, annotations={"readOnlyHint": True})])))
    repo.commit("head", with_tools(json.dumps([tool("a", {"type": "object"}, annotations={"readOnlyHint": False})])))
    change = diff_of(repo, base="HEAD~1", head="HEAD")
    tools = by_id(change)["a"].tools
    assert tools is not None and (tools.changed, tools.unseen) == (0, 1)
    assert [(f.name, f.base, f.head) for f in tools.tools[0].unseen] == [("annotations/readOnlyHint", "true", "false")]
    assert by_id(change)["a"].status == "unchanged"


def test_breaking_changes_of_tools_and_contracts_with_their_reasons(repo: Repo) -> None:
    def made(tool_schema: str, contract: str) -> dict[str, str]:
        return {
            "templates/t.yaml": (
                "template_id: t\nversion: 1\nprovider: openai\nmodel: gpt-4.1\nrequest_profile: p\nsections:\n"
                "  - {id: user, source: runtime, required: true}\n"
            ),
            "templates/profile.yaml": "profile_id: p\nversion: 1\ntoolset: ts\noutput_contract: c\n",
            "templates/toolset.yaml": (
                "toolset_id: ts\nversion: 1.0.0\ntools:\n"
                f"  - {{name: find, description: Find it., input_schema: {tool_schema}}}\n"
            ),
            "templates/contract.yaml": f"contract_id: c\nversion: 2.0.0\nschema: {contract}\n",
            "tests/fixtures/a.yaml": fixture("a"),
        }

    old_tool = "{type: object, required: [q], properties: {q: {type: string}, kind: {type: string, enum: [a, b]}}}"
    new_tool = (
        "{type: object, required: [q, radius], "
        "properties: {q: {type: string}, kind: {type: string, enum: [a]}, radius: {type: integer}}}"
    )
    old = "{type: object, required: [answer], properties: {answer: {type: string, description: The answer.}}}"
    new = "{type: object, required: [answer], properties: {answer: {type: string, description: Your answer.}}}"
    repo.commit("base", made(old_tool, old))
    repo.commit("head", made(new_tool, new))
    change = diff_of(repo, base="HEAD~1", head="HEAD")
    told = by_id(change)["a"]
    assert told.tools is not None and told.contract is not None
    assert [c.reason for c in told.tools.tools[0].changes if c.breaking] == [
        'required field "radius" added', 'enum narrowed: "b" is gone',
    ]  # fmt: skip
    assert (told.contract.breaking, [c.reason for c in told.contract.changes]) == (False, ["description only"])
    assert change.totals.breaking == 2
    hunk = told.contract.hunks[0]
    assert (hunk.path, hunk.head_line, hunk.pointer) == (
        "templates/contract.yaml", 3, "/properties/answer/description",
    )  # fmt: skip
    assert {(v.kind, v.needed, v.missing) for v in change.versions} >= {
        ("toolset", "major", True), ("contract", "patch", True),
    }  # fmt: skip


def test_a_removed_template_is_found_at_its_former_path(repo: Repo) -> None:
    files = {**basic(), "templates/u.yaml": template("u"), "tests/fixtures/u.yaml": fixture("u", template="u")}
    repo.commit("base", files)
    (repo.path / "templates/u.yaml").unlink()
    (repo.path / "tests/fixtures/u.yaml").unlink()
    repo.commit("head")
    change = diff_of(repo, base="HEAD~1", head="HEAD")
    assert by_id(change)["u"].status == "removed"
    gone = [v for v in change.versions if v.kind == "template"]
    assert [(v.id, v.status, v.base, v.path, v.line) for v in gone] == [("u", "removed", "1", "templates/u.yaml", 2)]
    assert {(s.path, s.status, s.affects) for s in change.sources} == {
        ("templates/u.yaml", "removed", ("u",)), ("tests/fixtures/u.yaml", "removed", ("u",)),
    }  # fmt: skip


def test_a_template_that_is_gone_while_a_fixture_needs_it(repo: Repo) -> None:
    repo.commit("base", basic())
    (repo.path / "templates/t.yaml").unlink()
    repo.commit("head", {"templates/other.yaml": template("other")})
    change = diff_of(repo, base="HEAD~1", head="HEAD")
    told = by_id(change)["a"]
    assert (told.base_outcome, told.head_outcome) == ("compiled", "invalid")
    assert "there is no template 't'" in told.problems[0]
    assert change.totals.invalid == 3
    text = text_of(change)
    assert text.count("compiled → invalid") == 1  # one line for all that turned the same way
    # What could not be compiled says nothing of tools, contract, route or budget: they are not gone.
    assert (told.tools, told.contract, [f.name for f in told.fields]) == (None, None, ["outcome", "problems"])
    assert "breaking" not in text and "→ none" not in text


def test_a_moved_fragment_file_changes_nothing_that_a_model_sees(repo: Repo) -> None:
    files = basic()
    repo.commit("base", files)
    (repo.path / "fragments/returns.md").rename(repo.path / "fragments/moved.md")
    repo.commit("head")
    change = diff_of(repo, base="HEAD~1", head="HEAD")
    assert change.is_empty
    assert [(s.status, s.old_path, s.path, s.affects) for s in change.sources] == [
        ("renamed", "fragments/returns.md", "fragments/moved.md", ("a",))
    ]
    moved = [(v.id, v.status, v.base_path, v.path) for v in change.versions]
    assert moved == [("returns", "moved", "fragments/returns.md", "fragments/moved.md")]


def test_a_fragment_that_moved_among_others(repo: Repo) -> None:
    files = {
        **basic(),
        "fragments/extra.md": fragment("extra", "Extra.\n", more="priority: 10\n"),
        "fragments/returns.md": fragment("returns", "Returns.\n", more="priority: 90\n"),
        "fragments/third.md": fragment("third", "Third.\n", more="priority: 50\n"),
    }
    repo.commit("base", files)
    repo.commit("head", {"fragments/extra.md": fragment("extra", "Extra.\n", more="priority: 95\n")})
    told = section(diff_of(repo, base="HEAD~1", head="HEAD"), "a", "fragments/extra")
    assert told.status == "changed" and set(told.facets) == {"order", "budget"}
    assert [(f.name, f.base, f.head) for f in told.fields] == [("priority", "10", "95")]
    assert told.head_position is not None and told.base_position is not None
    assert told.head_position < told.base_position
    assert told.hunks == ()


def test_a_fragment_in_another_section_is_the_same_fragment(repo: Repo) -> None:
    early = "{id: early, kind: fragment, source: fragments}"
    late = "{id: late, kind: fragment, source: fragments}"
    user = "{id: user, source: runtime, required: true}"
    repo.commit("base", {**basic(), "templates/t.yaml": template("t", early, user)})
    repo.commit("head", {"templates/t.yaml": template("t", late, user)})
    told = by_id(diff_of(repo, base="HEAD~1", head="HEAD"))["a"]
    assert [(s.base_id, s.section_id, s.status, s.facets) for s in told.sections] == [
        ("early/returns", "late/returns", "changed", ("meta",))
    ]


def test_a_fragment_whose_route_newly_matches(repo: Repo) -> None:
    repo.commit("base", basic())
    text = fragment("billing", "Ask for the invoice.\n", when="{area: [billing, other]}")
    repo.commit("head", {"fragments/billing.md": text})
    change = diff_of(repo, base="HEAD~1", head="HEAD")
    assert differing(change) == ["c"]
    assert [(s.section_id, s.status) for s in by_id(change)["c"].sections] == [("fragments/billing", "added")]
    # Fixture b has the fragment already; it was compiled, because its file differs, and is the same.
    assert change.totals.compiled == 2
    assert {s.path: (s.affects, s.differs) for s in change.sources} == {"fragments/billing.md": (("b", "c"), ("c",))}
    assert comparable(change) == comparable(diff_of(repo, base="HEAD~1", head="HEAD", whole=True))


def test_a_new_fragment_that_a_route_matches_and_one_that_another_requires(repo: Repo) -> None:
    repo.commit("base", basic())
    more = "requires: [rules]\n"
    repo.commit(
        "head",
        {
            "fragments/other.md": fragment("other", "Other.\n", when="{area: [other]}", more=more),
            "fragments/rules.md": fragment("rules", "Rules.\n", mode="explicit"),
        },
    )
    change = diff_of(repo, base="HEAD~1", head="HEAD")
    assert differing(change) == ["c"] and change.totals.compiled == 1
    assert {s.section_id for s in by_id(change)["c"].sections} == {"fragments/other", "fragments/rules"}


def test_what_falls_out_of_the_budget_and_what_comes_back(repo: Repo) -> None:
    def made(policy: str) -> dict[str, str]:
        listed = (
            "{id: policy, source: policies/policy.md, required: true}",
            "{id: evidence, source: retrieval, overflow: drop}",
            "{id: user, source: runtime, required: true}",
        )
        text = (
            "fixture_id: a\ntemplate: t\ninputs:\n  user: Hi\n  evidence:\n"
            "    - {id: E1, text: 'one two three four five six seven eight nine ten', score: 0.9}\n"
            "    - {id: E2, text: 'Parking is free on Sundays near the old river', score: 0.1}\n"
        )
        return {
            "templates/t.yaml": template("t", *listed, more="budget: {ceiling: 150, output_reserve: 10}\n"),
            "policies/policy.md": policy,
            "tests/fixtures/a.yaml": text,
        }

    long = "word " * 60 + "\n"
    repo.commit("base", made("Short.\n"))
    repo.commit("head", made(long))
    told = by_id(diff_of(repo, base="HEAD~1", head="HEAD"))["a"]
    assert [(d.section_id, d.status, d.head_reason) for d in told.drops] == [("evidence/E2", "dropped", "budget")]
    assert [s.section_id for s in told.sections if s.status == "removed" and "drops" in s.facets] == ["evidence/E2"]
    back = by_id(diff_of(repo, base="HEAD", head="HEAD~1"))["a"]
    assert [(d.section_id, d.status, d.base_reason) for d in back.drops] == [("evidence/E2", "restored", "budget")]
    repo.commit("more", made("word " * 200 + "\n"))
    change = diff_of(repo, base="HEAD~1", head="HEAD")
    assert by_id(change)["a"].head_outcome == "budget_exceeded"
    assert by_id(change)["a"].budget.crossed.startswith("over the budget of 150 tokens")
    assert change.totals.crossed == ("a",)


def test_trust_role_and_budget_are_facets_of_their_own(repo: Repo) -> None:
    user = "{id: user, source: runtime, required: true}"
    old = "{id: policy, source: policies/policy.md, required: true}"
    new = "{id: policy, source: policies/policy.md, required: true, authority: T1, tier: P1, max_tokens: 900}"
    repo.commit("base", {**basic(), "templates/t.yaml": template("t", old, user)})
    repo.commit("head", {"templates/t.yaml": template("t", new, user)})
    told = section(diff_of(repo, base="HEAD~1", head="HEAD"), "c", "policy")
    assert told.facets == ("trust", "budget")
    assert {(f.name, f.facet, f.base, f.head) for f in told.fields} == {
        ("authority", "trust", "T0", "T1"), ("tier", "budget", "P0", "P1"), ("max_tokens", "budget", "none", "900"),
    }  # fmt: skip


def test_versions_are_judged_on_what_is_compiled(repo: Repo) -> None:
    repo.commit("base", basic())
    files = {
        # Only a comment: nothing that is compiled changed.
        "templates/t.yaml": "# a comment\n" + template(),
        "fragments/returns.md": fragment("returns", "Ask for the order number.\nBe brief, please.\n"),
        "fragments/billing.md": fragment("billing", "Ask for the invoice!\n", when="{area: [billing]}").replace(
            "version: 1.0.0", "version: 1.1.0"
        ),
    }
    repo.commit("head", files)
    found = {v.id: v for v in diff_of(repo, base="HEAD~1", head="HEAD").versions}
    assert sorted(found) == ["billing", "returns"]
    returns, billing = found["returns"], found["billing"]
    assert (returns.content_changed, returns.bump, returns.needed, returns.missing) == (True, "none", "minor", True)
    assert (billing.base, billing.head, billing.bump, billing.needed, billing.missing) == (
        "1.0.0", "1.1.0", "minor", "minor", False,
    )  # fmt: skip
    assert (returns.path, returns.line) == ("fragments/returns.md", 3)


def test_a_template_answers_for_the_texts_that_it_names(repo: Repo) -> None:
    repo.commit("base", basic())
    repo.commit("head", {"policies/policy.md": POLICY.replace("Never", "Do not ever")})
    versions = diff_of(repo, base="HEAD~1", head="HEAD").versions
    assert [(v.kind, v.id, v.needed, v.missing, v.reason) for v in versions] == [
        ("template", "t", "minor", True, "text of policies/policy.md")
    ]
    repo.commit("bump", {"templates/t.yaml": template(version="2")})
    change = diff_of(repo, base="HEAD~2", head="HEAD")
    assert [(v.bump, v.missing) for v in change.versions] == [("major", False)]


def test_metadata_alone_is_told_apart(repo: Repo) -> None:
    repo.commit("base", basic())
    repo.commit("head", {"templates/t.yaml": template(version="2")})
    change = diff_of(repo, base="HEAD~1", head="HEAD")
    assert {f.facets for f in change.fixtures} == {("meta",)}
    assert change.totals.unseen == 3
    assert "3 fixtures in metadata only: the model sees the same" in text_of(change)


def test_another_model_on_the_same_tree(repo: Repo) -> None:
    files = {k: v.replace("provider: text", "provider: openai\nmodel: gpt-4.1") for k, v in basic().items()}
    repo.commit("base", files)
    change = diff_of(repo, model="gpt-4o", against_model="gpt-4.1")
    told = by_id(change)["a"]
    assert (change.base.model, change.head.model) == ("gpt-4.1", "gpt-4o")
    assert told.prefix is not None and told.prefix.reasons[0] == "model_changed"
    assert ("model", "gpt-4.1", "gpt-4o") in {(f.name, f.base, f.head) for f in told.fields}


def test_settings_that_differ_are_told(repo: Repo) -> None:
    files = {k: v.replace("provider: text\n", "") for k, v in basic().items()}
    repo.commit("base", {**files, "ctxc.yaml": "provider: text\n"})
    repo.commit("head", {"ctxc.yaml": "provider: openai\nmodel: gpt-4.1\n"})
    change = diff_of(repo, base="HEAD~1", head="HEAD")
    assert [(s.name, s.base, s.head) for s in change.settings] == [
        ("provider", "text", "openai"), ("model", "none", "gpt-4.1"),
    ]  # fmt: skip
    assert differing(change) == ["a", "b", "c"]
