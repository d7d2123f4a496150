"""Parameters of policies that decide how much a step asks for."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from gate_world import GateWorld, red, statuses, told


def broken_promise(world: GateWorld, base_expectations: str) -> GateWorld:
    """The base says how bad a broken promise is; the change breaks one and takes it out of the fixture."""
    if base_expectations:
        world.edit(
            "policies/production.yaml",
            "  regression:\n",
            f"  regression:\n    base_expectations: {base_expectations}\n",
        )
    world.base = world.repo.commit("policy")
    world.edit("fragments/refund.md", "the deadline", "the last day")
    world.edit("tests/fixtures/refund.yaml", "must_contain: [the deadline]", "must_contain: [the last day]")
    world.bump("refund")
    return world


@pytest.mark.parametrize(
    ("word", "severities"), [("", ["error"]), ("error", ["error"]), ("warning", ["warning"]), ("off", [])]
)
def test_how_bad_a_broken_promise_is(world: GateWorld, word: str, severities: list[str]) -> None:
    run = broken_promise(world, word).judge(ci=True)
    found = [f.severity.label for f in run.report.findings if f.name == "base-expectation"]
    assert found == severities
    assert red(run) == (["regression"] if "error" in severities else [])


def test_a_change_cannot_say_how_bad_its_own_broken_promise_is(world: GateWorld) -> None:
    broken_promise(world, "")
    world.edit("policies/production.yaml", "  regression:\n", "  regression:\n    base_expectations: off\n")
    world.bump("policy")
    run = world.judge(ci=True)
    assert ("base-expectation", "tests/fixtures/refund.yaml", 1) in told(run)


@pytest.mark.parametrize(("level", "failed"), [("error", []), ("warning", ["schema"])])
def test_the_severity_from_which_a_finding_of_lint_fails_the_step(
    world: GateWorld, level: str, failed: list[str]
) -> None:
    world.edit("policies/production.yaml", "gates:\n", f"gates:\n  schema: {{level: {level}}}\n")
    world.bump("policy")
    run = world.judge(only=("schema",))
    assert red(run) == failed
    mild = [f.name for f in run.report.findings if f.name in ("missing-refusal", "missing-citations")]
    assert sorted(mild) == (["missing-citations", "missing-refusal"] if failed else [])
    (schema,) = [g for g in run.report.gates if g.id == "schema"]
    assert "below the gate's severity" not in schema.message


@pytest.mark.parametrize("fail_on", ["error", "never"])
def test_what_fails_no_run_is_not_called_passed(world: GateWorld, fail_on: str) -> None:
    world.edit("policies/production.yaml", "max_input_tokens: 1200", "max_input_tokens: 300")
    run = world.judge(only=("budget",), fail_on=fail_on)
    assert red(run) == ["budget"]
    assert run.release.failed
    assert run.report.reaches(run.report.fail_on) == (fail_on == "error")


@pytest.mark.parametrize(
    ("parameters", "failed"),
    [
        ("true", ["citations"]),
        ("{require: [locator]}", ["citations"]),
        ("{must_exist: false, require: [locator]}", []),
        ("{}", []),
    ],
)
def test_a_citation_of_nothing(world: GateWorld, parameters: str, failed: list[str]) -> None:
    policy = (world.root / "policies/production.yaml").read_text(encoding="utf-8")
    line = next(one for one in policy.splitlines() if "citations:" in one)
    changes: Mapping[str, str] = {"policies/production.yaml": policy.replace(line, f"  citations: {parameters}")}
    world.change(changes)
    world.edit(
        "templates/answer.yaml", "properties: {reply: {type: string, description: At most five sentences.}}",
        "properties:\n    reply: {type: string, description: At most five sentences.}\n"
        "    sources: {type: array, description: Ids., items: {type: string, enum: [kb-99]}}",
    )  # fmt: skip
    world.edit("templates/answer.yaml", "version: 1.0.0\n", "version: 1.1.0\ncitations: {field: sources}\n")
    world.base = world.repo.commit("all of it")
    run = world.judge(allow_same=True)
    assert red(run) == failed
    assert statuses(run)["citations"] == ("failed" if failed else "not_configured" if parameters == "{}" else "passed")
