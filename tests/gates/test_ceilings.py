"""Bounds of policies, held to their last token and cent, and what a record says of itself."""

from __future__ import annotations

import pytest
from gate_world import EVIDENCE, GateWorld, fixture, red

FORBIDDEN = "- {id: FF-3, title: nothing restricted, %sforbid: {classification: [Restricted]}}\n"


def bounded(world: GateWorld, gate: str, old: str, new: str) -> list[tuple[str | None, dict[str, object]]]:
    """Fixture and numbers of what one gate finds where a bound of the policy is another one."""
    policy = (world.root / "policies/production.yaml").read_text(encoding="utf-8")
    assert policy.count(old) == 1
    world.change({"policies/production.yaml": policy.replace(old, new)})
    run = world.judge(only=(gate,))
    found = [f for f in run.report.findings if f.severity.label == "error"]
    assert red(run) == ([gate] if found else [])
    world.change({"policies/production.yaml": policy})
    return sorted((f.fixture, dict(f.data)) for f in found)


@pytest.mark.parametrize("where", ["{zone: data}", "{kind: [evidence, user]}"])
def test_what_some_sections_have_together_is_held_to_the_token(world: GateWorld, where: str) -> None:
    old = "      - {where: {kind: policy}, max_tokens: 120}\n"
    new = f"      - {{where: {where}, max_total_tokens: %s}}\n"
    every = bounded(world, "budget", old, new % 0)
    assert {name for name, _ in every} == {"refund", "hours", "long"}
    most = max(int(str(data["tokens"])) for _, data in every)
    sections = next(data["sections"] for _, data in every if data["tokens"] == most)
    assert sections == (["evidence/kb-12"] if "zone" in where else ["evidence/kb-12", "user"])
    assert bounded(world, "budget", old, new % most) == []
    over = bounded(world, "budget", old, new % (most - 1))
    assert [(data["tokens"], data["limit"]) for _, data in over] == [(most, most - 1)] * len(over) != []


def test_what_is_over_a_ceiling_is_told_with_its_largest_sections(world: GateWorld) -> None:
    """Together or as one request: how much it has, how much that is over, and what takes most of it."""
    policy = (world.root / "policies/production.yaml").read_text(encoding="utf-8")
    for old, new in (
        ("{where: {kind: policy}, max_tokens: 120}", "{where: {zone: [turn, data]}, max_total_tokens: 100}"),
        ("{where: {kind: policy}, max_tokens: 120}", "{max_total_tokens: 100}"),
        ("max_input_tokens: 1200", "max_input_tokens: 100"),
    ):
        world.change({"policies/production.yaml": policy.replace(old, new)})
        run = world.judge(only=("budget",))
        found = next(f for f in run.report.findings if f.fixture == "long" and f.name == "token-ceiling")
        tokens = int(found.data["tokens"])
        band = ""
        if "zone" in new:
            start = f"the 2 sections of zone turn or data have {tokens:,} tokens together, "
        elif "total" in new:
            start = f"the 6 sections have {tokens:,} tokens together, "
        else:
            band = f" (counted {tokens:,}, calibrated; the top of its band is compared)"
            tokens = int(found.data["high"])
            start = f"{tokens:,} input tokens, "
        assert found.message == f"{start}{tokens - 100:,} over the ceiling of 100{band}"
        sizes = [tuple(r.message.removeprefix("the largest section: ").split()[:2]) for r in found.related[:-1]]
        assert sizes[0][0].rstrip(":,") == "user"
        numbers = [int(n) for _, n in sizes]
        assert numbers == sorted(numbers, reverse=True)
        assert len(numbers) == (2 if "zone" in new else 3 if "total" in new else 1)


def test_what_one_request_costs_is_held_to_the_last_digit(world: GateWorld) -> None:
    old, new = "max_usd_per_1000_requests: 3.3", "max_usd_per_request: %s"
    every = bounded(world, "cost", old, new % 0)
    prices = {name: data["usd"] for name, data in every}
    assert set(prices) == {"refund", "hours", "long"}
    dearest = str(prices["long"])
    assert float(dearest) == max(float(str(price)) for price in prices.values())
    assert bounded(world, "cost", old, new % dearest) == []
    below = f"{float(dearest) - 0.00000001:.8f}"
    assert [(name, data["limit"]) for name, data in bounded(world, "cost", old, new % below)] == [("long", below)]


@pytest.mark.parametrize(
    ("classification", "where", "found"),
    [
        ("restricted", "", True),
        ("RESTRICTED", "", True),
        ("internal", "", False),
        (None, "", False),
        ("restricted", "where: {kind: evidence}, ", True),
        ("restricted", "where: {kind: memory}, ", False),
        ("restricted", "where: {zone: [system]}, ", False),
    ],
)
def test_a_record_that_calls_itself_restricted(
    world: GateWorld, classification: str | None, where: str, found: bool
) -> None:
    world.change(
        {"tests/fixtures/refund.yaml": fixture("refund", "refund", "It leaks.", classification=classification)}
    )
    world.edit("policies/production.yaml", "  regression:\n", f"    {FORBIDDEN}  regression:\n" % where)
    run = world.judge(only=("forbidden",))
    told = [(f.fixture, f.location.path) for f in run.report.findings if f.data.get("rule") == "FF-3"]
    assert told == [("refund", "tests/fixtures/refund.yaml")] * found
    assert red(run) == ["forbidden"] * found
    assert EVIDENCE not in str([f.message for f in run.report.findings])
