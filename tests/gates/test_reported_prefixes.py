"""Lost caches that were reported in public (cases cp-001, cp-002, cp-003, cp-005), as the step ``prefix`` meets them.

Each is tried in both ways in which a prefix can be lost: between the requests of one request profile, and between the
base and the change. What a diff says of the same cases is tested with the diff.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from gate_world import NOW
from repos import Repo

from ctxc.app.gate import GateRequest, GateRun, gate_workspace
from ctxc.app.workspace import open_workspace
from ctxc.model.finding import Finding

POLICY = "policy_id: p\nversion: 1\ngates: {prefix: {stable_over: template, against_base: require_version_bump}}\n"
TAIL = "  - {id: user, source: runtime, required: true}\n"
HEAD = "template_id: t\nversion: 1\nprovider: anthropic\nmodel: claude-sonnet-4-5\nbudget: {output_reserve: 100}\n"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "project")


def request(name: str, user: str = "Hello.", route: str = "", more: str = "") -> dict[str, str]:
    """A fixture of the template."""
    told = f"route: {{{route}}}\n" if route else ""
    text = f"fixture_id: {name}\ntemplate: t\n{told}inputs:\n  user: {user}\n{more}"
    return {f"tests/fixtures/{name}.yaml": text}


def judge(repo: Repo, against: str = "") -> GateRun:
    workspace = open_workspace(repo.path, flags={}, environment=repo.environ, no_cache=True)
    return gate_workspace(workspace, GateRequest(against=against, only=("prefix",)), now=NOW)


def one(run: GateRun, name: str) -> Finding:
    """The one finding of a run that fails the step; what lint says of the text stands beside it as a warning."""
    (finding,) = [f for f in run.report.findings if f.name != "volatile-prefix"]
    assert finding.name == name
    assert finding.severity.label == "error"
    assert {g.id: g.status for g in run.report.gates}["prefix"] == "failed"
    return finding


def place(finding: Finding) -> tuple[str, int]:
    assert finding.location.span is not None
    return finding.location.path, finding.location.span.line


# --- cp-001: a clock ------------------------------------------------------------------------------------------------

CLOCK = (
    "route: [now]\nsections:\n"
    '  - {id: clock, kind: policy, source: literal, text: "Current time is {{now}}. Today is {{today}}.", cacheable: true}\n'
    '  - {id: rules, kind: policy, source: literal, text: "You control a house. Follow the rules below.", cacheable: true}\n'
)


def test_cp_001_a_clock_at_the_top_is_named_with_its_variable(repo: Repo) -> None:
    more = 'variables: {today: "2026-09-09"}\n'
    repo.commit("base", {
        "policies/p.yaml": POLICY, "templates/t.yaml": HEAD + more + CLOCK + TAIL,
        **request("a", route='now: "15:09:20"'), **request("b", route='now: "15:09:34"'),
    })  # fmt: skip
    finding = one(judge(repo), "prefix-unstable")
    assert finding.message == (
        "the prefix of t is not the same in 'a' and 'b': section 'clock' (variable now) is the first that differs, "
        "0 tokens are stable"
    )
    assert (finding.data["section"], finding.data["variables"], finding.data["stable_tokens"]) == ("clock", ["now"], 0)
    assert place(finding) == ("templates/t.yaml", 9)


def test_cp_001_a_clock_that_a_change_sets_is_named_with_its_variables(repo: Repo) -> None:
    def made(now: str, today: str) -> dict[str, str]:
        return {"templates/t.yaml": HEAD + f'variables: {{now: "{now}", today: "{today}"}}\n' + CLOCK + TAIL}

    base = repo.commit(
        "base", {"policies/p.yaml": POLICY, **made("15:09:20", "2026-09-09"), **request("a"), **request("b")}
    )
    repo.commit("change", made("15:09:34", "2026-09-10"))
    run = judge(repo, base)
    finding = one(run, "prefix-changed")
    lost = [f.prefix.lost_tokens for f in run.change.fixtures if f.prefix is not None] if run.change else []
    assert len(lost) == 2 and finding.data["lost_tokens"] == sum(lost) > 0, "of both requests, as the report has it"
    assert f"{sum(lost):,} tokens lose their cache in 2 fixtures" in finding.message
    assert "changed in section 'clock' (variables now, today) and no version was raised" in finding.message
    assert finding.data["variables"] == ["now", "today"]
    assert place(finding)[0] == "templates/t.yaml"


# --- cp-002: tools in another order ---------------------------------------------------------------------------------

TOOLS = [
    {"name": n, "description": n, "inputSchema": {"type": "object", "properties": {}}}
    for n in ("alpha", "beta", "gamma")
]


def tools(order: str, listed: list[dict[str, Any]]) -> dict[str, str]:
    section = "sections:\n  - {id: tools, source: toolset, cacheable: true}\n"
    return {
        "policies/p.yaml": POLICY,
        "templates/t.yaml": HEAD + "request_profile: front\n" + section + TAIL,
        "templates/front.yaml": "profile_id: front\nversion: 1\ntoolset: s\n",
        "templates/s.yaml": f"toolset_id: s\nversion: 1\norder: {order}\nmcp: listed.json\n",
        "templates/listed.json": json.dumps({"tools": listed}),
        **request("a"),
    }


@pytest.mark.parametrize("order", ["name", "given"])
def test_cp_002_tools_in_another_order_move_the_prefix_only_where_their_order_is_kept(repo: Repo, order: str) -> None:
    base = repo.commit("base", tools(order, TOOLS))
    repo.commit("change", tools(order, [TOOLS[1], TOOLS[0], TOOLS[2]]))
    run = judge(repo, base)
    if order == "name":
        assert run.report.findings == ()
        assert run.head.measured["a"].stretches == (run.base.measured["a"].stretches if run.base else None)
    else:
        assert one(run, "prefix-changed").data["section"] == "tools"


# --- cp-003: a counter in a header ----------------------------------------------------------------------------------

MEMORY = (
    "route: [share, used]\nsections:\n"
    '  - {id: memory, kind: policy, source: literal, text: "MEMORY [{{share}}% - {{used}}/2,200 chars]", cacheable: true}\n'
    '  - {id: body, kind: policy, source: literal, text: "Long stable text.", cacheable: true}\n'
)


def test_cp_003_a_counter_in_a_header_is_the_first_that_differs(repo: Repo) -> None:
    repo.commit("base", {
        "policies/p.yaml": POLICY, "templates/t.yaml": HEAD + MEMORY + TAIL,
        **request("a", route='share: "49", used: "1,085"'), **request("b", route='share: "50", used: "1,101"'),
    })  # fmt: skip
    finding = one(judge(repo), "prefix-unstable")
    assert (finding.data["section"], finding.data["variables"]) == ("memory", ["share", "used"])
    assert finding.data["stable_tokens"] == 0


def test_cp_003_a_counter_behind_what_is_stable_leaves_that_to_the_cache(repo: Repo) -> None:
    lines = MEMORY.splitlines(keepends=True)
    turned = "".join([*lines[:2], lines[3], lines[2]])
    repo.commit("base", {
        "policies/p.yaml": POLICY, "templates/t.yaml": HEAD + turned + TAIL,
        **request("a", route='share: "49", used: "1,085"'), **request("b", route='share: "50", used: "1,101"'),
    })  # fmt: skip
    finding = one(judge(repo), "prefix-unstable")
    assert finding.data["section"] == "memory"
    assert finding.data["stable_tokens"] > 3


# --- cp-005: a time where it does no harm ---------------------------------------------------------------------------

LATE = (
    "sections:\n"
    '  - {id: rules, kind: policy, source: literal, text: "Stable rules.", cacheable: true}\n'
    "  - {id: last_tool_result, kind: tool_result, source: runtime}\n"
)


def late(name: str, now: str) -> dict[str, str]:
    return request(name, more=f'  tool_results:\n    - {{call_id: c1, status: ok, data: "finished at {now}"}}\n')


def test_cp_005_a_time_behind_the_cached_part_is_no_fault(repo: Repo) -> None:
    base = repo.commit("base", {
        "policies/p.yaml": POLICY, "templates/t.yaml": HEAD + LATE + TAIL, **late("a", "10:00:00"), **late("b", "10:00:09"),
    })  # fmt: skip
    run = judge(repo)
    assert run.report.findings == ()
    assert {g.id: g.status for g in run.report.gates}["prefix"] == "passed"
    assert run.head.measured["a"].stretches == run.head.measured["b"].stretches != ()
    assert run.head.measured["a"].request != run.head.measured["b"].request
    (line,) = run.release.prefixes
    assert (line.fixtures, bool(line.digest)) == (2, True)
    repo.commit("change", late("a", "11:30:00"))
    assert judge(repo, base).report.findings == ()
