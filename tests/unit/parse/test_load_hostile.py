"""Hostile files: each is a finding, quickly, and hides no other file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from parse_world import Load, short

from ctxc.model.project import Settings
from ctxc.parse.load import load_project
from ctxc.source.tree import MAX_FILE_BYTES, MAX_INPUT_BYTES
from ctxc.source.worktree import WorkTree

GOOD = {"templates/good.yaml": "template_id: good\nversion: 1\nsections: [{id: task, source: runtime}]\n"}
LAUGHS = "template_id: t\nx0: &x0 [l, l, l, l, l, l, l, l, l, l]\n" + "".join(
    f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 10)}]\n" for n in range(1, 10)
)


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("t.yaml", LAUGHS, "alias-expansion"),
        ("t.yaml", "template_id: t\na: " + "[" * 100_000, "too-deep"),
        ("t.yaml", "template_id: t\n" + "a:\n " * 3 + "- " * 50_000, "too-deep"),
        ("t.yaml", "a: &a [*a]\n", "bad-alias"),
        ("t.yaml", "base: &base {a: 1}\nx:\n  <<: *base\n", "merge-key"),
        ("t.yaml", "x: !!python/object/apply:os.system [id]\n", "custom-tag"),
        ("t.yaml", "template_id: t\nversion: 1\nversion: 2\n", "duplicate-key"),
        ("t.yaml", "template_id: \x00\n", "control-character"),
        ("t.json", "[" * 100_000, "too-deep"),
        ("t.json", "1" * 10_000, "bad-number"),
        ("t.json", "[NaN,Infinity,1e999]", "bad-number"),
        ("t.json", '{"trust":"T4","trust":"T0"}', "duplicate-key"),
        ("t.json", '"\\ud800"', "lone-surrogate"),
        ("t.yaml", b"\xff\xfe\x00\x00", "wrong-encoding"),
        ("t.yaml", b"\x80\x81", "wrong-encoding"),
        ("t.yaml", "? " * 20_000, "too-deep"),
        ("t.yaml", "template_id: " + "x" * 300 + "\n", "bad-value"),
        ("t.yaml", "%YAML 3.0\n---\na: 1\n", "syntax"),
    ],
)
def test_each_is_a_finding_with_a_place_and_a_remedy(load: Load, name: str, data: str | bytes, expected: str) -> None:
    project = load({f"templates/{name}": data, **GOOD})
    found = [f for f in project.findings if f.name == expected]
    assert found, short(project)
    assert found[0].location.path == f"templates/{name}"
    assert found[0].location.span is not None
    assert found[0].help
    assert f"templates/{name}" in project.broken
    assert list(project.templates) == ["good"]


def test_yaml_1_1_scalars_of_the_threat_model_stay_text(load: Load) -> None:
    state = "country: no\n    window: 12:34:56\n    version: 1_000\n    date: 2024-01-01"
    text = f"fixture_id: f\ntemplate: good\ninputs:\n  state:\n    {state}\n"
    project = load({"tests/fixtures/f.yaml": text, **GOOD})
    assert short(project) == []
    assert project.fixtures["f"].inputs.values["state"] == {
        "country": "no", "window": "12:34:56", "version": "1_000", "date": "2024-01-01"
    }  # fmt: skip


def test_a_file_of_100_mb_is_not_read(tmp_path: Path) -> None:
    for path, text in GOOD.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    huge = tmp_path / "templates" / "huge.yaml"
    huge.touch()
    os.truncate(huge, 100 << 20)
    project = load_project(WorkTree(tmp_path), Settings())
    assert short(project) == ["templates/huge.yaml unreadable-file"]
    assert f"{MAX_INPUT_BYTES:,}" in project.findings[0].message
    assert list(project.templates) == ["good"]


def test_a_definition_is_smaller_than_recorded_data(load: Load) -> None:
    padding = "# " + "x" * MAX_FILE_BYTES + "\n"
    project = load({"tests/fixtures/f.yaml": f"fixture_id: f\ntemplate: good\n{padding}", **GOOD})
    assert [f.name for f in project.findings] == ["too-large"]
    assert f"{MAX_FILE_BYTES:,}" in project.findings[0].message
    big = '{"role": "user", "content": "' + "x" * MAX_FILE_BYTES + '"}\n'
    text = "fixture_id: f\ntemplate: good\ninputs: {history: {file: h.jsonl}}\n"
    assert short(load({"tests/fixtures/f.yaml": text, "tests/fixtures/h.jsonl": big, **GOOD})) == []


def test_a_broken_file_of_every_kind_names_its_kind_and_id(load: Load) -> None:
    keys = ("template", "fragment", "profile", "contract", "toolset", "policy", "provider", "fixture", "conversation")
    files = {f"policies/{k}.yaml": f"{k}_id: my_{k}\nversion: [\n" for k in keys}
    project = load(files)
    assert project.broken == {f"policies/{k}.yaml": f"my_{k}" for k in sorted(keys)}
    assert project.broken_kinds == {f"policies/{k}.yaml": k for k in sorted(keys)}
    assert [f.name for f in project.findings] == ["syntax"] * len(keys)


def test_references_to_what_is_broken_are_no_second_fault(load: Load) -> None:
    files = {
        "templates/t.yaml": "template_id: t\nversion: {}\n",
        "tests/fixtures/f.yaml": "fixture_id: f\ntemplate: t\n",
        "tests/fixtures/g.yaml": "fixture_id: g\ntemplate: u\n",
    }
    assert short(load(files)) == [
        "templates/t.yaml:2:10 wrong-type",
        "tests/fixtures/g.yaml:2:11 unknown-reference",
    ]


def test_many_faults_of_one_file_are_counted(load: Load) -> None:
    keys = "\n".join(f"key_{n}: 1" for n in range(250))
    project = load({"templates/t.yaml": f"template_id: t\n{keys}\n"})
    assert len(project.findings) == 100
    assert any("more problems in this file" in f.message for f in project.findings)


def test_three_hundred_broken_files_are_each_named(load: Load) -> None:
    broken = [
        "a: [",
        "a: b: c",
        "x: !t 1",
        "a: 1\na: 2",
        "\t- x",
        "template_id: [",
        "- fragment_id: x\n  kind: y",
        "{}}",
    ]
    files = {f"templates/{n:03d}.yaml": broken[n % len(broken)] + "\n" for n in range(300)}
    project = load(files)
    assert {f.location.path for f in project.findings} == set(files)
    assert all(f.severity.label == "error" and f.location.span for f in project.findings)
