"""A definition that is gone, or broken, is told where it is named; no rule concludes anything else from its absence."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ctxc.app.lint import LintOptions, lint
from ctxc.app.workspace import open_workspace
from ctxc.model.finding import Finding

REPOSITORY = Path(__file__).parents[3]
FOLDERS = ("templates", "fragments", "policies", "tests/fixtures", "tools")
DEFINED = (
    "templates/claimant_v7/profiles/external_support.yaml",
    "templates/claimant_v7/profiles/evidence_desk.yaml",
    "templates/claimant_v7/template.yaml",
    "templates/claimant_v7/contracts/claim_turn.yaml",
    "templates/claimant_v7/tools/claims_tools.yaml",
    "templates/alert_diagnosis/profiles/incident_read.yaml",
    "fragments/claimant_v7/manifest.json",
)
TOLD = {"unknown-reference", "unknown-fragment", "unknown-key", "missing-file", "syntax"}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for folder in FOLDERS:
        shutil.copytree(REPOSITORY / folder, tmp_path / folder)
    (tmp_path / "ctxc.yaml").write_text("provider: openai\nmodel: gpt-4.1\n")
    return tmp_path


def findings(root: Path, cache: Path) -> tuple[Finding, ...]:
    workspace = open_workspace(root, flags={}, environment={}, cache_dir=str(cache))
    linted = lint(workspace, LintOptions(tier="strict"), now="2026-11-30")
    return linted.report.findings


def new(root: Path, cache: Path, before: tuple[Finding, ...]) -> list[Finding]:
    known = {(f.code, f.location.path, f.message) for f in before}
    return [f for f in findings(root, cache) if (f.code, f.location.path, f.message) not in known]


@pytest.mark.parametrize(
    "path", DEFINED[:-1]
)  # without their manifest, what fixtures expect of fragments means nothing
def test_a_definition_that_is_gone(root: Path, cache: Path, path: str) -> None:
    before = findings(root, cache)
    (root / path).unlink()
    after = new(root, cache, before)
    assert {f.name for f in after} <= TOLD, [(str(f.location), f.code, f.message) for f in after]
    places = [f.location for f in after]
    assert len(places) == len(set(places))


@pytest.mark.parametrize("path", DEFINED)
def test_a_definition_that_is_broken(root: Path, cache: Path, path: str) -> None:
    before = findings(root, cache)
    text = (root / path).read_text()
    (root / path).write_text(text + ("}" if path.endswith(".json") else "\nx: [\n"))
    after = new(root, cache, before)
    assert [(f.location.path, f.name) for f in after] == [(path, "syntax")], after


def test_a_profile_that_is_gone_is_told_at_each_place_that_names_it(root: Path, cache: Path) -> None:
    before = findings(root, cache)
    (root / DEFINED[0]).unlink()
    after = sorted(str(f.location) for f in new(root, cache, before))
    assert after == [
        "templates/claimant_v7/template.yaml:9:18",
        # Five turns share it: it stands above them, once.
        "tests/fixtures/claimant_v7/conversation_rear_damage.yaml:4:18",
        "tests/fixtures/claimant_v7/motor_intake_rear_damage.yaml:4:18",
    ]
