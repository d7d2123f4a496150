"""Reported faults of other tools, as this one meets them (``tests/cases``)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from parse_world import Load, short

TEMPLATE = {"templates/t.yaml": "template_id: t\nversion: 1\nsections: [{id: task, source: runtime}]\n"}
COMMITS = [
    "1234567890123456789e01234567890123456789",
    "0123456701234567012345670123456701234567",
    "1234567890123456789012345678901234567890",
]


@pytest.fixture
def cases(root: Path) -> Path:
    return root / "tests" / "cases"


@pytest.mark.parametrize("case", ["fm-017", "fm-018", "fm-020", "tp-006"])
def test_a_case_says_where_it_was_reported(cases: Path, case: str) -> None:
    about = json.loads((cases / case / "case.json").read_text(encoding="utf-8"))
    assert about["id"] == case
    assert about["url"].startswith("https://")
    assert about["must"]


def test_fm_017_versions_that_look_like_numbers_stay_different(load: Load, cases: Path) -> None:
    manifest = (cases / "fm-017" / "greeting.yaml").read_text(encoding="utf-8")
    project = load({"fragments/greeting.yaml": manifest, "fragments/greeting.md": "Hello\n"})
    assert [f.version for f in project.fragments["greeting"]] == ["1.10", "1.1"]
    assert short(project) == [
        "fragments/greeting.yaml:3:14 float-like-version",
        "fragments/greeting.yaml:8:14 float-like-version",
    ]


def test_fm_018_commit_ids_are_text(load: Load, cases: Path) -> None:
    files = {
        "fragments/pins.yaml": (cases / "fm-018" / "pins.yaml").read_text(encoding="utf-8"),
        "fragments/a.md": "a\n",
        "tests/fixtures/state.yaml": (cases / "fm-018" / "state.yaml").read_text(encoding="utf-8"),
    }
    project = load(files | TEMPLATE)
    assert short(project) == []
    assert [project.fragments[n][0].version for n in "abc"] == COMMITS
    assert project.fixtures["pins"].inputs.values["state"]["commits"] == COMMITS


def test_fm_020_what_a_merge_left_behind_is_reported_line_by_line(load: Load, cases: Path) -> None:
    rules = (cases / "fm-020" / "rules.md").read_text(encoding="utf-8")
    template = (cases / "fm-020" / "template.yaml").read_text(encoding="utf-8")
    project = load({"policies/rules.md": rules, "templates/t.yaml": template})
    assert short(project) == [f"policies/rules.md:{n}:1 conflict-marker" for n in (2, 4, 6)] + [
        f"templates/t.yaml:{n}:1 conflict-marker" for n in (2, 4, 6)
    ]
    assert project.broken == {"templates/t.yaml": "t"}


def test_tp_006_quotes_backslashes_and_line_breaks_come_through(load: Load, cases: Path) -> None:
    files = {
        f"tests/fixtures/{n}": (cases / "tp-006" / n).read_text(encoding="utf-8")
        for n in ("history.json", "fixture.yaml")
    }
    project = load(files | TEMPLATE)
    assert short(project) == []
    inputs = project.fixtures["quotes"].inputs
    assert inputs.history[0].content == 'Describe Jo "JJ" O\\Neil\nLine two'
    assert inputs.values["user"] == 'Jo "JJ" O\\Neil\nLine two'
    assert inputs.values["state"] == {"name": 'Jo "JJ" O\\Neil'}
