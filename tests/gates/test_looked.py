"""A step says what it looked at, and one that looked at nothing has not passed."""

from __future__ import annotations

import pytest
from gate_world import GateWorld, fixture, red

from ctxc.base.errors import NothingMatched
from ctxc.model.report import GateResult


def only_policy(gates: str) -> str:
    return f"policy_id: production\nversion: 2.0.0\ngates: {gates}\n"


def looked(world: GateWorld, step: str, gates: str, **asked: object) -> GateResult:
    """What a step says of a policy that asks for nothing else; another step keeps the run from ending with 2."""
    world.change({"policies/production.yaml": only_policy(gates)})
    run = world.judge(only=(step, "policies"), **asked)
    return next(g for g in run.report.gates if g.id == step)


@pytest.mark.parametrize("step", ["budget", "cost", "latency"])
def test_growth_of_requests_that_the_base_does_not_have(world: GateWorld, step: str) -> None:
    for name in ("refund", "hours", "long"):
        world.change({f"tests/fixtures/{name}.yaml": None})
    world.change({"tests/fixtures/new.yaml": fixture("new", "store", "Another question.")})
    found = looked(world, step, f"{{{step}: {{growth: {{max_percent: 5}}}}}}")
    assert (found.status, found.checked) == ("not_checked", 0)
    assert found.message.endswith("growth is not judged: no request of the base can be compared with")
    assert "1 bound on growth over 0 requests" in found.message
    with pytest.raises(NothingMatched, match=rf"nothing was checked \({step}: 1 bound"):
        world.judge(only=(step,))


def test_growth_of_counts_that_cannot_be_compared(world: GateWorld) -> None:
    world.edit("templates/desk.yaml", "model: gpt-4o", "model: gpt-4")
    found = looked(world, "budget", "{budget: {growth: {max_percent: 5}}}")
    assert (found.status, found.checked) == ("not_checked", 0)


@pytest.mark.parametrize(
    ("step", "gates"),
    [
        ("forbidden", "{forbidden: [{id: F, where: {template: another}, forbid: {detect: [secret]}}]}"),
        ("prefix", "{prefix: {where: {template: another}}}"),
        ("prefix", "{prefix: {stable_over: ignore, against_base: ignore, append_only: ignore}}"),
        ("citations", "{citations: {must_exist: true}}"),
    ],
)
def test_a_step_that_is_asked_nothing_of_these_requests(world: GateWorld, step: str, gates: str) -> None:
    found = looked(world, step, gates)
    assert (found.status, found.checked) == ("not_checked", 0)


def test_pins_of_a_lock_that_is_not_there_are_not_judged_without_a_base(world: GateWorld) -> None:
    world.change({"policies/production.yaml": only_policy("{tools: {pins: known}}")})
    world.repo.commit("pins")
    run = world.judge(only=("tools", "policies"), against="")
    found = next(g for g in run.report.gates if g.id == "tools")
    assert (found.status, found.checked, found.message) == ("not_checked", 0, "1 tool; no tools.lock.json")


@pytest.mark.parametrize(
    ("step", "gates", "checked", "message"),
    [
        (
            "budget",
            "{budget: {ceilings: [{where: {fixture: hours}, max_bytes: 9000}], percentiles: {where: {fixture: long}, p50: 900}}}",
            2,
            "1 ceiling, 1 percentile over 2 requests",
        ),
        ("coverage", "{coverage: {kinds: [fragment], except: [task.refund]}}", 1, "1 of 1 object reached"),
        ("citations", "{citations: {require: [locator]}}", 3, "3 sources in 3 requests, 0 citations"),
        ("prefix", "{prefix: true}", 3, "1 prefix of 3 requests"),
    ],
)
def test_what_a_policy_does_not_speak_of_is_not_counted(
    world: GateWorld, step: str, gates: str, checked: int, message: str
) -> None:
    found = looked(world, step, gates)
    assert (found.status, found.checked, found.message) == ("passed", checked, message)


@pytest.mark.parametrize(
    ("gates", "name", "column"),
    [
        ("{budget: {ceilings: [{where: {template: desk}}]}}", "ceilings", 29),
        ("{budget: {growth: {}}}", "growth", 26),
        ("{cost: {ceilings: [{cache: warm}]}}", "ceilings", 27),
        ("{regression: {recall: {where: {template: desk}}}}", "recall", 30),
    ],
)
def test_a_bound_without_a_number_is_a_finding(world: GateWorld, gates: str, name: str, column: int) -> None:
    world.change({"policies/production.yaml": only_policy(gates)})
    run = world.judge()
    assert red(run) == ["policies"]
    (finding,) = [f for f in run.report.findings if f.severity.label == "error"]
    assert (finding.code, finding.message) == ("CTX916", f"this bound of `{name}` says no number: it bounds nothing")
    assert str(finding.location) == f"policies/production.yaml:3:{column}"


@pytest.mark.parametrize(
    "gates",
    [
        "{forbidden: [{id: F, search: [], forbid: {detect: [secret]}}]}",
        "{forbidden: [{id: F, forbid: {re2: []}}]}",
        "{forbidden: [{id: F, forbid: {keys: []}}]}",
        "{versions: {kinds: []}}",
        "{coverage: {kinds: []}}",
        "{budget: {ceilings: [{where: {template: []}, max_input_tokens: 3}]}}",
    ],
)
def test_a_list_that_names_nothing_is_no_parameter(world: GateWorld, gates: str) -> None:
    world.change({"policies/production.yaml": only_policy(gates)})
    run = world.judge(only=("schema",))
    (finding,) = run.report.findings
    assert (finding.code, finding.message) == ("CTX006", "expected at least 1 in this list, found 0")
