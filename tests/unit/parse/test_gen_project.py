"""The generated project of the benchmarks: the same bytes every time, and nothing wrong with it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from ctxc import providers
from ctxc.model.project import Settings
from ctxc.parse.load import load_project
from ctxc.source.worktree import WorkTree


@pytest.fixture(scope="module")
def generator(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("gen_project", root / "benchmarks" / "gen_project.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def contents(root: Path) -> dict[str, bytes]:
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def test_the_same_arguments_give_the_same_bytes(generator: ModuleType, tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        generator.write_project(tmp_path / name, fragments=60, templates=3, fixtures=12, seed=seed)
    assert contents(tmp_path / "a") == contents(tmp_path / "b") != contents(tmp_path / "c")


def test_it_loads_without_a_finding(generator: ModuleType, tmp_path: Path) -> None:
    generator.main([str(tmp_path / "p"), "--fragments", "120", "--templates", "4", "--fixtures", "30"])
    shipped = {n: providers.profile_text(n) for n in providers.profile_ids()}
    project = load_project(WorkTree(tmp_path / "p"), Settings(), builtin_providers=shipped)
    assert project.findings == ()
    assert [len(x) for x in (project.fragments, project.templates, project.fixtures)] == [120, 4, 30]


def test_commits_are_the_same_everywhere(generator: ModuleType, tmp_path: Path) -> None:
    heads = []
    for name in ("a", "b"):
        generator.main(
            [str(tmp_path / name), "--fragments", "20", "--templates", "1", "--fixtures", "2", "--commits", "3"]
        )
        heads.append((tmp_path / name / ".git" / "refs" / "heads" / "main").read_text(encoding="ascii"))
    assert heads[0] == heads[1]
    assert len(heads[0].strip()) == 40


def test_a_folder_that_is_not_empty_is_left_alone(generator: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("x", encoding="utf-8")
    with pytest.raises(SystemExit):
        generator.main([str(tmp_path)])
    assert list(contents(tmp_path)) == ["kept.txt"]
