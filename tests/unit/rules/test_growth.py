"""Growth is told at the file that grew, with the fixture and the tokens that each file brought."""

from __future__ import annotations

from rule_lab import findings_of_change

from ctxc.model.finding import Finding
from ctxc.rules import rule
from ctxc.rules.documentation import Example

TEMPLATE = """\
template_id: t
version: 1
provider: openai
model: gpt-4.1
budget: {output_reserve: 800, ceiling: 4000}
sections:
  - {id: policy, source: policies/house.md}
  - {id: style, kind: fragment, source: policies/style.md}
  - {id: user, source: runtime}
"""
HOUSE, STYLE = "Answer from the evidence that is given.\n", "Write plainly.\n"
LONGER = HOUSE + "Say what is missing, and who could know it. " * 3 + "\n"
FIXTURE = 'fixture_id: {id}\ntemplate: t\ninputs: {{user: "{user}"}}\n'


def found(name: str, gates: str, changes: dict[str, str]) -> tuple[Finding, ...]:
    """What a rule finds where ``changes`` are made to two fixtures of one template."""
    files = {
        "templates/t.yaml": TEMPLATE,
        "policies/house.md": HOUSE,
        "policies/style.md": STYLE,
        "tests/fixtures/a.yaml": FIXTURE.format(id="a", user="When is it due?"),
        "tests/fixtures/b.yaml": FIXTURE.format(id="b", user="Can I pay later?"),
        "policies/p.yaml": f"policy_id: p\nversion: 1\ngates: {gates}\n",
    }
    before = {f"base/{path}": text for path, text in files.items() if path in changes}
    every = {**files, **changes, **before}
    example = Example(files={path: text.encode() for path, text in every.items()}, links={})
    return findings_of_change(example, rule(name))


def test_growth_is_told_once_at_the_file_that_grew() -> None:
    (one,) = found("token-growth", "{budget: {growth: {max_percent: 5}}}", {"policies/house.md": LONGER})
    assert one.location.path == "policies/house.md" and one.fixture == "a"
    assert one.data["files"] == {"policies/house.md": one.data["delta"]}
    assert one.message.startswith(f"fixture 'a' grew by {one.data['delta']} tokens (")
    assert f"most of it from policies/house.md (+{one.data['delta']} tokens); the policy allows 5%" in one.message
    assert one.message.endswith("; so did 1 more fixture")
    assert one.data["fixtures"] == ["a", "b"] and one.data["requests"] == 2
    assert "tests/fixtures/a.yaml" in [r.location.path for r in one.related]


def test_the_file_that_brought_most_comes_first_and_the_others_are_named() -> None:
    changes = {"policies/house.md": HOUSE + "Be brief.\n", "policies/style.md": STYLE + "Use short words. " * 9 + "\n"}
    (one,) = found("token-growth", "{budget: {growth: {max_tokens: 1}}}", changes)
    assert one.location.path == "policies/style.md"
    files = one.data["files"]
    assert list(files) == ["policies/style.md", "policies/house.md"]
    assert sum(files.values()) == one.data["delta"]
    told = ", ".join(f"{path} (+{tokens} tokens)" for path, tokens in files.items())
    assert f"most of it from {told}; the policy allows 1 tokens" in one.message
    assert [r.location.path for r in one.related][:2] == ["policies/house.md", "tests/fixtures/a.yaml"]


def test_a_fixture_that_asks_for_more_grew_by_itself() -> None:
    longer = FIXTURE.format(id="b", user="Can I pay later, and " + "who decides on that, and " * 5 + "when?")
    changes = {"tests/fixtures/b.yaml": longer}
    (one,) = found("token-growth", "{budget: {growth: {max_percent: 5}}}", changes)
    assert (one.location.path, one.location.pointer, one.fixture) == ("tests/fixtures/b.yaml", "/inputs/user", "b")


def test_a_bound_on_some_sections_names_their_files_only() -> None:
    gates = "{budget: {growth: {where: {section: style}, max_percent: 5}}}"
    changes = {"policies/house.md": LONGER, "policies/style.md": STYLE + "Use short words.\n"}
    (one,) = found("token-growth", gates, changes)
    assert one.location.path == "policies/style.md"
    assert list(one.data["files"]) == ["policies/style.md"]


def test_growth_in_bytes_is_told_in_bytes() -> None:
    (one,) = found("token-growth", "{budget: {growth: {max_bytes: 9}}}", {"policies/house.md": LONGER})
    assert one.location.path == "policies/house.md"
    grown = len(LONGER) - len(HOUSE)
    assert one.data["files"] == {"policies/house.md": grown} and f"(+{grown} bytes)" in one.message


def test_money_and_time_are_told_where_the_request_grew() -> None:
    for name, gates in (
        ("cost-growth", "{cost: {growth: {max_percent: 0}}}"),
        ("latency-growth", "{latency: {growth: {max_percent: 0}}}"),
    ):
        (one,) = found(name, gates, {"policies/house.md": LONGER})
        assert one.location.path == "policies/house.md", name
        assert "fixture 'a'" in one.message or "fixture 'b'" in one.message
        assert "most of it from policies/house.md (+" in one.message
        (one,) = found(name, gates, {"templates/t.yaml": TEMPLATE.replace("reserve: 800", "reserve: 1600")})
        assert one.location.path == "templates/t.yaml", name
        assert "most of it from" not in one.message


def test_what_came_in_its_place_is_not_growth() -> None:
    """A text that moved to another file brought what it has more, not all of it."""
    moved = TEMPLATE.replace("policies/house.md", "policies/rules.md")
    changes = {"templates/t.yaml": moved, "policies/rules.md": LONGER}
    (one,) = found("token-growth", "{budget: {growth: {max_percent: 5}}}", changes)
    assert one.data["files"] == {"policies/rules.md": one.data["delta"]}


def test_a_bound_of_a_fixture_that_is_raised_is_told_and_one_that_is_lowered_is_not() -> None:
    fixture = FIXTURE.format(id="a", user="When is it due?") + "expect: {max_input_tokens: %d}\n"
    for before, after, told in (
        (900, 2400, ["fixture 'a' expects at most 2,400 input tokens in place of 900"]), (900, 300, []),
    ):  # fmt: skip
        files = {"templates/t.yaml": TEMPLATE, "policies/house.md": HOUSE, "policies/style.md": STYLE}
        files |= {"tests/fixtures/a.yaml": fixture % after, "base/tests/fixtures/a.yaml": fixture % before}
        files["policies/p.yaml"] = "policy_id: p\nversion: 1\n"
        example = Example(files={path: text.encode() for path, text in files.items()}, links={})
        found = findings_of_change(example, rule("removed-expectation"))
        assert [f.message for f in found] == told
        assert [(f.location.path, f.location.span and f.location.span.line) for f in found] == (
            [("tests/fixtures/a.yaml", 4)] if told else []
        )
