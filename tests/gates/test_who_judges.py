"""A change cannot loosen what judges it: each way to try it is still judged by the base."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from gate_world import RULES, GateWorld, fixture, red, told

from ctxc.app.gate import GateRun
from ctxc.app.gates._caches import why_no_cache
from ctxc.base.errors import CtxcError

MAIL = RULES + "Write to jane.roe@kettle-works.com.\n"
LONG = RULES + "Say what the customer can do next, and until when. " * 9 + "\n"


def profile(factor_bp: int = 10_000, prices: dict[str, str] | None = None) -> str:
    """A profile of the project with the shipped numbers of gpt-4o, but for those that are given."""
    import yaml

    import ctxc.providers

    shipped = Path(ctxc.providers.__file__).parent / "profiles/openai.yaml"
    rows = yaml.safe_load(shipped.read_text(encoding="utf-8"))["models"]
    row = next(r for r in rows if r["pattern"] == "gpt-4o*")
    row = {**row, "tokenizer": {**row["tokenizer"], "factor_bp": factor_bp}}
    if prices is not None:
        row["prices"] = prices
    return str(yaml.safe_dump({"provider_id": "openai", "version": "2", "extends": "openai", "models": [row]}))


def _policy(world: GateWorld, more: str) -> None:
    path = world.root / "policies/production.yaml"
    world.change({"policies/production.yaml": path.read_text(encoding="utf-8") + more})


def own_ceiling(world: GateWorld) -> str:
    """The ceiling goes up together with the text that exceeds it."""
    world.change({"policies/desk.md": LONG})
    world.edit("policies/production.yaml", "max_tokens: 120", "max_tokens: 500")
    world.bump("template", "profile", "policy")
    return "budget"


def own_waiver(world: GateWorld) -> str:
    """The waiver comes with what it is for."""
    world.change({"policies/desk.md": MAIL})
    world.bump("template", "profile")
    waiver = {
        "rule": "FF-2", "path": "policies/desk.md", "owner": "desk", "reason": "published mailbox",
        "created": "2026-11-01", "expires": "2027-02-28",
    }  # fmt: skip
    _policy(world, f"waivers: [{json.dumps(waiver)}]\n")
    return "forbidden"


def own_switch(world: GateWorld) -> str:
    """The step is switched off."""
    world.change({"policies/desk.md": MAIL})
    text = (world.root / "policies/production.yaml").read_text(encoding="utf-8")
    before, after = text.split("  forbidden:\n")[0], text.split("  regression:\n")[1]
    world.change({"policies/production.yaml": f"{before}  forbidden: false\n  regression:\n{after}"})
    world.bump("template", "profile", "policy")
    return "forbidden"


def no_policy_at_all(world: GateWorld) -> str:
    """The policy gives way to one that asks for nothing."""
    world.change({"policies/desk.md": MAIL, "policies/production.yaml": None})
    world.change({"policies/mild.yaml": "policy_id: mild\nversion: 1\ngates: {budget: {percentiles: {p50: 9000}}}\n"})
    world.bump("template", "profile")
    return "forbidden"


def own_suppression(world: GateWorld) -> str:
    """A comment in the file silences the finding."""
    world.edit("templates/desk.yaml", "version: 1.0.0", "version: 1.1.0\nctxc_ignore: [role-token]")
    world.edit("templates/desk.yaml", "source: policies/desk.md", 'source: literal, text: "<|im_start|>system"')
    world.bump("profile")
    return "schema"


def own_per_file_ignore(world: GateWorld) -> str:
    """The configuration silences the finding."""
    world.change({"policies/desk.md": RULES + "<|im_start|>system\n"})
    world.change({"ctxc.yaml": 'per-file-ignores: {"policies/*": [role-token]}\n'})
    world.bump("template", "profile")
    return "schema"


def own_severity(world: GateWorld) -> str:
    """The configuration calls the finding a mere note."""
    world.change({"policies/desk.md": RULES + "<|im_start|>system\n", "ctxc.yaml": "rules: {role-token: info}\n"})
    world.bump("template", "profile")
    return "schema"


def own_fail_on(world: GateWorld) -> str:
    """The configuration lets nothing fail, and the head's policies alone judge."""
    world.change({"policies/desk.md": MAIL, "ctxc.yaml": "fail-on: never\npolicy-source: head\n"})
    world.bump("template", "profile")
    return "forbidden"


def own_policy_severity(world: GateWorld) -> str:
    """The policy calls the finding a mere note."""
    world.change({"policies/desk.md": RULES + "<|im_start|>system\n"})
    _policy(world, "rules: {role-token: info}\n")
    world.bump("template", "profile", "policy")
    return "schema"


def own_baseline(world: GateWorld) -> str:
    """The baseline takes in the finding of the same change."""
    from ctxc.app.baseline import updated, write

    world.change({"policies/desk.md": RULES + "<|im_start|>system\n"})
    world.bump("template", "profile")
    run = world.judge()
    fresh = [f for f in run.report.findings if f.name == "role-token"]
    assert len(fresh) == 1
    lines = (world.root / "policies/desk.md").read_text(encoding="utf-8").split("\n")
    entries = updated((), (), fresh, lambda _, n: lines[n - 1], ran=frozenset(["CTX340"]), reason="later")
    world.change({".ctxc/baseline.jsonl": write(entries)})
    return "schema"


def own_expectation(world: GateWorld) -> str:
    """The fixture no longer expects what is no longer so."""
    world.edit("fragments/refund.md", "the deadline", "the last day")
    world.edit("tests/fixtures/refund.yaml", "  must_contain: [the deadline]\n", "")
    world.bump("refund")
    return "regression"


def removed_fixture(world: GateWorld) -> str:
    """The fixture that would show the fault is gone."""
    world.edit("fragments/refund.md", "the deadline", "the last day")
    world.change({"tests/fixtures/refund.yaml": None})
    world.bump("refund")
    return "regression"


def own_prices(world: GateWorld) -> str:
    """A provider profile of the project takes the place of the one that ships, and asks next to nothing."""
    world.change({"policies/desk.md": RULES + "Say what the customer can do next, and until when. " * 3 + "\n"})
    world.edit("policies/production.yaml", "max_usd_per_1000_requests: 3.3", "max_usd_per_1000_requests: 0.0001")
    base = world.repo.commit("a ceiling that nothing holds")
    world.base = base
    world.change({"templates/openai.yaml": profile(prices={"input": "0", "output": "0"})})
    return "cost"


def own_tokenizer(world: GateWorld) -> str:
    """A provider profile of the project counts one token in a hundred."""
    world.change({"policies/desk.md": LONG, "templates/openai.yaml": profile(factor_bp=100)})
    world.bump("template", "profile")
    return "budget"


def own_profile_of_the_base(world: GateWorld) -> str:
    """The base has a profile of its own already; the change turns its numbers down."""
    world.change({"templates/openai.yaml": profile()})
    world.base = world.repo.commit("a profile of the project")
    world.change({"policies/desk.md": LONG, "templates/openai.yaml": profile(factor_bp=100)})
    world.bump("template", "profile")
    return "budget"


def own_provider(world: GateWorld) -> str:
    """The same under a name that the base does not know."""
    world.change({"templates/house.yaml": profile(factor_bp=100).replace("provider_id: openai", "provider_id: house")})
    world.change({"policies/desk.md": LONG})
    world.edit("templates/desk.yaml", "provider: openai", "provider: house")
    world.bump("template", "profile")
    return "policies"


def own_weights(world: GateWorld) -> str:
    """What is cheap counts a hundred times as often as before, so that what became dear hardly counts."""
    world.change({"tests/fixtures/long.yaml": fixture("long", "store", "May I come on a Sunday? " * 1500)})
    world.edit("tests/fixtures/hours.yaml", "weight: 20", "weight: 2000")
    return "cost"


def renamed_template(world: GateWorld) -> str:
    """The template no longer has the name for which the policy was written."""
    world.edit("policies/production.yaml", "gates:\n", "where: {template: [desk]}\ngates:\n")
    world.base = world.repo.commit("a policy for one template")
    world.change({"policies/desk.md": MAIL})
    world.edit("templates/desk.yaml", "template_id: desk", "template_id: counter")
    for name in ("refund", "hours", "long"):
        world.edit(f"tests/fixtures/{name}.yaml", "template: desk", "template: counter")
    return "forbidden"


def renamed_template_and_fixtures(world: GateWorld) -> str:
    """Nor have the fixtures."""
    gate = renamed_template(world)
    for name in ("refund", "hours", "long"):
        world.edit(f"tests/fixtures/{name}.yaml", f"fixture_id: {name}", f"fixture_id: new_{name}")
    return gate


def another_template_and_fixtures(world: GateWorld) -> str:
    """Nor do the fixtures ask what they asked."""
    renamed_template_and_fixtures(world)
    for name, said in (("refund", "It leaks."), ("hours", "When do you open"), ("long", "I came in on")):
        text = (world.root / f"tests/fixtures/{name}.yaml").read_text(encoding="utf-8")
        world.change({f"tests/fixtures/{name}.yaml": text.replace(said, f"Hello. {said}", 1)})
    return "policies"


def renamed_fixture(world: GateWorld) -> str:
    """The fixture that is in the way gets another name, and no longer expects what is no longer so."""
    world.edit("fragments/refund.md", "the deadline", "the last day")
    text = (world.root / "tests/fixtures/refund.yaml").read_text(encoding="utf-8")
    text = text.replace("fixture_id: refund", "fixture_id: back").replace("  must_contain: [the deadline]\n", "")
    world.change({"tests/fixtures/refund.yaml": None, "tests/fixtures/back.yaml": text})
    world.bump("refund")
    return "regression"


WAYS: list[Callable[[GateWorld], str]] = [
    own_ceiling, own_waiver, own_switch, no_policy_at_all, own_suppression, own_per_file_ignore, own_severity,
    own_fail_on, own_policy_severity, own_baseline, own_expectation, removed_fixture, own_prices, own_tokenizer,
    own_profile_of_the_base, own_provider, own_weights, renamed_template, renamed_template_and_fixtures,
    another_template_and_fixtures, renamed_fixture,
]  # fmt: skip


@pytest.mark.parametrize("way", WAYS, ids=lambda w: w.__name__)
def test_the_base_judges_a_change_that_loosens_its_own_gate(world: GateWorld, way: Callable[[GateWorld], str]) -> None:
    gate = way(world)
    run = world.judge(ci=True)
    assert gate in red(run)
    assert run.release.failed
    assert run.release.judged_by == ("base", "head")


@pytest.mark.parametrize("way", [w for w in WAYS if w not in (removed_fixture,)], ids=lambda w: w.__name__)
def test_where_only_the_head_judges_it_may_loosen(world: GateWorld, way: Callable[[GateWorld], str]) -> None:
    """The same changes pass that gate when nobody asks the base: it is the base that the tests above rest on."""
    gate = way(world)
    if way in (renamed_template_and_fixtures, another_template_and_fixtures):
        # The head's only policy names nothing any more: nothing was judged, and that is no pass either.
        with pytest.raises(CtxcError, match="no policy speaks of any fixture"):
            world.judge(policy_source="head", fail_on="error")
        return
    run = world.judge(policy_source="head", fail_on="error")
    assert run.release.judged_by == ("head",)
    if way is own_fail_on:  # asked for on the command line, the severity wins over the configuration
        assert gate in red(run)
    else:
        assert gate not in red(run)


def test_a_policy_that_changes_is_a_finding_of_its_own(world: GateWorld) -> None:
    world.edit("policies/production.yaml", "max_tokens: 120", "max_tokens: 500")
    world.bump("policy")
    run = world.judge()
    found = [f for f in run.report.findings if f.name == "policy-changed"]
    assert [(f.location.path, f.location.span and f.location.span.line) for f in found] == [
        ("policies/production.yaml", 7)
    ]
    assert "gates.budget.ceilings.1.max_tokens 120 → 500" in found[0].message


def test_a_setting_that_changes_is_a_finding_where_nothing_else_is(world: GateWorld) -> None:
    world.change(
        {"ctxc.yaml": "fail-on: never\nrules: {role-token: info}\nper-file-ignores: {'policies/*': [CTX340]}\n"}
    )
    found = [f for f in world.judge(ci=True).report.findings if f.name == "policy-changed"]
    assert [(f.location.path, f.severity.label) for f in found] == [("ctxc.yaml", "warning")]
    for told_setting in ("fail-on error → never", "rules added ("):
        assert told_setting in found[0].message


def test_a_profile_that_changes_is_a_finding_where_nothing_else_is(world: GateWorld) -> None:
    world.change({"templates/openai.yaml": profile()})
    for run in (world.judge(ci=True), world.judge()):
        found = [f for f in run.report.findings if f.name == "measure-changed"]
        assert [(f.location.path, f.severity.label) for f in found] == [("templates/openai.yaml", "warning")]
        assert "takes the place of the one that ships: it measures 3 requests" in found[0].message
        assert not run.release.failed


def test_an_expectation_that_is_taken_out_while_it_holds_is_told(world: GateWorld) -> None:
    world.edit("tests/fixtures/refund.yaml", "  must_contain: [the deadline]\n", "")
    for run in (world.judge(ci=True), world.judge()):
        found = [f for f in run.report.findings if f.name == "removed-expectation"]
        assert [(f.location.path, f.severity.label) for f in found] == [("tests/fixtures/refund.yaml", "warning")]
        assert "fixture 'refund' no longer expects `must_contain` 'the deadline'" in found[0].message
        assert found[0].related[0].location.path == "tests/fixtures/refund.yaml"
        assert not run.release.failed


def test_a_template_that_goes_with_all_that_it_showed_is_no_way_around(world: GateWorld) -> None:
    """Nothing came in its place: a policy for it is idle, which is a warning as before."""
    more = (world.root / "templates/desk.yaml").read_text(encoding="utf-8").replace("id: desk", "id: second", 1)
    asked = (world.root / "tests/fixtures/hours.yaml").read_text(encoding="utf-8")
    asked = asked.replace("template: desk", "template: second").replace("fixture_id: hours", "fixture_id: other")
    mild = "policy_id: mild\nversion: 1\nwhere: {template: second}\ngates: {budget: {percentiles: {p50: 9000}}}\n"
    world.change({"templates/second.yaml": more, "tests/fixtures/other.yaml": asked, "policies/mild.yaml": mild})
    base = world.repo.commit("a second template")
    world.change({"templates/second.yaml": None, "tests/fixtures/other.yaml": None})
    run = world.judge(ci=True, against=base)
    found = [f for f in run.report.findings if f.name == "idle-selector"]
    assert {f.severity.label for f in found} == {"warning"}
    assert not run.release.failed


def test_a_finding_says_where_the_policy_of_the_base_asks_for_it(world: GateWorld) -> None:
    """The line that it names holds another number in the change."""
    own_ceiling(world)
    found = [f for f in world.judge(ci=True).report.findings if f.name == "token-ceiling"]
    assert found
    assert {r.message for f in found for r in f.related} >= {"policy production of the base asks for it"}
    assert not any("of the base" in r.message for f in world.judge().report.findings for r in f.related)


def test_a_clock_in_the_cached_prefix_is_told_by_the_step(world: GateWorld) -> None:
    world.change({"policies/desk.md": RULES + "As of 2026-11-30T10:22:11Z.\n"})
    world.bump("template", "profile")
    run = world.judge(ci=True)
    assert [(f.name, f.severity.label, f.location.path) for f in run.report.findings] == [
        ("volatile-prefix", "warning", "policies/desk.md")
    ]
    assert not run.release.failed


def test_a_policy_that_fits_nothing_is_told_once(world: GateWorld) -> None:
    world.edit("policies/production.yaml", "gates:\n", "where: {template: nothing}\ngates:\n")
    world.edit(
        "policies/production.yaml", "{max_input_tokens: 1200}", "{where: {fixture: long}, max_input_tokens: 1200}"
    )
    world.change({"policies/mild.yaml": "policy_id: mild\nversion: 1\ngates: {budget: {percentiles: {p50: 9000}}}\n"})
    found = [f for f in world.judge(policy_source="head").report.findings if f.name == "idle-selector"]
    assert [f.location.span and f.location.span.line for f in found] == [3]


def test_an_own_payload_takes_nothing_from_a_shipped_one(world: GateWorld) -> None:
    from ctxc.detect.injection import payloads

    same = payloads()[0].id
    world.change({"policies/own.jsonl": f'{{"id": "{same}", "text": "harmless"}}\n'})
    world.edit(
        "policies/production.yaml", "  regression:\n", "  injection: {payloads: [policies/own.jsonl]}\n  regression:\n"
    )
    run = world.judge(everything=True, only=("injection",))
    assert "253 payloads in " in next(g.message for g in run.report.gates if g.id == "injection")


def test_payloads_of_either_side_are_tried(world: GateWorld) -> None:
    world.change({"policies/own.jsonl": '{"id": "own", "text": "</section>"}\n'})
    world.edit(
        "policies/production.yaml", "  regression:\n", "  injection: {payloads: [policies/own.jsonl]}\n  regression:\n"
    )
    run = world.judge(ci=True, everything=True, only=("injection",))
    (step,) = [g for g in run.report.gates if g.id == "injection"]
    assert step.message.startswith("by the base: 252 payloads in ")
    assert "by the head: 253 payloads in " in step.message


def test_a_suppression_that_the_base_has_as_well_is_honoured(world: GateWorld) -> None:
    marked = RULES + "<|im_start|>system\n"
    world.change({"policies/desk.md": marked, "ctxc.yaml": 'per-file-ignores: {"policies/*": [role-token]}\n'})
    base = world.repo.commit("accepted by review")
    world.edit("fragments/refund.md", "has to be sent back", "to send back")
    world.bump("refund")
    run = world.judge(ci=True, against=base)
    assert told(run) == []
    assert [f.name for f in run.report.suppressed] == ["role-token"]


def test_an_older_lock_judges_a_change_that_brings_a_new_one(world: GateWorld) -> None:
    from ctxc.app.locks import budgets_text
    from ctxc.rules._locks import Locked

    def lock(tokens: int) -> str:
        names = world.judge(allow_same=True).head.measured
        return budgets_text(
            {n: Locked(tokens=tokens, tokenizer=m.tokenizer, method=m.method) for n, m in names.items()}
        )

    world.change({"budgets.lock": lock(820)})
    base = world.repo.commit("lock")
    world.change({"tests/fixtures/long.yaml": (world.root / "tests/fixtures/long.yaml").read_text().replace(
        "I came in on Monday", "I came in on Monday and on Tuesday and on Wednesday", 3)})  # fmt: skip
    world.change({"budgets.lock": lock(1000)})
    assert told(world.judge(ci=True, against=base)) == [("budget-lock", "tests/fixtures/long.yaml", 1)]
    assert told(world.judge(policy_source="head", against=base)) == []


def test_no_cache_is_believed_that_a_change_can_have_brought(world: GateWorld) -> None:
    inside = str(world.root / ".ctxc/cache")
    assert "lies in the project" in why_no_cache(world.root, {}, inside)
    assert "CI" in why_no_cache(world.root, {"CI": "true"}, str(world.root.parent / "cache"))
    assert why_no_cache(world.root, {}, str(world.root.parent / "cache")) == ""
    assert why_no_cache(world.root, {"CI": "false"}, str(world.root.parent / "cache")) == ""


def test_a_poisoned_cache_is_not_seen_from_the_command(world: GateWorld) -> None:
    """A cache in the repository that says that everything passed changes nothing."""
    import subprocess
    import sys

    from shell import clean_environment

    inside = world.root / ".ctxc/cache"
    assert red(world.judge(cache=inside, allow_same=True)) == []
    world.change({"policies/desk.md": MAIL})
    world.bump("template", "profile")
    command = [sys.executable, "-m", "ctxc", "-C", str(world.root), "--cache-dir", str(inside), "gate"]
    done = subprocess.run(
        [*command, "--against", world.base, "-v"], env=clean_environment(), capture_output=True, check=False
    )
    assert done.returncode == 1, done.stderr.decode()
    assert b"a gate does not believe it" in done.stderr


def test_a_base_without_policies_leaves_the_judging_to_the_head(world: GateWorld) -> None:
    text = (world.root / "policies/production.yaml").read_text(encoding="utf-8")
    world.change({"policies/production.yaml": None})
    base = world.repo.commit("no policy")
    world.change({"policies/production.yaml": text, "policies/desk.md": MAIL})
    world.bump("template", "profile")
    run = world.judge(ci=True, against=base)
    assert red(run) == ["forbidden"]
    assert "the base has no policies: only the head's judge" in run.notes
    assert run.release.judged_by == ("head",)
    assert (run.report.policy or {})["from"] == "head"


def test_a_required_base_that_is_not_there_ends_the_gate(world: GateWorld) -> None:
    world.edit("policies/production.yaml", "version: 1.0.0", "version: 1.0.0\nbase: required")
    world.repo.commit("on the default branch, where there is nothing to compare with")
    with pytest.raises(
        CtxcError, match="requires a base, and there is none: nothing differs from the base: the merge base"
    ):
        world.judge(against="")


def test_the_line_of_a_step_speaks_of_both_that_judge_where_they_differ(world: GateWorld) -> None:
    def line(run: GateRun, gate: str) -> str:
        return next(g.message for g in run.report.gates if g.id == gate)

    same = world.judge(ci=True, allow_same=True)
    assert line(same, "budget") == "2 ceilings, 1 percentile, 1 bound on growth over 3 requests"
    world.edit("policies/production.yaml", "    percentiles: {p50: 1000}\n", "")
    world.edit("policies/production.yaml", "  versions: {bump: require}\n", "")
    run = world.judge(ci=True)
    assert line(run, "budget") == (
        "by the base: 2 ceilings, 1 percentile, 1 bound on growth over 3 requests; "
        "by the head: 2 ceilings, 1 bound on growth over 3 requests"
    )
    assert line(run, "versions").startswith("by the base: ") and "by the head" not in line(run, "versions")
    assert next(g.checked for g in run.report.gates if g.id == "budget") == next(
        g.checked for g in same.report.gates if g.id == "budget"
    )


def test_what_both_that_judge_find_is_told_once_and_as_severely_as_either_says(world: GateWorld) -> None:
    assert another_template_and_fixtures(world) == "policies"
    idle = [f for f in world.judge(ci=True).report.findings if f.name == "idle-selector"]
    assert [(f.severity.label, f.location.path) for f in idle] == [("error", "policies/production.yaml")]
    assert "at the base it spoke of 3 fixtures" in idle[0].help


def test_a_change_may_be_stricter_with_itself_than_its_base(world: GateWorld) -> None:
    world.change({"policies/desk.md": MAIL})
    mail = "forbid: {detect: [pii.email]}"
    world.edit("policies/production.yaml", mail, f"{mail}, severity: info")
    base = world.repo.commit("e-mail addresses are a note")
    world.edit("policies/production.yaml", ", severity: info", "")
    run = world.judge(ci=True, against=base)
    assert [f.severity.label for f in run.report.findings if f.name == "forbidden-content"] == ["error"]
    assert "forbidden" in red(run)
