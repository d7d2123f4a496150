"""Which versioned objects a policy judges that speaks of some templates only."""

from __future__ import annotations

import pytest
from gate_world import TEMPLATE, GateWorld, fixture, red, told

SPEAKS = "policies/production.yaml"


def unbumped(world: GateWorld, where: str, *, gone: bool = False) -> list[tuple[str, str, int]]:
    """What the versions step tells of a fragment whose text changes and whose version does not.

    ``gone``: the only fixture that uses it is taken out in the same change.
    """
    world.edit(SPEAKS, "gates:\n", f"where: {where}\ngates:\n")
    lines = TEMPLATE.replace("template_id: desk", "template_id: other").splitlines(keepends=True)
    asked = fixture("other", "store", "Where are you?").replace("template: desk", "template: other")
    world.change(
        {"templates/other.yaml": "".join(x for x in lines if "fragments" not in x), "tests/fixtures/other.yaml": asked}
    )
    world.base = world.repo.commit("a policy of some templates")
    world.edit("fragments/refund.md", "what has to be sent back", "all that has to be sent back")
    if gone:
        world.change({"tests/fixtures/refund.yaml": None})
    run = world.judge(only=("versions",))
    assert red(run) == (["versions"] if told(run) else [])
    return [t for t in told(run) if t[0] == "missing-bump"]


@pytest.mark.parametrize("gone", [False, True])
@pytest.mark.parametrize(
    ("where", "judged"),
    [
        ("{template: [desk]}", True),
        ("{template: [other]}", False),
        ("{path: ['fragments/*']}", True),
        ("{path: ['templates/*']}", False),
    ],
)
def test_a_fragment_is_judged_by_the_policies_of_the_templates_that_load_it_on_either_side(
    world: GateWorld, where: str, judged: bool, gone: bool
) -> None:
    found = unbumped(world, where, gone=gone)
    assert [path for _, path, _ in found] == ["fragments/manifest.yaml"] * judged


def test_what_no_fixture_is_seen_to_use_is_judged_by_every_policy(world: GateWorld) -> None:
    world.edit("tests/fixtures/refund.yaml", "route: {topic: refund}", "route: {topic: store}")
    world.edit("tests/fixtures/refund.yaml", "  must_contain: [the deadline]\n", "")
    assert unbumped(world, "{template: [other]}")


@pytest.mark.parametrize(("model", "told_of"), [("gpt-4o", False), ("gpt-4.1", True)])
def test_how_bad_a_broken_promise_is_says_the_policy_of_its_model(world: GateWorld, model: str, told_of: bool) -> None:
    """The policy lets promises of one model be broken; of another model's nobody says so, which is an error."""
    asked = fixture("other", "store", "Where are you?").replace("template: desk", "template: other")
    other = TEMPLATE.replace("template_id: desk", "template_id: other").replace("gpt-4o", "gpt-4.1")
    world.change({"templates/other.yaml": other, "tests/fixtures/other.yaml": asked})
    world.edit(SPEAKS, "gates:\n", f"where: {{model: [{model}]}}\ngates:\n")
    world.edit(SPEAKS, "  regression:\n", "  regression:\n    base_expectations: off\n")
    world.base = world.repo.commit("a policy of one model")
    world.edit("fragments/refund.md", "the deadline", "the last day")
    world.edit("tests/fixtures/refund.yaml", "must_contain: [the deadline]", "must_contain: [the last day]")
    run = world.judge(only=("regression",), policy_source="base")
    assert ("base-expectation" in {name for name, _, _ in told(run)}) is told_of


def broken(world: GateWorld, *, kept: bool) -> list[str]:
    """What the regression step tells of the promises of fixtures, where one is broken: kept beside a change of others, or taken out."""
    world.base = world.repo.commit("the policies")
    world.edit("fragments/refund.md", "the deadline", "the last day")
    old = "must_contain: [the deadline]"
    world.edit("tests/fixtures/refund.yaml", old, f"{old}\n  not_loaded: [absent]" if kept else "not_loaded: [absent]")
    run = world.judge(only=("regression",), policy_source="base")
    return sorted(name for name, _, _ in told(run) if name.endswith("expectation") or name == "expectation-failed")


@pytest.mark.parametrize(("kept", "names"), [(True, ["expectation-failed"]), (False, ["base-expectation"])])
def test_a_promise_that_the_head_makes_as_well_is_told_once(world: GateWorld, kept: bool, names: list[str]) -> None:
    assert broken(world, kept=kept) == names


@pytest.mark.parametrize(
    ("levels", "names"),
    [
        (("warning", "off"), []),
        (("off", "off"), []),
        (("off", "error"), ["base-expectation"]),
        (("error", "warning"), ["base-expectation"]),
    ],
)
def test_the_strictest_of_two_policies_says_how_bad_it_is(
    world: GateWorld, levels: tuple[str, str], names: list[str]
) -> None:
    first, second = levels
    world.edit(SPEAKS, "  regression:\n", f"  regression:\n    base_expectations: {first}\n")
    more = f"policy_id: strict\nversion: 1\ngates: {{regression: {{base_expectations: {second}}}}}\n"
    world.change({"policies/strict.yaml": more})
    assert broken(world, kept=False) == names


@pytest.mark.parametrize(
    ("parameters", "severities"),
    [
        ("{bump: require}", ["error"]),
        ("{bump: suggest}", ["warning"]),
        ("true", ["error"]),
        ("{kinds: [template, fragment]}", ["error"]),
        ("{kinds: [template]}", []),
    ],
)
def test_of_which_objects_a_bump_is_asked_and_how_strictly(
    world: GateWorld, parameters: str, severities: list[str]
) -> None:
    world.edit(SPEAKS, "versions: {bump: require}", f"versions: {parameters}")
    world.base = world.repo.commit("what is asked of versions")
    world.edit("fragments/refund.md", "what has to be sent back", "all that has to be sent back")
    run = world.judge(only=("versions",))
    found = [f for f in run.report.findings if f.name == "missing-bump"]
    assert [f.severity.label for f in found] == severities
    assert [f.data["id"] for f in found] == ["task.refund"] * len(severities)
    assert red(run) == ["versions"] * severities.count("error")
