"""Results of evaluations that a policy requires: there, newer than the change, of what is judged, and good enough."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from gate_world import GateWorld, red

from ctxc.app.gate import GateRun
from ctxc.model.finding import Finding

JUNIT, PROMPTFOO = "eval/out.xml", "eval/out.json"


def required(world: GateWorld, path: str = JUNIT, more: str = "min_pass_rate: 0.9") -> GateWorld:
    """The policy asks for results; one commit before the change that is judged."""
    form = "junit" if path.endswith("xml") else "promptfoo"
    world.edit(
        "policies/production.yaml", "  regression:\n",
        f"  regression:\n    results: [{{path: {path}, format: {form}, {more}}}]\n",
    )  # fmt: skip
    world.base = world.repo.commit("require an evaluation")
    world.edit("fragments/refund.md", "has to be sent back", "to send back")
    world.bump("refund")
    world.repo.commit("the change")
    return world


def committed_at(world: GateWorld, revision: str = "HEAD") -> datetime:
    return datetime.fromtimestamp(int(world.repo.git("log", "-1", "--format=%ct", revision)), UTC)


def stamp(world: GateWorld, minutes: float) -> str:
    """A time so many minutes after the change was committed."""
    return (committed_at(world) + timedelta(minutes=minutes)).isoformat()


def junit(passed: int, failed: int = 0, *, at: str = "", bundle: str = "", skipped: int = 0, inner: str = "") -> str:
    cases = "<testcase name='a'/>" * passed + "<testcase name='b'><failure message='no'/></testcase>" * failed
    cases += "<testcase name='c'><skipped/></testcase>" * skipped + inner
    told = f"<properties><property name='ctxc.bundle' value='{bundle}'/></properties>" if bundle else ""
    time = f" timestamp='{at}'" if at else ""
    return f"<testsuites><testsuite name='eval'{time}>{told}{cases}</testsuite></testsuites>"


def promptfoo(passed: int, failed: int, *, at: str = "", bundle: str = "", errors: int = 0) -> str:
    results = {"stats": {"successes": passed, "failures": failed, "errors": errors}}
    value = {"results": {**results, **({"timestamp": at} if at else {})}}
    return json.dumps({**value, **({"metadata": {"ctxc_bundle": bundle}} if bundle else {})})


def findings(run: GateRun) -> list[Finding]:
    return [f for f in run.report.findings if f.name == "evaluation-results"]


def messages(run: GateRun) -> list[str]:
    return [f.message for f in findings(run)]


def judge(world: GateWorld, **asked: Any) -> GateRun:
    """The step alone: what it finds does not depend on the others."""
    return world.judge(only=("regression",), **asked)


# --- what passes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "text"), [(JUNIT, lambda at: junit(9, 1, at=at)), (PROMPTFOO, lambda at: promptfoo(9, 1, at=at))]
)
def test_results_newer_than_the_change_and_good_enough(world: GateWorld, path: str, text: object) -> None:
    """Written by a job into a clean checkout: the file itself belongs to no commit."""
    required(world, path)
    world.change({path: text(stamp(world, 5))})  # type: ignore[operator]
    run = world.judge()
    assert (messages(run), red(run)) == ([], [])


def test_results_that_name_the_bundle_need_no_time(world: GateWorld) -> None:
    required(world)
    world.edit("fragments/refund.md", "to send back", "goes back")  # not committed: nobody knows since when
    name = world.judge().release.bundle
    world.change({JUNIT: junit(10, bundle=name)})
    assert messages(world.judge()) == []
    world.change({PROMPTFOO: promptfoo(10, 0, bundle=name)})


def test_where_nothing_changed_old_results_are_still_true(world: GateWorld) -> None:
    required(world)
    world.change({JUNIT: junit(10, at=stamp(world, -10_000))})
    assert messages(world.judge(against="HEAD", allow_same=True)) == []


def test_a_push_to_the_default_branch_is_judged_by_results_of_its_own(world: GateWorld) -> None:
    """The base that nobody asked for is HEAD itself: nothing differs from it, and the change that was merged is in it."""
    required(world)
    world.change({JUNIT: junit(10, at=stamp(world, -10_000))})
    run = world.judge(against="")
    assert messages(run) == [f"{JUNIT}: they are older than the change"]
    world.change({JUNIT: junit(10, at=stamp(world, 5))})
    assert messages(world.judge(against="")) == []


def test_a_policy_may_take_old_results(world: GateWorld) -> None:
    required(world, more="min_pass_rate: 0.9, newer_than: ignore")
    world.change({JUNIT: junit(10)})
    assert messages(world.judge()) == []


# --- what fails -----------------------------------------------------------------------------------------------------


def test_a_file_that_is_not_there(world: GateWorld) -> None:
    required(world)
    run = world.judge()
    assert red(run) == ["regression"]
    (finding,) = findings(run)
    assert finding.message == f"{JUNIT}: the results that the policy requires are not there"
    assert [r.location.path for r in finding.related] == ["policies/production.yaml"]


def test_results_older_than_the_change(world: GateWorld) -> None:
    required(world)
    world.change({JUNIT: junit(10, at=stamp(world, -1))})
    run = judge(world)
    assert red(run) == ["regression"]
    assert messages(run) == [f"{JUNIT}: they are older than the change"]


def test_results_of_a_day_that_is_still_to_come(world: GateWorld) -> None:
    """A time that is always later than the change would make one file good for ever."""
    required(world)
    world.change({JUNIT: junit(10, at="2099-01-01T00:00:00+00:00")})
    assert messages(judge(world)) == [f"{JUNIT}: they are of 2099-01-01, which is still to come: today is 2026-11-30"]
    world.change({JUNIT: junit(10, at="2026-12-01T11:00:00+14:00")})  # a clock that is ahead of UTC
    assert messages(judge(world, now="2026-11-30")) == []


def test_a_time_without_a_zone_is_utc_and_the_oldest_of_several_counts(world: GateWorld) -> None:
    required(world)
    late, early = (stamp(world, m).removesuffix("+00:00") for m in (5, -5))
    text = junit(10, at=late)
    world.change({JUNIT: text})
    assert messages(judge(world)) == []
    world.change(
        {JUNIT: text.replace("</testsuites>", f"<testsuite timestamp='{early}'><testcase/></testsuite></testsuites>")}
    )
    assert messages(judge(world)) == [f"{JUNIT}: they are older than the change"]


def test_results_that_say_neither_when_nor_of_what(world: GateWorld) -> None:
    required(world)
    world.change({JUNIT: junit(10)})
    assert messages(judge(world)) == [f"{JUNIT}: they say neither when they were made nor of which bundle they are"]


def test_results_of_another_bundle(world: GateWorld) -> None:
    required(world)
    world.change({JUNIT: junit(10, at=stamp(world, 5), bundle="bnd_0000000000000000")})
    (message,) = messages(judge(world))
    assert "they are of bundle 'bnd_0000000000000000', not of this one" in message


def test_a_change_that_is_not_committed_has_no_time_to_be_newer_than(world: GateWorld) -> None:
    required(world)
    world.edit("fragments/refund.md", "to send back", "goes back")
    world.change({JUNIT: junit(10, at=stamp(world, 5))})
    assert messages(judge(world)) == [f"{JUNIT}: they name no bundle, and when the change was made is not known"]


def test_a_commit_is_judged_by_the_results_in_it_or_not_at_all(world: GateWorld) -> None:
    required(world)
    world.change({JUNIT: junit(10, at=stamp(world, 5))})
    assert messages(judge(world, head="HEAD")) == [f"{JUNIT}: the results that the policy requires are not there"]


@pytest.mark.parametrize(
    ("passed", "failed", "fails"), [(9, 1, False), (8, 1, True), (89, 10, True), (90, 10, False), (0, 5, True)]
)
def test_the_pass_rate_is_held_against_its_floor_exactly(
    world: GateWorld, passed: int, failed: int, fails: bool
) -> None:
    required(world)
    world.change({JUNIT: junit(passed, failed, at=stamp(world, 5))})
    found = messages(judge(world))
    assert bool(found) == fails
    assert not fails or "passed, 0.9 is required" in found[0]


def test_without_a_floor_every_test_has_to_pass(world: GateWorld) -> None:
    required(world, more="min_tests: 1")
    world.change({JUNIT: junit(999, 1, at=stamp(world, 5))})
    (message,) = messages(judge(world))
    assert "passed, 1 is required" in message
    assert "100" not in message.split(":")[1].split("passed")[0]


NOT_RUN = '<testsuite><testcase name="a" status="notrun"/><testcase name="b" result="suppressed"/></testsuite>'


@pytest.mark.parametrize("text", [junit(0), junit(0, skipped=50), "<testsuites/>", "<testsuite/>", NOT_RUN])
def test_no_test_is_no_proof(world: GateWorld, text: str) -> None:
    required(world, more="min_pass_rate: 0, newer_than: ignore")
    world.change({JUNIT: text})
    run = judge(world)
    assert red(run) == ["regression"]
    assert messages(run) == [f"{JUNIT}: 0 tests were run, 1 are required"]


def test_fewer_tests_than_asked_for(world: GateWorld) -> None:
    required(world, PROMPTFOO, more="min_tests: 20, newer_than: ignore")
    world.change({PROMPTFOO: promptfoo(19, 0)})
    assert messages(judge(world)) == [f"{PROMPTFOO}: 19 tests were run, 20 are required"]


def test_errors_of_an_evaluation_are_failures(world: GateWorld) -> None:
    required(world, PROMPTFOO, more="newer_than: ignore")
    world.change({PROMPTFOO: promptfoo(10, 0, errors=1)})
    assert "passed, 1 is required" in messages(judge(world))[0]


def test_a_suite_that_could_not_be_run_is_a_failure(world: GateWorld) -> None:
    """Its cases are missing; only its own numbers say that something went wrong."""
    required(world, more="newer_than: ignore")
    broken = "<testsuite name='other' tests='3' failures='0' errors='3'/>"
    world.change({JUNIT: junit(10).replace("</testsuites>", f"{broken}</testsuites>")})
    assert "passed, 1 is required" in messages(judge(world))[0]


HOSTILE = {
    "entity bomb": '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]><testsuites><testcase name="&b;"/></testsuites>',
    "external entity": '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><testsuites><testcase>&e;</testcase></testsuites>',
    "undefined entity": "<testsuites><testcase name='&evil;'/></testsuites>",
    "not closed": "<testsuites><testcase/>",
    "deep": "<testsuites>" * 50_000,
    "another root": "<html><testcase/></html>",
    "another namespace": "<testsuites xmlns='urn:x'><testcase/></testsuites>",
    "empty": "",
    "JSON": "{}",
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_xml_that_is_broken_or_hostile_is_red(world: GateWorld, name: str) -> None:
    required(world, more="min_pass_rate: 0, newer_than: ignore")
    world.change({JUNIT: HOSTILE[name]})
    run = judge(world)
    assert red(run) == ["regression"]
    (message,) = messages(run)
    assert message.startswith(f"{JUNIT}: it cannot be read as junit: ")
    assert "root:" not in message  # nothing of /etc/passwd


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "[" * 100_000, '{"results": {"stats": {"successes": "9", "failures": 0}}}', '{"results": []}',
        '{"results": {"stats": {"successes": 9, "failures": 9, "failures": 0}}}',
        '{"results": {"stats": {"successes": NaN, "failures": 0}}}', '{"results": {"stats": {"successes": 1}}}',
    ],
    ids=range(8),
)  # fmt: skip
def test_json_that_is_broken_or_hostile_is_red(world: GateWorld, text: str) -> None:
    required(world, PROMPTFOO, more="min_pass_rate: 0, newer_than: ignore")
    world.change({PROMPTFOO: text})
    run = judge(world)
    assert red(run) == ["regression"]
    (message,) = messages(run)
    assert message.startswith(f"{PROMPTFOO}: it cannot be read as promptfoo: ")


def test_a_file_that_is_too_large_is_red(world: GateWorld) -> None:
    required(world, more="newer_than: ignore")
    (world.root / "eval").mkdir()
    with (world.root / JUNIT).open("wb") as file:
        file.truncate((16 << 20) + 1)
    run = judge(world)
    assert red(run) == ["regression"]
    assert len(messages(run)) == 1


def test_a_link_out_of_the_project_is_red(world: GateWorld, tmp_path: Path) -> None:
    required(world, more="newer_than: ignore")
    outside = tmp_path / "outside.xml"
    outside.write_text(junit(10))
    (world.root / "eval").mkdir()
    (world.root / JUNIT).symlink_to(outside)
    run = judge(world)
    assert "regression" in red(run)


def test_what_a_hostile_file_says_stays_words(world: GateWorld) -> None:
    required(world, more="newer_than: ignore")
    world.change({JUNIT: "<\u202eevil><testcase/></\u202eevil>"})
    (message,) = messages(judge(world))
    assert "cannot be read as junit" in message


def test_a_change_cannot_do_without_the_results_that_the_base_requires(world: GateWorld) -> None:
    required(world)
    text = (world.root / "policies/production.yaml").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines(keepends=True) if "results:" not in line]
    world.change({"policies/production.yaml": "".join(lines)})
    world.bump("policy")
    run = judge(world, ci=True)
    assert "regression" in red(run)
    assert messages(run) == [f"{JUNIT}: the results that the policy requires are not there"]


def test_a_kept_result_is_not_believed_when_the_file_is_another(world: GateWorld, tmp_path: Path) -> None:
    required(world)
    world.change({JUNIT: junit(10, at=stamp(world, 5))})
    cache = tmp_path / "cache"
    for _ in range(2):
        assert messages(judge(world, cache=cache)) == []
    world.change({JUNIT: junit(1, 9, at=stamp(world, 5))})
    assert "passed, 0.9 is required" in messages(judge(world, cache=cache))[0]
    (world.root / JUNIT).unlink()
    assert messages(judge(world, cache=cache)) == [f"{JUNIT}: the results that the policy requires are not there"]
    world.change({JUNIT: junit(10, at=stamp(world, 5))})
    assert messages(judge(world, cache=cache)) == []
    world.repo.git(
        "commit",
        "-q",
        "--amend",
        "--no-edit",
        "--date=2027-01-01T00:00:00Z",
        env={"GIT_COMMITTER_DATE": "2027-01-01T00:00:00Z"},
    )
    assert messages(judge(world, cache=cache)) == [f"{JUNIT}: they are older than the change"]
