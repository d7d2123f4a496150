"""For each gate a fault that turns it red, and only it: the red path is demonstrated."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ctxc.__main__ import main

ENV = {
    "GIT_AUTHOR_NAME": "t",
    "GIT_AUTHOR_EMAIL": "t@example.com",
    "GIT_COMMITTER_NAME": "t",
    "GIT_COMMITTER_EMAIL": "t@example.com",
    "GIT_AUTHOR_DATE": "2026-06-01T00:00:00Z",
    "GIT_COMMITTER_DATE": "2026-06-01T00:00:00Z",
}

POLICY = """\
policy_id: production
version: 1.0.0
gates:
  budget:
    ceilings: [{where: {template: helpdesk}, max_input_tokens: 420}]
    growth: {max_percent: 40}
  forbidden:
    - id: FF-002
      title: no e-mail address outside the user's own words
      where: {zone: [system, tools, data]}
      forbid: {detect: [pii.email]}
  regression: {recall: {floor: 1}}
  citations: {must_exist: true, require: [locator, version], never_cite: [summary]}
  coverage: true
"""

FIXTURE = "tests/fixtures/refund_question.yaml"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small project with a base commit; the machine's own configuration is out of sight."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name, value in ENV.items():
        monkeypatch.setenv(name, value)
    root = tmp_path / "p"
    root.mkdir()
    monkeypatch.chdir(root)
    assert main(["-qq", "init"]) == 0
    (root / "policies/production.yaml").write_text(POLICY, encoding="utf-8")
    return root


def commit(root: Path) -> None:
    for arguments in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "base"]):
        subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True)


def edit(root: Path, path: str, old: str, new: str) -> None:
    text = (root / path).read_text(encoding="utf-8")
    assert old in text, f"{old!r} is not in {path}"
    (root / path).write_text(text.replace(old, new, 1), encoding="utf-8")


def gate(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, str], list[str]]:
    """Status, the state of each gate, and the codes of the findings."""
    capsys.readouterr()
    status = main(["gate", "--format", "json", "--now", "2026-06-02", *arguments])
    said = capsys.readouterr()
    report = json.loads(said.out) if said.out else {"gates": [], "findings": []}
    return status, {g["id"]: g["status"] for g in report["gates"]}, [f["code"] for f in report["findings"]]


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What is said where nothing is judged: status 2, and no report."""
    capsys.readouterr()
    status = main(["gate", "--format", "json", "--now", "2026-06-02", *arguments])
    said = capsys.readouterr()
    assert (status, said.out) == (2, "")
    return said.err


def red(states: dict[str, str]) -> set[str]:
    return {name for name, state in states.items() if state == "failed"}


def policy(root: Path, more: str) -> None:
    with (root / "policies/production.yaml").open("a", encoding="utf-8") as out:
        out.write(more)


FAULTS: dict[str, tuple[str, Callable[[Path], None]]] = {
    "schema": ("", lambda p: (p / "templates/broken.yaml").write_text("template_id: [\n", encoding="utf-8") and None),
    "budget": ("", lambda p: edit(p, FIXTURE, "leaks.", "leaks. " + "It really does. " * 30)),
    "forbidden": ("", lambda p: edit(p, FIXTURE, "working days.", "working days. Write to jane.doe@corp-mail.com.")),
    "regression": ("", lambda p: edit(p, FIXTURE, "within 30 days", "within 31 days")),
    "citations": ("", lambda p: edit(p, FIXTURE, "      locator: section 2\n", "")),
    "cost": (
        "  cost: {ceilings: [{where: {template: helpdesk}, max_usd_per_1000_requests: 7.2}]}\n",
        lambda p: edit(p, "templates/helpdesk.yaml", "output_reserve: 800", "output_reserve: 1600"),
    ),
    "latency": (
        "  latency: {ceilings: [{where: {template: helpdesk}, max_ms: 20000}]}\n",
        lambda p: edit(p, "templates/helpdesk.yaml", "output_reserve: 800", "output_reserve: 1600"),
    ),
    "prefix": (
        "  prefix: {stable_over: request_profile, against_base: require_version_bump}\n",
        lambda p: edit(p, "policies/platform.md", "\n", " \n"),
    ),
    "versions": ("  versions: {bump: require}\n", lambda p: edit(p, "policies/platform.md", "\n", " \n")),
    "coverage": (
        "",
        lambda p: (
            (p / "templates/unused.yaml").write_text(
                "template_id: unused\nversion: 1.0.0\nprovider: openai\nmodel: gpt-4.1\nbudget: {output_reserve: 800, "
                "safety_margin: 5%}\nsections:\n  - {id: user, source: runtime, required: true}\n",
                encoding="utf-8",
            )
            and None
        ),
    ),
}


def test_the_project_is_green(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    commit(project)
    status, states, findings = gate(capsys)
    assert (status, red(states), findings) == (0, set(), [])
    assert states["budget"] == states["regression"] == states["injection"] == "passed"


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_turns_its_gate_red_and_only_it(name: str, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more, seed = FAULTS[name]
    policy(project, more)
    commit(project)
    status, states, findings = gate(capsys)
    assert (status, red(states)) == (0, set()), findings
    seed(project)
    status, states, findings = gate(capsys, "--against", "HEAD")
    assert red(states) == {name}, (states, findings)
    assert status == 1
    assert findings
    # Alone, it is as red.
    status, states, _ = gate(capsys, "--against", "HEAD", "--only", name)
    assert (status, red(states)) == (1, {name})


def test_no_gate_passes_over_a_fixture_that_was_not_compiled(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    commit(project)
    with (project / "fragments/task/refund.md").open("a", encoding="utf-8") as out:
        out.write("And one more rule that nobody needs. " * 60)
    status, states, _ = gate(capsys, "--against", "HEAD")
    assert status == 1
    assert states["schema"] == "failed"
    assert states["budget"] == states["regression"] == states["citations"] == "not_checked"
    status, states, findings = gate(capsys, "--against", "HEAD", "--only", "budget")
    assert (status, states["budget"]) == (1, "failed"), findings


@pytest.mark.parametrize(
    ("remove", "said"),
    [
        (["policies/production.yaml"], "the project has no policies: there is nothing to judge by"),
        (
            ["tests/fixtures/refund_question.yaml", "tests/fixtures/opening_hours.yaml"],
            "the project has no fixtures: nothing would be judged",
        ),
    ],
)
def test_nothing_to_judge_is_status_two(
    remove: list[str], said: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    commit(project)
    for path in remove:
        (project / path).unlink()
    assert said in refused(capsys)


def test_a_base_that_cannot_be_read_is_status_two(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    commit(project)
    assert "'no-such-revision' is not a revision of this repository" in refused(capsys, "--against", "no-such-revision")
    assert "the base 'HEAD' is the head itself" in refused(
        capsys, "--against", "HEAD"
    )  # equal to a clean head: nothing would be compared


def test_a_change_that_raises_its_own_ceiling_is_still_judged_by_the_base(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    commit(project)
    edit(project, "policies/production.yaml", "max_input_tokens: 420", "max_input_tokens: 9000")
    edit(project, FIXTURE, "leaks.", "leaks. " + "It really does. " * 30)
    status, states, findings = gate(capsys, "--against", "HEAD", "--policy-source", "base")
    assert status == 1
    assert "budget" in red(states)
    assert "CTX201" in findings
