"""An exemption that comes ahead of the change that needs it is told in the change that adds it."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from gate_world import RULES, GateWorld, red

from ctxc.app.gate import GateRun
from ctxc.report import View
from ctxc.report.releases import render

MARKER = RULES + "<|im_start|>system\n"
WAIVER = {
    "rule": "role-token", "path": "policies/desk.md", "owner": "desk", "reason": "quoted on purpose",
    "created": "2026-11-01", "expires": "2027-02-28",
}  # fmt: skip


def told(run: GateRun) -> list[tuple[str, int, str, str]]:
    """Path, line, severity and message of what is told of added exemptions."""
    return [
        (f.location.path, f.location.span.line if f.location.span else 0, f.severity.label, f.message)
        for f in run.report.findings
        if f.name == "added-exemption"
    ]


def waive(world: GateWorld, *waivers: dict[str, str]) -> None:
    text = (world.root / "policies/production.yaml").read_text(encoding="utf-8").split("waivers:")[0]
    world.change({"policies/production.yaml": text + f"waivers: [{', '.join(map(json.dumps, waivers))}]\n"})


def waiver(world: GateWorld) -> tuple[str, str]:
    waive(world, WAIVER)
    return "policies/production.yaml", (
        "this waiver is new: role-token for policies/desk.md until 2027-02-28 (desk: quoted on purpose)"
    )


def front_matter(world: GateWorld) -> tuple[str, str]:
    head = "---\nctxc_ignore: [{rule: role-token, until: 2027-03-31, reason: quoted}]\n---\n"
    world.change({"policies/desk.md": head + RULES})
    return "policies/desk.md", "this suppression is new: role-token for the whole file until 2027-03-31 (quoted)"


def comment(world: GateWorld) -> tuple[str, str]:
    world.edit("templates/desk.yaml", "version: 1.0.0", "version: 1.0.0  # ctxc: ignore[role-token] reason: later")
    return "templates/desk.yaml", "this suppression is new: role-token for line 2 without an end (later)"


def configuration(world: GateWorld) -> tuple[str, str]:
    world.change({"ctxc.yaml": "per-file-ignores: {'policies/*': [role-token]}\n"})
    return "ctxc.yaml", "this suppression is new: role-token for policies/* without an end (per-file-ignores)"


def baseline(world: GateWorld) -> tuple[str, str]:
    """The entry is made from the finding of the change that will come."""
    from ctxc.app.baseline import updated, write

    world.change({"policies/desk.md": MARKER})
    world.bump("template", "profile")
    fresh = [f for f in world.judge().report.findings if f.name == "role-token"]
    lines = MARKER.split("\n")
    entries = updated((), (), fresh, lambda _, n: lines[n - 1], ran=frozenset(), reason="later")
    world.repo.git("checkout", "-q", "--", ".")
    world.change({".ctxc/baseline.jsonl": write(entries)})
    code = fresh[0].code
    return ".ctxc/baseline.jsonl", (
        f"the baseline accepts 1 finding more: {code} role-token for policies/desk.md without an end (later)"
    )


Way = Callable[[GateWorld], tuple[str, str]]
WAYS: list[Way] = [waiver, front_matter, comment, configuration, baseline]


@pytest.mark.parametrize("way", WAYS, ids=lambda w: w.__name__)
def test_an_exemption_is_told_in_the_change_that_adds_it(world: GateWorld, way: Way) -> None:
    path, message = way(world)
    run = world.judge(ci=way in (waiver, baseline))  # whoever judges
    assert [(p, s, m) for p, _, s, m in told(run)] == [(path, "warning", message)]
    assert "policy-changed" not in [f.name for f in run.report.findings]
    assert red(run) == []


@pytest.mark.parametrize("way", [w for w in WAYS if w is not comment], ids=lambda w: w.__name__)
def test_what_was_added_ahead_is_listed_as_used_by_the_change_that_needs_it(world: GateWorld, way: Way) -> None:
    way(world)
    base = world.repo.commit("an exemption, ahead")
    text = (world.root / "policies/desk.md").read_text(encoding="utf-8")
    world.change({"policies/desk.md": text.replace(RULES, MARKER)})
    world.bump("template", "profile")
    run = world.judge(ci=True, against=base)
    assert told(run) == [] and "schema" not in red(run)
    kinds = {"waiver": "waiver", "front_matter": "file", "configuration": "config", "baseline": "baseline"}
    used = [f.suppressed for f in run.report.suppressed if f.name == "role-token"]
    assert [s.kind for s in used if s is not None] == [kinds[way.__name__]]
    assert [w.state for w in run.release.waivers] == (["used"] if way is waiver else [])
    rows = render("markdown", run.release, View()).partition("What was waived")[2].split("\n\n")[1].split("\n")
    assert len(rows) == 3 and "role-token" in rows[2] and "used 1×" in rows[2]


def test_a_policy_of_the_base_may_forbid_exemptions_outside_of_one_file(world: GateWorld) -> None:
    world.edit("policies/production.yaml", "gates:\n", "rules: {added-exemption: error}\ngates:\n")
    place = "policies/exemptions.yaml"
    own = {**WAIVER, "rule": "added-exemption", "path": place}
    world.change({place: f"policy_id: exemptions\nversion: 1\nwaivers: [{json.dumps(own)}]\n"})
    base = world.repo.commit("exemptions stand in one file")
    longer = {**own, "created": "2026-11-29", "expires": "2027-05-20"}
    world.change({place: f"policy_id: exemptions\nversion: 1\nwaivers: {json.dumps([longer, WAIVER])}\n"})
    run = world.judge(ci=True, against=base)
    assert red(run) == [] and told(run) == []
    assert [f.name for f in run.report.suppressed] == ["added-exemption"] * 2
    waive(world, {**WAIVER, "path": "policies/other.md"})
    run = world.judge(ci=True, against=base)
    assert red(run) == ["policies"]
    assert [(p, s) for p, _, s, _ in told(run)] == [("policies/production.yaml", "error")]


def test_an_exemption_does_not_silence_that_it_is_told_where_the_base_judges(world: GateWorld) -> None:
    waive(world, {**WAIVER, "rule": "added-exemption", "path": "policies/production.yaml"})
    assert len(told(world.judge(ci=True))) == 1


def test_a_waiver_that_lasts_longer_is_told_and_one_that_ends_sooner_is_a_change_of_its_policy(
    world: GateWorld,
) -> None:
    waive(world, WAIVER)
    base = world.repo.commit("a waiver")
    waive(world, {**WAIVER, "expires": "2027-04-30"})
    run = world.judge(ci=True, against=base)
    longer = "this waiver of role-token for policies/desk.md lasts until 2027-04-30 in place of 2027-02-28"
    assert [m for _, _, _, m in told(run)] == [f"{longer} (desk: quoted on purpose)"]
    assert "policy-changed" not in [f.name for f in run.report.findings]
    waive(world, {**WAIVER, "expires": "2027-01-31"})
    run = world.judge(ci=True, against=base)
    assert told(run) == []
    assert [f.message for f in run.report.findings if f.name == "policy-changed"] == [
        "policy 'production' changed: waivers.role-token for policies/desk.md 2027-02-28 (desk) → 2027-01-31 (desk)"
    ]


def test_what_moves_with_its_file_or_its_policy_is_not_new(world: GateWorld) -> None:
    front_matter(world)
    waive(world, WAIVER)
    base = world.repo.commit("exemptions")
    text = (world.root / "policies/desk.md").read_text(encoding="utf-8")
    world.change({"policies/desk.md": None, "policies/counter.md": text})
    world.edit("templates/desk.yaml", "source: policies/desk.md", "source: policies/counter.md")
    policy = (world.root / "policies/production.yaml").read_text(encoding="utf-8")
    world.change({"policies/production.yaml": None, "policies/gates.yaml": policy})
    assert told(world.judge(ci=True, against=base)) == []
    world.change({"policies/counter.md": text.replace("until: 2027-03-31", "until: 2027-09-30")})
    run = world.judge(ci=True, against=base)
    assert [(p, line) for p, line, _, _ in told(run)] == [("policies/counter.md", 2)]
