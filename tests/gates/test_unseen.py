"""What a gate could not see has not passed, also where the gate that would say why was not asked."""

from __future__ import annotations

import pytest
from gate_world import LONG, GateWorld, fixture, red, statuses, told

OF_REQUESTS = ("budget", "forbidden", "injection", "regression", "citations", "cost", "latency", "prefix", "coverage")

BROKEN = "fixture_id: long\ntemplate: [\n"


@pytest.mark.parametrize("step", ["budget", "regression", "coverage"])
def test_a_fixture_that_cannot_be_loaded_fails_the_step_that_is_asked_alone(world: GateWorld, step: str) -> None:
    world.change({"tests/fixtures/long.yaml": BROKEN})
    run = world.judge(only=(step,))
    assert red(run) == [step]
    assert told(run) == [("syntax", "tests/fixtures/long.yaml", 3)]


def test_a_fixture_that_cannot_be_loaded_leaves_the_steps_unchecked(world: GateWorld) -> None:
    world.change({"tests/fixtures/long.yaml": BROKEN})
    run = world.judge()
    found = statuses(run)
    assert red(run) == ["schema"]
    assert {found[s] for s in OF_REQUESTS} == {"not_checked"}
    (budget,) = [g for g in run.report.gates if g.id == "budget"]
    assert budget.message.startswith("1 fixture has no request (long); ")


@pytest.mark.parametrize("step", ["cost", "budget"])
def test_a_request_that_is_refused_unexpectedly_fails_the_step_that_is_asked_alone(world: GateWorld, step: str) -> None:
    world.edit("templates/desk.yaml", "safety_margin: 5%", "safety_margin: 5%, ceiling: 700")
    assert red(world.judge(only=(step,))) == [step]
    run = world.judge(only=("cost", "regression", "coverage"))
    assert (red(run), statuses(run)["cost"], statuses(run)["coverage"]) == (
        ["regression"],
        "not_checked",
        "not_checked",
    )


def test_a_policy_that_names_what_could_not_be_loaded_or_compiled_is_not_told_that_it_is_not_there(
    world: GateWorld,
) -> None:
    world.edit("policies/production.yaml", "gates:\n", "where: {template: [desk]}\ngates:\n")
    world.change({"templates/desk.yaml": "template_id: desk\nversoin: 1\n"})
    found = {f.name for f in world.judge(policy_source="head").report.findings}
    assert "unknown-reference" in found and "idle-selector" not in found


def test_a_request_that_is_refused_as_expected_was_judged(world: GateWorld) -> None:
    world.edit("templates/desk.yaml", "safety_margin: 5%", "safety_margin: 5%, ceiling: 700")
    world.change(
        {
            "tests/fixtures/long.yaml": fixture("long", "store", LONG)
            .replace("outcome: compiled", "outcome: budget_exceeded")
            .replace("  max_input_tokens: 1200\n  required_evidence: [kb-12]\n", "")
        }
    )
    run = world.judge(only=("cost", "regression"), policy_source="head")
    assert statuses(run)["cost"] == "passed"


def test_steps_that_look_at_no_request_are_judged_without_it(world: GateWorld) -> None:
    world.change({"tests/fixtures/long.yaml": BROKEN})
    assert red(world.judge(only=("versions", "compatibility", "tools", "policies"))) == []


def test_what_a_fixture_reaches_that_does_not_compile_is_not_called_unreached(world: GateWorld) -> None:
    world.edit("fragments/refund.md", "has to be sent back", "has to be sent back, " + "and again " * 100)
    run = world.judge()
    assert ("schema" in red(run), statuses(run)["coverage"]) == (True, "not_checked")
    assert not [f for f in run.report.findings if f.name == "uncovered"]


@pytest.mark.parametrize("step", ["budget", "versions", "policies"])
def test_a_policy_that_cannot_be_loaded_fails_whatever_is_asked_alone(world: GateWorld, step: str) -> None:
    """What it asks was asked by nobody; another policy that is fine must not hide that."""
    world.change({"policies/strict.yaml": "policy_id: strict\nversion: 1\ngates: {budgets: {}}\n"})
    run = world.judge(only=(step,))
    assert (red(run), told(run)) == ([step], [("unknown-key", "policies/strict.yaml", 3)])


@pytest.mark.parametrize(
    ("path", "text", "other"),
    [
        ("policies/again.yaml", "policy_id: production\nversion: 1.0.0\ngates: {coverage: {kinds: [template]}}\n",
         "policies/production.yaml"),
        ("tests/fixtures/again.yaml", fixture("hours", "store", "Another question."), "tests/fixtures/hours.yaml"),
    ],
)  # fmt: skip
def test_what_has_the_id_of_another_was_not_judged(world: GateWorld, path: str, text: str, other: str) -> None:
    world.change({path: text})
    run = world.judge(only=("coverage",))
    assert (red(run), told(run)) == (["coverage"], [("duplicate-id", other, 1)])


def test_the_only_policy_that_cannot_be_loaded_is_told_where_it_is_wrong(world: GateWorld) -> None:
    world.change({"policies/production.yaml": "policy_id: production\nversion: 1\ngates: {budgets: {}}\n"})
    run = world.judge(only=("cost",))
    assert (red(run), told(run)) == (["cost"], [("unknown-key", "policies/production.yaml", 3)])
    (tools,) = [g for g in world.judge().report.gates if g.id == "tools"]
    assert (tools.status, tools.message) == ("not_configured", "no policy that could be loaded says anything")


def test_a_step_that_tells_of_broken_files_and_is_switched_off_hides_none(world: GateWorld) -> None:
    world.edit("policies/production.yaml", "gates:\n", "gates:\n  schema: false\n")
    world.bump("policy")
    world.change({"tests/fixtures/long.yaml": BROKEN})
    assert told(world.judge()) == [("syntax", "tests/fixtures/long.yaml", 3)]


@pytest.mark.parametrize(
    ("forbid", "message"),
    [
        ('re2: "(?=key)"', "FF-1: the pattern is not valid RE2: invalid perl operator: (?="),
        ("detect: [pii.emial]", "there is no detector 'pii.emial'; did you mean \"pii.email\"?"),
    ],
)
@pytest.mark.parametrize("only", [(), ("forbidden",)])
def test_a_rule_that_cannot_be_used_is_a_finding(
    world: GateWorld, forbid: str, message: str, only: tuple[str, ...]
) -> None:
    world.edit("policies/production.yaml", "forbid: {detect: [secret], keys: [password]}", f"forbid: {{{forbid}}}")
    world.bump("policy")
    run = world.judge(only=only)
    assert red(run) == [only[0] if only else "policies"]
    (finding,) = [f for f in run.report.findings if f.severity.label == "error"]
    assert (finding.code, finding.location.path, finding.message) == ("CTX916", "policies/production.yaml", message)


def test_a_rule_may_name_a_secret_of_the_projects_own(world: GateWorld) -> None:
    world.change(
        {
            "ctxc.yaml": "secret-rules: [policies/house.toml]\n",
            "policies/house.toml": (
                '[[rules]]\nid = "house-key"\ndescription = "A key of the house"\nregex = "HK-[0-9]{8}"\n'
                'keywords = ["hk-"]\n'
            ),
        }
    )
    world.edit("policies/production.yaml", "detect: [secret],", "detect: [secret.house-key],")
    world.edit("fragments/refund.md", "For a refund", "Use HK-48151623. For a refund")
    run = world.judge(only=("forbidden", "policies"))
    assert red(run) == ["forbidden"]
    assert [f.data["detector"] for f in run.report.findings if f.code == "CTX340"] == ["secret.house-key"]
