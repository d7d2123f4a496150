"""Where nothing can be judged nothing passes: each of these ends the command with status 2."""

from __future__ import annotations

from pathlib import Path

import pytest
from gate_world import NOW, GateWorld, files, statuses

from ctxc.app.gate import GateRequest, gate_workspace
from ctxc.app.workspace import open_workspace
from ctxc.base.errors import (
    CtxcError,
    MissingTokenizer,
    NothingMatched,
    RevisionError,
    UnreadableSource,
    UsageError,
)


def test_no_fixtures(world: GateWorld) -> None:
    world.change({f"tests/fixtures/{n}.yaml": None for n in ("refund", "hours", "long")})
    with pytest.raises(NothingMatched, match="no fixtures"):
        world.judge()


def test_no_policies(world: GateWorld) -> None:
    world.change({"policies/production.yaml": None})
    with pytest.raises(NothingMatched, match="no policies"):
        world.judge()


def test_a_policy_that_the_configuration_names_and_nobody_wrote(world: GateWorld) -> None:
    world.change({"ctxc.yaml": "policy: prodution\n"})
    with pytest.raises(NothingMatched, match="there is no policy 'prodution'") as caught:
        world.judge()
    assert caught.value.help == "did you mean production? known: production"


def test_policies_that_speak_of_no_fixture(world: GateWorld) -> None:
    world.edit("policies/production.yaml", "gates:\n", "where: {template: another}\ngates:\n")
    world.bump("policy")
    with pytest.raises(NothingMatched, match="no policy speaks of any fixture") as caught:
        world.judge(policy_source="head")
    assert str(caught.value.location) == "policies/production.yaml:3:8"


def test_a_step_that_found_no_request_to_judge_has_not_passed(world: GateWorld) -> None:
    """What a policy bounds is refused as expected: there is nothing to price."""
    world.edit(
        "policies/production.yaml",
        "{max_usd_per_1000_requests: 3.3}",
        "{where: {fixture: refused}, max_usd_per_1000_requests: 3}",
    )
    world.edit("policies/production.yaml", "    growth: {max_percent: 25}\n", "")
    text = (world.root / "tests/fixtures/hours.yaml").read_text(encoding="utf-8")
    text = text.replace("fixture_id: hours", "fixture_id: refused").split("expect:")[0]
    user = "Where is it? " * 200_000
    text = text.replace("When do you open on Saturdays?", user) + "expect: {outcome: budget_exceeded}\n"
    world.change({"tests/fixtures/refused.yaml": text})
    run = world.judge(policy_source="head", only=("cost", "budget"))
    (cost,) = [g for g in run.report.gates if g.id == "cost"]
    assert (cost.status, cost.checked) == ("not_checked", 0)
    assert "over 0 requests" in cost.message


def test_a_policy_that_asks_for_nothing_that_was_asked_for(world: GateWorld) -> None:
    world.change({"policies/production.yaml": "policy_id: p\nversion: 1\ngates: {budget: {percentiles: {p50: 900}}}\n"})
    with pytest.raises(NothingMatched, match=r"nothing was checked \(cost: no policy says anything\)"):
        world.judge(only=("cost",))


def test_a_gate_that_does_not_exist(world: GateWorld) -> None:
    with pytest.raises(UsageError) as raised:
        world.judge(only=("budgets",))
    assert "budget" in (raised.value.help or "")


def test_an_unreadable_file(world: GateWorld) -> None:
    world.repo.write("policies/desk.md", b"You work at \xff\xfe the desk.\n")
    run_or_refuse(world)


def run_or_refuse(world: GateWorld) -> None:
    """A file that is no text is told as a finding that fails, or refused; it never passes."""
    try:
        run = world.judge()
    except CtxcError:
        return
    assert run.release.failed
    assert statuses(run)["schema"] == "failed"


def test_a_file_that_cannot_be_read(world: GateWorld) -> None:
    place = world.root / "policies/desk.md"
    place.unlink()
    place.symlink_to("/etc/hostname")
    with pytest.raises(UnreadableSource) as raised:
        world.judge()
    assert "cannot be judged" in raised.value.message


def test_a_vocabulary_that_is_missing(world: GateWorld, tmp_path: Path) -> None:
    world.change({"ctxc.yaml": "tokenizers: {gpt-4o: {file: vocabulary/none.json}}\n"})
    with pytest.raises((MissingTokenizer, CtxcError)):
        world.judge()


def test_a_base_that_does_not_exist(world: GateWorld) -> None:
    with pytest.raises(RevisionError, match="no-such-branch"):
        world.judge(against="no-such-branch")


def test_a_base_that_is_the_head_itself(world: GateWorld) -> None:
    with pytest.raises(RevisionError, match="is the head itself"):
        world.judge()
    assert statuses(world.judge(allow_same=True))["versions"] == "passed"


def test_a_bundle_that_is_none(world: GateWorld, tmp_path: Path) -> None:
    place = tmp_path / "other.json"
    place.write_text('{"schema": "ctxc.snapshot/1"}')
    with pytest.raises(UnreadableSource, match="is no release bundle"):
        world.judge(against=f"snapshot:{place}")
    with pytest.raises(UnreadableSource, match="cannot be read"):
        world.judge(against=f"snapshot:{tmp_path / 'none.json'}")


def test_a_shallow_clone_says_what_is_missing(world: GateWorld, tmp_path: Path) -> None:
    world.change({"README.md": "a word"})
    world.repo.commit("second")
    clone = tmp_path / "clone"
    world.repo.git("clone", "-q", "--depth", "1", f"file://{world.root}", str(clone))
    workspace = open_workspace(clone, flags={}, environment=world.repo.environ, no_cache=True)
    with pytest.raises(RevisionError) as raised:
        gate_workspace(workspace, GateRequest(against=world.base), now=NOW)
    assert "shallow" in f"{raised.value.message} {raised.value.help}"


def test_a_push_of_a_branch_in_a_shallow_clone_says_what_to_fetch(world: GateWorld, tmp_path: Path) -> None:
    """Nobody asked for a base: what cannot be compared is told, and how it could be."""
    world.repo.git("checkout", "-q", "-b", "feature")
    world.edit("fragments/refund.md", "has to be sent back", "to send back")
    world.repo.commit("one")
    world.change({"README.md": "a word"})
    world.repo.commit("two")
    clone = tmp_path / "clone"
    world.repo.git("clone", "-q", "--depth", "1", "--no-single-branch", f"file://{world.root}", str(clone))
    environment = {**world.repo.environ, "CI_DEFAULT_BRANCH": "main"}
    workspace = open_workspace(clone, flags={}, environment=environment, no_cache=True)
    run = gate_workspace(workspace, GateRequest(only=("versions", "coverage")), now=NOW)
    (versions,) = [g for g in run.report.gates if g.id == "versions"]
    assert versions.status == "not_applicable"
    assert versions.message.startswith(
        "the history that HEAD shares with origin/main is not in this shallow clone: fetch"
    )
    assert "`fetch-depth: 0`" in versions.message


def test_without_git_there_is_no_change_to_judge(tmp_path: Path) -> None:
    for path, text in files().items():
        place = tmp_path / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    workspace = open_workspace(tmp_path, flags={}, environment={}, no_cache=True)
    run = gate_workspace(workspace, GateRequest(), now=NOW)
    found = statuses(run)
    assert found["versions"] == found["compatibility"] == "not_applicable"
    assert found["budget"] == "passed"
    told = {g.id: g.message for g in run.report.gates}
    assert told["versions"] == "the project is in no git repository"
    assert "growth is not judged" in told["budget"]
    assert run.report.base is None


def test_nothing_differs_on_the_default_branch(world: GateWorld) -> None:
    found = statuses(world.judge(against=""))
    assert found["versions"] == "not_applicable"
    assert found["injection"] == "passed"  # without a base every fixture is tried


def test_payloads_that_cannot_be_read(world: GateWorld) -> None:
    world.edit("policies/production.yaml", "  regression:\n", "  injection: {payloads: [evil.jsonl]}\n  regression:\n")
    with pytest.raises(UnreadableSource, match="payloads of policy 'production'"):
        world.judge()
