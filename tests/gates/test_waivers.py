"""Waivers: what they have to say, how long they last, and what is told of each."""

from __future__ import annotations

import json
from typing import Any

import pytest
from gate_world import RULES, GateWorld, red, told

from ctxc.app.gate import GateRun

WAIVER = {
    "rule": "FF-2",
    "path": "policies/desk.md",
    "owner": "desk",
    "reason": "published mailbox",
    "created": "2026-11-01",
    "expires": "2027-02-28",
}


def judged(world: GateWorld, waiver: dict[str, Any], *, now: str = "2026-11-30", mail: bool = True) -> GateRun:
    """The run over a text that the waiver may be about."""
    path = world.root / "policies/production.yaml"
    text = path.read_text(encoding="utf-8") + f"waivers: [{json.dumps(waiver)}]\n"
    if mail:
        world.change({"policies/desk.md": RULES + "Write to jane.roe@kettle-works.com.\n"})
        world.bump("template", "profile")
    world.change({"policies/production.yaml": text})
    return world.judge(now=now)


def names(run: GateRun) -> list[str]:
    """Names of the findings that count, without the one that tells that the waiver is new."""
    return [f.name for f in run.report.findings if f.name != "added-exemption"]


def test_a_waiver_silences_what_it_names_until_it_ends(world: GateWorld) -> None:
    run = judged(world, WAIVER)
    assert red(run) == []
    silenced = [f for f in run.report.suppressed if f.name == "forbidden-content"]
    assert [f.suppressed and (f.suppressed.kind, f.suppressed.until) for f in silenced] == [("waiver", "2027-02-28")]
    assert [(w.state, w.count, w.expires, w.owner) for w in run.release.waivers] == [("used", 1, "2027-02-28", "desk")]


def test_the_last_day_still_counts_and_the_next_does_not(world: GateWorld) -> None:
    run = judged(world, WAIVER, now="2027-02-28")
    assert red(run) == []
    ended = world.judge(now="2027-03-01")
    assert red(ended) == ["forbidden", "policies"]
    assert [w.state for w in ended.release.waivers] == ["expired"]
    assert {n for n, _, _ in told(ended)} == {"forbidden-content", "expired-waiver"}


def test_a_waiver_that_ends_soon_is_told_before_it_does(world: GateWorld) -> None:
    run = judged(world, WAIVER, now="2027-02-20")
    assert red(run) == []
    assert names(run) == ["waiver-ends-soon"]
    assert "ends today, on 2027-02-28" in next(
        f.message for f in world.judge(now="2027-02-28").report.findings if f.name == names(run)[0]
    )
    assert "ends in 8 days, on 2027-02-28" in next(f.message for f in run.report.findings if f.name == names(run)[0])


def test_a_waiver_that_silences_nothing_is_told(world: GateWorld) -> None:
    run = judged(world, WAIVER, mail=False)
    assert red(run) == []
    assert names(run) == ["unused-waiver"]
    assert [(w.state, w.count) for w in run.release.waivers] == [("unused", 0)]


def test_a_waiver_of_the_base_is_told_where_it_stands_in_the_head(world: GateWorld) -> None:
    path = world.root / "policies/production.yaml"
    plain = path.read_text(encoding="utf-8")
    base = world.repo.commit("waiver", {"policies/production.yaml": f"{plain}waivers: [{json.dumps(WAIVER)}]\n"})
    line = plain.count("\n") + 1

    def places() -> list[tuple[int, str]]:
        found = world.judge(against=base, policy_source="base", allow_same=True).report.findings
        return [
            (f.location.span.line if f.location.span else 0, f.revision) for f in found if f.name == "unused-waiver"
        ]

    assert places() == [(line, "")]
    world.edit("policies/production.yaml", "policy_id:", "# Moved down.\n\npolicy_id:")
    assert places() == [(line + 2, "")]
    world.change({"policies/production.yaml": plain})
    assert places() == [(0, "the base")]


def test_a_gate_that_did_not_run_leaves_a_waiver_unjudged(world: GateWorld) -> None:
    judged(world, WAIVER)
    run = world.judge(only=("budget",))
    assert names(run) == []
    assert [w.state for w in run.release.waivers] == ["not_judged"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"expires": "2027-06-30"}, "241 days"),
        ({"path": "policies/*"}, "name one"),
        ({"path": "*"}, "name one"),
        ({"created": "2027-01-01", "expires": "2027-02-01"}, "still to come"),
        ({"rule": "FF-9"}, "FF-9"),
    ],
    ids=["too long", "a glob over a folder", "everywhere", "from the future", "a rule that is none"],
)
def test_a_waiver_that_is_not_valid_silences_nothing(world: GateWorld, change: dict[str, Any], why: str) -> None:
    waiver = {k: v for k, v in {**WAIVER, **change}.items() if v is not None}
    run = judged(world, waiver)
    assert "forbidden" in red(run)
    assert "policies" in red(run) or "schema" in red(run)
    about = [f for f in run.report.findings if f.location.path == "policies/production.yaml"]
    assert any(why in f"{f.message} {f.help}" for f in about), [f.message for f in about]


@pytest.mark.parametrize("missing", ["rule", "path", "owner", "reason", "created", "expires"])
def test_every_field_of_a_waiver_is_mandatory(world: GateWorld, missing: str) -> None:
    run = judged(world, {k: v for k, v in WAIVER.items() if k != missing})
    assert run.release.failed
    assert any(missing in f.message for f in run.report.findings if f.location.path == "policies/production.yaml")


def test_a_fingerprint_names_one_finding(world: GateWorld) -> None:
    world.change({"policies/desk.md": RULES + "Write to jane.roe@kettle-works.com.\n"})
    world.bump("template", "profile")
    found = next(f for f in world.judge().report.findings if f.name == "forbidden-content")
    waiver = {**{k: v for k, v in WAIVER.items() if k != "path"}, "fingerprint": found.fingerprint}
    assert red(judged(world, waiver, mail=False)) == []
    world.change({"policies/desk.md": RULES + "Write to john.doe@kettle-works.com.\n"})
    assert red(world.judge()) == ["forbidden"]


def test_what_is_forbidden_is_never_printed(world: GateWorld) -> None:
    """A finding says rule, place, length, first four characters and a keyed digest; in no format more of the value."""
    from ctxc.report import View
    from ctxc.report.releases import format_ids, render

    secret = "ghp_" + "Ab3De6Gh9Jk2Lm5Np8Qr1St4Uv7Wx0Yz4Bc6"
    world.change({"policies/desk.md": RULES + f"The token is {secret}.\nWrite to jane.roe@kettle-works.com.\n"})
    world.bump("template", "profile")
    run = world.judge()
    assert "forbidden" in red(run)
    for name in format_ids():
        text = render(name, run.release, View(source=run.sources()))
        assert secret not in text and secret[5:30] not in text, name
        assert "jane.roe@kettle-works.com" not in text, name
    data = next(f.data for f in run.report.findings if f.name == "forbidden-content" and "ghp_" in f.message)
    assert data["length"] == len(secret)
    assert data["prefix"] == "ghp_"
    assert len(str(data["digest"])) >= 12
