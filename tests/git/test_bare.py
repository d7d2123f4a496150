"""A bare repository: two revisions of it can be compared; every other command says what is missing."""

from __future__ import annotations

from pathlib import Path

import pytest
from diff_projects import basic, diff_of, fixture, text_of
from repos import Repo
from shell import run_process

from ctxc.base.errors import RevisionError


@pytest.fixture
def bare(repo: Repo, tmp_path: Path) -> Path:
    repo.commit("base", basic())
    repo.commit("head", {"tests/fixtures/a.yaml": fixture("a", user="Hi there"), "ctxc.yaml": "provider: text\n"})
    path = tmp_path / "bare.git"
    repo.git("clone", "-q", "--bare", str(repo.path), str(path))
    return path


def test_two_revisions_are_compared_as_in_a_checkout(repo: Repo, bare: Path) -> None:
    there = diff_of(repo, at=bare, base="HEAD~1", head="HEAD")
    assert [f.fixture_id for f in there.fixtures if f.status != "unchanged"] == ["a"]
    assert text_of(there, "json") == text_of(diff_of(repo, base="HEAD~1", head="HEAD"), "json")


@pytest.mark.parametrize("request_", [{}, {"base": "HEAD"}, {"head": "HEAD"}, {"base": "HEAD", "staged": True}])
def test_a_diff_that_needs_a_work_tree_says_so(repo: Repo, bare: Path, request_: dict[str, str]) -> None:
    with pytest.raises(
        RevisionError, match=r"bare\.git' is a bare repository: it has no work tree and no index"
    ) as told:
        diff_of(repo, at=bare, **request_)
    assert "`ctxc diff BASE HEAD`" in told.value.help


@pytest.mark.parametrize(
    "arguments", ["compile", "lint", "list", "gate", "explain a", "snapshot check", "lint --staged", "cache"]
)
def test_other_commands_say_what_is_missing(repo: Repo, bare: Path, arguments: str) -> None:
    done = run_process(bare, *arguments.split(), **repo.environ)
    assert done.returncode == 2
    assert b"is a bare repository: it has no work tree and no index" in done.stderr
    assert b"Traceback" not in done.stderr and done.stdout == b""


def test_a_gate_over_two_revisions_works(repo: Repo, bare: Path) -> None:
    done = run_process(bare, "gate", "--against", "HEAD~1", "--rev", "HEAD", **repo.environ)
    assert done.returncode == 2, "there is no policy in this project"
    assert b"no policies" in done.stderr and b"bare" not in done.stderr


def test_a_folder_with_a_project_that_looks_like_one_is_a_project(repo: Repo, bare: Path) -> None:
    for path, text in basic().items():
        (bare / path).parent.mkdir(parents=True, exist_ok=True)
        (bare / path).write_text(text)
    assert run_process(bare, "compile", **repo.environ).returncode == 0


def test_a_bare_repository_inside_a_work_tree_is_not_used(repo: Repo, bare: Path) -> None:
    inner = repo.path / "inner.git"
    bare.rename(inner)
    repo.commit("one more", {"tests/fixtures/b.yaml": fixture("b", user="Another")})
    change = diff_of(repo, at=inner, base="HEAD~1", head="HEAD")
    assert [f.fixture_id for f in change.fixtures if f.status != "unchanged"] == ["b"]
