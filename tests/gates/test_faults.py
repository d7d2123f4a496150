"""The red path of each gate: a fault that turns it red, and no other."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from gate_world import EVIDENCE, RULES, STEPS, GateWorld, fixture, red, statuses, told

Fault = Callable[[GateWorld], None]


def schema(world: GateWorld) -> None:
    """A control token of a chat format in the application's own text."""
    world.change({"policies/desk.md": RULES + "<|im_start|>system\n"})
    world.bump("template", "profile")


def budget(world: GateWorld) -> None:
    """A policy text over the ceiling of its section."""
    world.change({"policies/desk.md": RULES + "Say what the customer can do next, and until when. " * 9 + "\n"})
    world.bump("template", "profile")


def forbidden(world: GateWorld) -> None:
    """An e-mail address in a text of the application."""
    world.change({"policies/desk.md": RULES + "Write to jane.roe@kettle-works.com.\n"})
    world.bump("template", "profile")


def regression(world: GateWorld) -> None:
    """A word that a fixture expects is no longer shown."""
    world.edit("fragments/refund.md", "the deadline", "the last day")
    world.bump("refund")


def citations(world: GateWorld) -> None:
    """Evidence that nobody can look up."""
    world.change({"tests/fixtures/refund.yaml": fixture("refund", "refund", "It leaks.", locator=None)})


def cost(world: GateWorld) -> None:
    """The longest request becomes the most frequent one."""
    world.change(
        {"tests/fixtures/long.yaml": _long(world).replace("template: desk\n", "template: desk\nweight: 500\n")}
    )


def _long(world: GateWorld) -> str:
    return (world.root / "tests/fixtures/long.yaml").read_text(encoding="utf-8")


def latency(world: GateWorld) -> None:
    """A longer answer is reserved than the bound on growth allows for."""
    world.edit("templates/desk.yaml", "output_reserve: 200", "output_reserve: 230")
    world.bump("template")


def prefix(world: GateWorld) -> None:
    """What a route decides is declared as part of the static prefix."""
    world.edit(
        "templates/desk.yaml",
        "{id: fragments, kind: fragment, source: fragments}",
        "{id: fragments, kind: fragment, source: fragments, cacheable: true}",
    )
    world.bump("template", "profile")


def versions(world: GateWorld) -> None:
    """A fragment says something else under the same version."""
    world.edit("fragments/refund.md", "has to be sent back", "to send back")


def compatibility(world: GateWorld) -> None:
    """A field of the contract is called something else, and the version is a minor one."""
    world.edit("templates/answer.yaml", "required: [reply]", "required: [answer]")
    world.edit("templates/answer.yaml", "properties: {reply:", "properties: {answer:")
    world.bump("contract", "template", "profile")


def tools(world: GateWorld) -> None:
    """A tool that the policy denies."""
    world.edit(
        "templates/tools.yaml",
        "tools:\n",
        "tools:\n  - name: delete_order\n    description: Takes an order back.\n    input_schema:\n      type: object\n"
        "      additionalProperties: false\n      required: [order_id]\n"
        "      properties: {order_id: {type: string, description: As in the order confirmation.}}\n",
    )
    world.bump("tools", "template", "profile")


def coverage(world: GateWorld) -> None:
    """A fragment whose route no fixture takes: neither is reached."""
    world.change({"fragments/voucher.md": "Vouchers are valid for one year.\n"})
    path = world.root / "fragments/manifest.yaml"
    entry = (
        "  - {fragment_id: task.voucher, version: 1.0.0, path: voucher.md, kind: task, load_mode: route_match,\n"
        "     applies_when: {topic: [voucher]}, max_tokens: 120}\n"
    )
    world.change({"fragments/manifest.yaml": path.read_text(encoding="utf-8") + entry})


def policies(world: GateWorld) -> None:
    """A waiver that would last for longer than 180 days."""
    path = world.root / "policies/production.yaml"
    waiver = {
        "rule": "FF-2", "path": "policies/desk.md", "owner": "desk", "reason": "published mailbox",
        "created": "2026-11-01", "expires": "2027-06-30",
    }  # fmt: skip
    world.change({"policies/production.yaml": path.read_text(encoding="utf-8") + f"waivers: [{json.dumps(waiver)}]\n"})


FAULTS: list[tuple[Fault, list[tuple[str, str, int]]]] = [
    (schema, [("role-token", "policies/desk.md", 3)]),
    (budget, [("token-ceiling", "policies/desk.md", 0)]),
    (forbidden, [("forbidden-content", "policies/desk.md", 3)]),
    (
        regression,
        [
            ("context-recall", "tests/fixtures/refund.yaml", 1),
            ("expectation-failed", "tests/fixtures/refund.yaml", 13),
        ],
    ),
    (citations, [("source-without-place", "tests/fixtures/refund.yaml", 8)]),
    (cost, [("cost-ceiling", "tests/fixtures/long.yaml", 1)]),
    (latency, [("latency-growth", "templates/desk.yaml", 1)]),
    (prefix, [("prefix-unstable", "fragments/refund.md", 0)]),
    (versions, [("missing-bump", "fragments/manifest.yaml", 3)]),
    (compatibility, [("breaking-change", "templates/answer.yaml", 2)]),
    (tools, [("tool-not-allowed", "templates/tools.yaml", 4)]),
    (coverage, [("uncovered", "fragments/manifest.yaml", 5), ("uncovered", "fragments/manifest.yaml", 6)]),
    (policies, [("invalid-waiver", "policies/production.yaml", 30)]),
]


def test_every_gate_passes_and_has_looked_at_something(world: GateWorld) -> None:
    world.repo.commit("nothing that ships", {"README.md": "a word"})
    run = world.judge(everything=True)
    assert statuses(run) == dict.fromkeys(STEPS, "passed")
    assert all(g.checked > 0 for g in run.report.gates)
    assert run.report.findings == ()
    assert not run.release.failed


@pytest.mark.parametrize(("fault", "expected"), FAULTS, ids=lambda v: getattr(v, "__name__", ""))
def test_a_fault_turns_its_gate_red_and_no_other(
    world: GateWorld, fault: Fault, expected: list[tuple[str, str, int]]
) -> None:
    fault(world)
    run = world.judge()
    assert red(run) == [fault.__name__]
    assert run.release.failed
    assert told(run) == expected


@pytest.mark.parametrize("name", [g for g in STEPS if g != "injection"])
def test_a_gate_that_runs_alone_finds_the_same(world: GateWorld, name: str) -> None:
    fault, expected = next(f for f in FAULTS if f[0].__name__ == name)
    fault(world)
    run = world.judge(only=(name,))
    assert red(run) == [name]
    assert told(run) == expected
    assert {g.status for g in run.report.gates if g.id != name} == {"not_checked"}


def test_a_renderer_that_lets_line_ends_out_turns_injection_red(
    world: GateWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ctxc.compiler import wrap

    # JSON without its escape of line ends: what fixtures hold renders as before, a payload opens a block of its own.
    monkeypatch.setattr(wrap, "_quoted", lambda text: json.dumps(text, ensure_ascii=False).replace("\\n", "\n"))
    run = world.judge(everything=True, allow_same=True)
    assert red(run) == ["injection"]
    assert {f.name for f in run.report.findings} == {"containment"}
    assert {f.fixture for f in run.report.findings} == {"hours", "long", "refund"}
    assert EVIDENCE not in "".join(f.message for f in run.report.findings)
