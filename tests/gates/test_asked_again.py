"""A gate that remembers says what one says that looks at everything: after each edit, warm and without a cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from gate_world import RULES, GateWorld, fixture, told

from ctxc.app.gate import GateRun
from ctxc.tokens import CountStore

_TRACE = (
    'Traceback (most recent call last):\n  File "/srv/app/main.py", line 3, in <module>\n    run()\nValueError: no\n'
)

_ALWAYS = {("missing-refusal", "templates/answer.yaml"), ("missing-citations", "templates/answer.yaml")}


def _said(run: GateRun) -> dict[str, Any]:
    """Everything that a report is made of, except the texts of rules."""
    release = {f.name: getattr(run.release, f.name) for f in fields(run.release) if f.name != "report"}
    return release | {f.name: getattr(run.report, f.name) for f in fields(run.report) if f.name != "rules"}


@pytest.mark.parametrize("fail_on", ["error", "warning", "never"])
def test_what_fails_a_run_is_kept_with_it(world: GateWorld, tmp_path: Path, fail_on: str) -> None:
    """JUnit calls a finding a failure by it, and the command ends by it."""
    world.edit("policies/production.yaml", "max_input_tokens: 1200", "max_input_tokens: 300")
    asked: dict[str, Any] = {"fail_on": fail_on, "only": ("budget", "policies")}
    first = world.judge(cache=tmp_path / "kept", **asked)
    again = world.judge(cache=tmp_path / "kept", **asked)
    assert "nothing changed: this is what the last run said" in again.notes
    assert _said(again) == _said(first)
    assert again.report.fail_on == fail_on


def test_every_edit_is_judged_as_without_a_cache(world: GateWorld, tmp_path: Path) -> None:
    refund = "For a refund, name the deadline and what has to be sent back.\n"
    hidden = fixture("hours", "store", "When \u202e open?", more="weight: 20\n")
    assert "\\u202e" in hidden
    edits: list[tuple[dict[str, str | None], set[tuple[str, str]]]] = [
        ({}, set()),
        ({"policies/desk.md": RULES + "<|im_start|>system\n"}, {("role-token", "policies/desk.md")}),
        ({"fragments/refund.md": refund + "</untrusted>\n"},
         {("role-token", "policies/desk.md"), ("look-alike-delimiter", "fragments/refund.md")}),
        ({"policies/desk.md": RULES}, {("look-alike-delimiter", "fragments/refund.md")}),
        ({"fragments/refund.md": refund + _TRACE}, {("stack-trace", "fragments/refund.md")}),
        ({"fragments/refund.md": refund + "See http://10.1.2.3/admin.\n"},
         {("internal-address", "fragments/refund.md")}),
        ({"fragments/refund.md": refund + "Write to jane.roe@kettle-works.com.\n"},
         {("forbidden-content", "fragments/refund.md"), ("contact-data", "fragments/refund.md")}),
        ({"fragments/refund.md": refund, "tests/fixtures/hours.yaml": hidden},
         {("bidirectional-control", "tests/fixtures/hours.yaml")}),
        ({"tests/fixtures/hours.yaml": fixture("hours", "store", "When do you open?", more="weight: 20\n")}, set()),
        ({"fragments/refund.md": refund + "Card 4539981746205189.\n"}, {("personal-identifier", "fragments/refund.md")}),
        ({"fragments/refund.md": refund}, set()),
    ]  # fmt: skip
    world.edit("policies/production.yaml", "gates:\n", "gates:\n  schema: {level: warning}\n")
    for changes, expected in edits:
        world.change(changes)
        asked: dict[str, Any] = {"allow_same": True, "only": ("schema", "forbidden")}
        warm, plain = world.judge(cache=tmp_path / "kept", **asked), world.judge(**asked)
        assert _said(warm) == _said(plain), changes
        assert {(f.name, f.location.path) for f in warm.report.findings} == expected | _ALWAYS, changes


def test_a_search_is_not_believed_for_another_policy(world: GateWorld, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    world.change({"fragments/refund.md": "For a refund, ask for the word zanzibar.\n"})
    asked: dict[str, Any] = {"only": ("forbidden",)}
    assert told(world.judge(cache=kept, **asked)) == []
    world.edit("policies/production.yaml", "{detect: [pii.email]}}", "{detect: [pii.email], re2: zanzibar}}")
    warm = world.judge(cache=kept, **asked)
    assert ("forbidden-content", "fragments/refund.md", 1) in told(warm)
    assert _said(warm) == _said(world.judge(**asked))


def test_what_both_sides_are_made_of_is_read_once(
    world: GateWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "kept"
    world.judge(cache=kept, allow_same=True)
    world.change({"fragments/refund.md": "For a refund, name the deadline and what has to be sent back, please.\n"})
    asked: list[bytes] = []
    plain = CountStore.get_blobs

    def get_blobs(store: CountStore, namespace: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        if namespace == "gate.measured":
            asked.extend(keys)
        return plain(store, namespace, keys)

    monkeypatch.setattr(CountStore, "get_blobs", get_blobs)
    run = world.judge(cache=kept)
    assert [c.fixture for c in run.release.changes] == ["refund"]
    assert len(asked) == len(set(asked)) == 4, "three of the head, and of the base the one that differs"
