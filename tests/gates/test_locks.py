"""``budgets.lock`` and ``tools.lock.json``: written on purpose, tighter only, judged by place and by the base's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from gate_world import GateWorld, fixture, red, told

from ctxc.app.gate import GateRun
from ctxc.app.locks import LockUpdate, budgets_text, tools_text, update_locks
from ctxc.app.workspace import open_workspace
from ctxc.base.errors import NothingMatched, UnreadableSource, UsageError
from ctxc.rules._locks import Locked, Pin

RATCHET = "    ratchet: {slack_percent: 2}\n"
PINS = "pins: require"
DESCRIPTION = "State of one order of the customer who asks."


def ratcheting(world: GateWorld) -> GateWorld:
    """The project with both locks, committed."""
    world.edit("policies/production.yaml", "    percentiles:", RATCHET + "    percentiles:")
    world.edit("policies/production.yaml", "pins: known", PINS)
    update(world)
    world.base = world.repo.commit("locks")
    return world


def update(
    world: GateWorld, *, accept: bool = False, ci: bool = False, now: str = "2026-11-30"
) -> tuple[LockUpdate, ...]:
    environment = {**world.repo.environ, **({"CI": "true"} if ci else {})}
    workspace = open_workspace(world.root, flags={}, environment=environment, no_cache=True)
    return update_locks(workspace, accept=accept, now=now)


def text(world: GateWorld, path: str) -> str:
    return (world.root / path).read_text(encoding="utf-8")


def lock_of(world: GateWorld, path: str) -> Any:
    return json.loads(text(world, path))


def notes(run: GateRun, *names: str) -> list[tuple[str, str, int, int]]:
    """Name, path, line and column of the findings of these rules."""
    return [
        (f.name, f.location.path, f.location.span.line, f.location.span.column) if f.location.span
        else (f.name, f.location.path, 0, 0)
        for f in run.report.findings
        if f.name in names
    ]  # fmt: skip


def longer(world: GateWorld) -> None:
    """The request of one fixture takes more tokens."""
    world.edit(
        "tests/fixtures/hours.yaml", "When do you open on Saturdays?", "When do you open on Saturdays and Sundays?"
    )


def reworded(world: GateWorld, more: str = " Never ask for a password.") -> None:
    """The description of a pinned tool says something else, under a new version of its set."""
    world.edit("templates/tools.yaml", DESCRIPTION, DESCRIPTION + more)
    world.bump("tools", "template", "profile")


# --- writing --------------------------------------------------------------------------------------------------------


def test_both_locks_are_written_where_a_policy_asks(world: GateWorld) -> None:
    ratcheting(world)
    budgets, tools = lock_of(world, "budgets.lock"), lock_of(world, "tools.lock.json")
    measured = world.judge(allow_same=True).head.measured
    assert budgets["schema"] == "ctxc.budgets/1"
    assert budgets["fixtures"] == {
        name: {"tokens": m.tokens, "tokenizer": m.tokenizer, "method": m.method} for name, m in sorted(measured.items())
    }
    (pin,) = tools["tools"]
    assert {k: pin[k] for k in ("toolset", "name", "version", "date")} == {
        "toolset": "desk_tools", "name": "find_order", "version": "1.0.0", "date": "2026-11-30",
    }  # fmt: skip
    assert len(pin["sha256"]) == 64
    run = world.judge(allow_same=True)
    assert (red(run), run.report.findings) == ([], ())


def test_each_entry_stands_on_a_line_of_its_own(world: GateWorld) -> None:
    ratcheting(world)
    lines = text(world, "budgets.lock").splitlines()
    assert [line.split(":")[0].strip() for line in lines[2:-2]] == ['"fixtures"', '"hours"', '"long"', '"refund"']
    assert text(world, "budgets.lock").endswith(" }\n}\n")


def test_writing_again_changes_no_byte(world: GateWorld) -> None:
    ratcheting(world)
    before = text(world, "budgets.lock"), text(world, "tools.lock.json")
    assert [(u.added, u.tightened, u.loosened, u.removed, u.refused) for u in update(world, now="2027-01-01")] == [
        ((), (), (), (), ())
    ] * 2
    assert (text(world, "budgets.lock"), text(world, "tools.lock.json")) == before


def test_a_lock_only_tightens_unless_more_is_accepted(world: GateWorld) -> None:
    ratcheting(world)
    before = lock_of(world, "budgets.lock")["fixtures"]
    longer(world)
    world.edit("tests/fixtures/refund.yaml", "It leaks.", "It.")
    budgets, _ = update(world)
    assert (budgets.tightened, budgets.refused, budgets.loosened) == (("refund",), ("hours",), ())
    after = lock_of(world, "budgets.lock")["fixtures"]
    assert after["hours"] == before["hours"]
    assert after["refund"]["tokens"] < before["refund"]["tokens"]
    budgets, _ = update(world, accept=True)
    assert (budgets.loosened, budgets.refused) == (("hours",), ())
    assert lock_of(world, "budgets.lock")["fixtures"]["hours"]["tokens"] > before["hours"]["tokens"]


def test_what_is_new_is_taken_in_and_what_is_gone_taken_out(world: GateWorld) -> None:
    ratcheting(world)
    world.change({
        "tests/fixtures/other.yaml": text(world, "tests/fixtures/hours.yaml").replace("fixture_id: hours", "fixture_id: other"),
        "tests/fixtures/long.yaml": None,
    })  # fmt: skip
    budgets, _ = update(world)
    assert (budgets.added, budgets.removed, budgets.entries) == (("other",), ("long",), 3)
    assert sorted(lock_of(world, "budgets.lock")["fixtures"]) == ["hours", "other", "refund"]


def test_another_definition_of_a_tool_has_to_be_accepted(world: GateWorld) -> None:
    ratcheting(world)
    before = text(world, "tools.lock.json")
    reworded(world)
    _, tools = update(world, now="2026-12-24")
    assert tools.refused == ("desk_tools/find_order",)
    assert text(world, "tools.lock.json") == before
    _, tools = update(world, accept=True, now="2026-12-24")
    assert tools.loosened == ("desk_tools/find_order",)
    (pin,) = lock_of(world, "tools.lock.json")["tools"]
    assert (pin["version"], pin["date"]) == ("1.1.0", "2026-12-24")


def test_what_somebody_wrote_into_a_pin_stays(world: GateWorld) -> None:
    ratcheting(world)
    value = lock_of(world, "tools.lock.json")
    value["tools"][0] |= {"approved_by": "security", "trust": "reviewed"}
    world.change({"tools.lock.json": json.dumps(value)})
    update(world)
    (pin,) = lock_of(world, "tools.lock.json")["tools"]
    assert (pin["approved_by"], pin["trust"]) == ("security", "reviewed")


def test_locks_are_not_written_where_ci_is_set(world: GateWorld) -> None:
    ratcheting(world)
    longer(world)
    before = text(world, "budgets.lock")
    with pytest.raises(UsageError, match="not written where CI is set"):
        update(world, accept=True, ci=True)
    assert text(world, "budgets.lock") == before


def test_a_project_that_asks_for_no_lock_gets_none(world: GateWorld) -> None:
    world.edit("policies/production.yaml", "{pins: known, deny", "{deny")
    with pytest.raises(NothingMatched, match="no policy asks for a lock"):
        update(world)
    assert not (world.root / "budgets.lock").exists()


def test_the_gate_itself_writes_no_lock(world: GateWorld) -> None:
    world.edit("policies/production.yaml", "    percentiles:", RATCHET + "    percentiles:")
    world.bump("policy")
    run = world.judge()
    assert not (world.root / "budgets.lock").exists()
    assert ("budget-lock", "budgets.lock", 0) in told(run)
    assert red(run) == ["budget"]


def test_the_command_says_what_it_refused(world: GateWorld, run_here: Any) -> None:
    ratcheting(world)
    longer(world)
    reworded(world)
    place = ("-C", str(world.root), "--no-cache", "gate")
    environment = {"CI": "", "XDG_CACHE_HOME": str(world.root.parent / "cache")}
    done = run_here(world.root, *place, "--update-locks", **environment)
    assert done.returncode == 1
    assert b"hours takes more than its lock: --accept takes it in" in done.stderr
    assert b"desk_tools/find_order is not the tool that was pinned: --accept takes it in" in done.stderr
    done = run_here(world.root, *place, "--update-locks", "--accept", **environment)
    assert done.returncode == 0
    assert run_here(world.root, *place, "--accept", **environment).returncode == 2
    done = run_here(world.root, *place, "--update-locks", "--only", "budget", **environment)
    assert (done.returncode, done.stderr.split(b"\n")[0]) == (
        2, b"error: --update-locks judges nothing: it goes with --accept alone"
    )  # fmt: skip


# --- judging --------------------------------------------------------------------------------------------------------


def test_more_tokens_than_the_lock_fail_at_the_fixture(world: GateWorld) -> None:
    ratcheting(world)
    longer(world)
    run = world.judge()
    assert red(run) == ["budget"]
    (finding,) = [f for f in run.report.findings if f.name == "budget-lock"]
    assert (finding.location.path, finding.fixture) == ("tests/fixtures/hours.yaml", "hours")
    assert finding.data["delta"] == finding.data["tokens"] - finding.data["limit"] > 0
    (lock,) = [r.location for r in finding.related if r.location.path == "budgets.lock"]
    assert lock.span is not None
    assert (lock.span.line, lock.span.column) == (4, 3)
    assert text(world, "budgets.lock").splitlines()[3].startswith('  "hours"')


def test_slack_is_told_at_its_line(world: GateWorld) -> None:
    ratcheting(world)
    value = lock_of(world, "budgets.lock")
    value["fixtures"]["long"]["tokens"] += 100
    world.change({"budgets.lock": json.dumps(value, indent=1)})
    run = world.judge()
    assert red(run) == []  # it warns: nothing got worse
    lines = text(world, "budgets.lock").splitlines()
    at = next(n for n, line in enumerate(lines, 1) if '"long"' in line)
    assert notes(run, "budget-slack") == [("budget-slack", "budgets.lock", at, 3)]
    (finding,) = [f for f in run.report.findings if f.name == "budget-slack"]
    assert finding.data["slack"] == 100


def test_slack_within_what_the_policy_allows_is_none(world: GateWorld) -> None:
    ratcheting(world)
    value = lock_of(world, "budgets.lock")
    tokens = value["fixtures"]["long"]["tokens"]
    value["fixtures"]["long"]["tokens"] = tokens * 102 // 100
    world.change({"budgets.lock": json.dumps(value)})
    assert notes(world.judge(), "budget-slack") == []


def test_an_entry_of_no_fixture_is_slack(world: GateWorld) -> None:
    ratcheting(world)
    world.change({"tests/fixtures/hours.yaml": None})
    found = notes(world.judge(policy_source="head"), "budget-slack")
    assert found == [("budget-slack", "budgets.lock", 4, 3)]


def test_a_lock_of_another_tokenizer_is_not_compared_with(world: GateWorld) -> None:
    ratcheting(world)
    value = lock_of(world, "budgets.lock")
    value["fixtures"]["hours"] |= {"tokenizer": "cl100k_base", "tokens": 1}
    value["fixtures"]["long"] |= {"method": "heuristic", "tokens": 90_000}
    world.change({"budgets.lock": json.dumps(value)})
    run = world.judge()
    found = {f.fixture: f for f in run.report.findings if f.name == "budget-lock"}
    assert set(found) == {"hours", "long"}
    assert found["hours"].message == (
        "the lock was counted with cl100k_base (calibrated), this with o200k_base (calibrated)"
    )
    assert "delta" not in found["hours"].data  # neither growth
    assert notes(run, "budget-slack") == []  # nor slack


def test_a_fixture_that_the_lock_does_not_know(world: GateWorld) -> None:
    ratcheting(world)
    world.change(
        {"tests/fixtures/other.yaml": text(world, "tests/fixtures/hours.yaml").replace("id: hours", "id: other")}
    )
    assert told(world.judge()) == [("budget-lock", "tests/fixtures/other.yaml", 1)]


FAULTS = [
    ("budgets.lock", '{"schema": "ctxc.budgets/1",\n "fixtures": {"hours": {"tokens": 1,}}}\n', "JSON", (2, 37)),
    ("budgets.lock", '{"schema": "ctxc.budgets/1", "fixtures": {}, "fixtures": {}}', "twice", (1, 46)),
    ("budgets.lock", '{"schema": "ctxc.budgets/2",\n "fixtures": {}}', "its schema is 'ctxc.budgets/2'", (1, 12)),
    ("budgets.lock", '{"schema": "ctxc.budgets/1"}', "`fixtures` is missing", (1, 1)),
    ("budgets.lock", '{"schema": "ctxc.budgets/1",\n "fixtures": {\n  "a/b": {"tokens": "3"}}}', "not a number", (3, 21)),
    ("budgets.lock", '{"schema": "ctxc.budgets/1",\n "fixtures": {\n  "a": {"tokens": -3}}}', "not a number", (3, 19)),
    ("budgets.lock", '{"schema": "ctxc.budgets/1",\n "fixtures": {\n  "a": {"tokens": 3}}}', "`tokenizer` is missing", (3, 8)),
    ("budgets.lock", '{"schema": "ctxc.budgets/1", "fixtures": []}', "`fixtures` is not an object", (1, 42)),
    ("budgets.lock", "[1]", "an object was expected", (1, 1)),
    ("budgets.lock", "[" * 100_000, "", (1, None)),
    ("budgets.lock", '{"schema": NaN}', "", (1, 12)),
    ("budgets.lock", "", "", (1, 1)),
    ("tools.lock.json", '{"schema": "ctxc.tools-lock/1",\n "tools": [{"toolset": "a"}]}', "`name` is missing", (2, 12)),
    ("tools.lock.json", '{"schema": "ctxc.tools-lock/1", "tools": {}}', "`tools` is not a list", (1, 42)),
    (
        "tools.lock.json",
        '{"schema": "ctxc.tools-lock/1",\n "tools": [\n  {"toolset": "a", "name": "b", "version": "1", "sha256": "00"}]}',
        "`sha256` is not a digest", (3, 59),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("path", "content", "why", "place"), FAULTS, ids=range(len(FAULTS)))
def test_a_lock_that_cannot_be_read_fails_where_it_is_wrong(
    world: GateWorld, path: str, content: str, why: str, place: tuple[int, int | None]
) -> None:
    ratcheting(world)
    world.change({path: content})
    run = world.judge()
    assert red(run) == ["budget" if path == "budgets.lock" else "tools"]
    found = [f for f in run.report.findings if f.location.path == path]
    assert len(found) == 1
    assert f"{path} cannot be read: " in found[0].message
    assert why in found[0].message
    span = found[0].location.span
    assert span is not None
    assert span.line == place[0]
    if place[1] is not None:
        assert span.column == place[1]
    with pytest.raises(UnreadableSource) as raised:
        update(world)
    assert raised.value.location == found[0].location
    assert text(world, path) == content  # and is not written over


def test_a_lock_that_is_no_text(world: GateWorld) -> None:
    ratcheting(world)
    (world.root / "budgets.lock").write_bytes(b'{"schema": "\xff\xfe"}')
    run = world.judge()
    assert red(run) == ["budget"]
    assert notes(run, "budget-lock")[0][:2] == ("budget-lock", "budgets.lock")


def test_a_lock_that_is_a_link_out_of_the_project(world: GateWorld, tmp_path: Path) -> None:
    ratcheting(world)
    outside = tmp_path / "outside.json"
    outside.write_text(text(world, "budgets.lock"))
    (world.root / "budgets.lock").unlink()
    (world.root / "budgets.lock").symlink_to(outside)
    run = world.judge()
    assert "budget" in red(run)


# --- tools ----------------------------------------------------------------------------------------------------------


def test_another_description_of_a_pinned_tool_is_red(world: GateWorld) -> None:
    ratcheting(world)
    reworded(world)
    run = world.judge()
    assert "tools" in red(run)
    (finding,) = [f for f in run.report.findings if f.name == "unpinned-tool"]
    assert finding.message == "tool 'find_order' of desk_tools is not the definition that was approved"
    assert (finding.location.path, finding.location.span and finding.location.span.line) == ("templates/tools.yaml", 4)
    assert next((r.location.path, r.location.span and r.location.span.line) for r in finding.related) == (
        "tools.lock.json", 4,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("As in the order confirmation.", "As in the order confirmation, with the password."),
        ("required: [order_id]", "required: []"),
        ("name: find_order", "name: find_order\n    annotations: {destructiveHint: true}"),
    ],
)
def test_every_field_that_a_model_or_a_host_sees_is_pinned(world: GateWorld, old: str, new: str) -> None:
    ratcheting(world)
    world.edit("templates/tools.yaml", old, new)
    world.bump("tools", "template", "profile")
    assert "unpinned-tool" in {n for n, _, _ in told(world.judge())}


def test_a_tool_without_a_pin_where_pins_are_required(world: GateWorld) -> None:
    ratcheting(world)
    world.change({"tools.lock.json": tools_text([])})
    assert [n for n, _, _ in told(world.judge())] == ["unpinned-tool"]


def test_a_pin_of_a_tool_that_is_gone_is_slack(world: GateWorld) -> None:
    ratcheting(world)
    value = lock_of(world, "tools.lock.json")
    value["tools"].append({**value["tools"][0], "name": "delete_order"})
    world.change({"tools.lock.json": json.dumps(value, indent=1)})
    run = world.judge()
    (found,) = notes(run, "tool-pin-slack")
    lines = text(world, "tools.lock.json").splitlines()
    assert '"delete_order"' in "".join(lines[found[2] - 1 : found[2] + 3])
    assert red(run) == []
    update(world)
    assert [p["name"] for p in lock_of(world, "tools.lock.json")["tools"]] == ["find_order"]


# --- who judges -----------------------------------------------------------------------------------------------------


def test_a_change_that_raises_its_own_budget_is_judged_by_the_base(world: GateWorld) -> None:
    ratcheting(world)
    longer(world)
    update(world, accept=True)
    run = world.judge(ci=True)
    assert red(run) == ["budget"]
    (finding,) = [f for f in run.report.findings if f.name == "budget-lock"]
    assert finding.fixture == "hours"
    # The base's lock is not the file that stands here: no line of it is named.
    assert [r.location.span for r in finding.related if r.location.path == "budgets.lock"] == [None]
    # What was asked for is done already: the advice is not to do it again.
    assert finding.message.endswith("; the base's lock judges, and this change writes another")
    assert "in a change of its own" in finding.help
    assert red(world.judge(policy_source="head")) == []


def test_a_new_fixture_brings_its_own_line_of_the_lock(world: GateWorld) -> None:
    """The base has no budget to judge it by; without the line the change's own lock misses it."""
    ratcheting(world)
    world.change({"tests/fixtures/other.yaml": fixture("other", "store", "May I come on a Sunday?")})
    assert told(world.judge(ci=True)) == [("budget-lock", "tests/fixtures/other.yaml", 1)]
    update(world)
    assert told(world.judge(ci=True)) == []


def test_a_change_that_pins_its_own_tool_is_judged_by_the_base(world: GateWorld) -> None:
    ratcheting(world)
    reworded(world)
    update(world, accept=True)
    (finding,) = [f for f in world.judge(ci=True).report.findings if f.name == "unpinned-tool"]
    assert finding.message.endswith("at the base, whose lock judges; this change pins it itself")
    assert finding.help.startswith("bring tools.lock.json in a change of its own")
    assert "unpinned-tool" not in {n for n, _, _ in told(world.judge(policy_source="head"))}


def test_a_change_that_removes_its_lock_is_judged_by_the_base(world: GateWorld) -> None:
    ratcheting(world)
    longer(world)
    world.change({"budgets.lock": None})
    world.edit("policies/production.yaml", RATCHET, "")
    world.bump("policy")
    assert "budget" in red(world.judge(ci=True))
    assert "budget" not in red(world.judge(policy_source="head"))


def test_an_approved_definition_may_wait_in_the_lock_of_the_base(world: GateWorld) -> None:
    """Two steps pass where one does not: first the pin is reviewed, then the tool changes."""
    ratcheting(world)
    old = lock_of(world, "tools.lock.json")["tools"]
    reworded(world)
    update(world, accept=True)
    new = lock_of(world, "tools.lock.json")["tools"]
    changed = {p: text(world, p) for p in ("templates/tools.yaml", "templates/desk.yaml", "templates/front.yaml")}
    world.repo.git("checkout", "-q", "--", "templates")
    world.change({"tools.lock.json": json.dumps({"schema": "ctxc.tools-lock/1", "tools": [*old, *new]})})
    world.base = world.repo.commit("approve")
    world.change(changed)
    assert "unpinned-tool" not in {n for n, _, _ in told(world.judge(ci=True))}


# --- as text --------------------------------------------------------------------------------------------------------


def test_texts_are_sorted_whatever_the_order_and_hide_nothing() -> None:
    one, two = (Locked(tokens=n, tokenizer="o200k_base", method="exact") for n in (1, 2))
    assert budgets_text({"b": two, "a": one}) == budgets_text({"a": one, "b": two})
    assert budgets_text({}) == '{\n "schema": "ctxc.budgets/1",\n "fixtures": {}\n}\n'
    pins = [Pin(toolset="s", name=name, version="1", digest="0" * 64) for name in ("b", "a")]
    assert tools_text(pins) == tools_text(reversed(pins))
    hostile = budgets_text({"a\u202eb": one})
    assert "\u202e" not in hostile
    assert list(json.loads(hostile)["fixtures"]) == ["a\u202eb"]
