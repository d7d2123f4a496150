"""A side that does not compile: it is said so with the reason, and nothing is called removed or added because of it."""

from __future__ import annotations

import json

import pytest
from diff_projects import basic, by_id, diff_of, fixture, text_of
from repos import Repo
from shell import run_process

from ctxc.model.change import Change

CONVERSATION = (
    "conversation_id: a\ntemplate: t\nroute: {area: returns}\nturns:\n"
    "  - {fixture_id: a1, inputs: {user: One.}, reply: Yes.}\n  - {fixture_id: a2, inputs: {user: Two.}}\n"
)


def broken() -> dict[str, dict[str, str]]:
    """Ways in which fixture ``a`` does not compile any more: file to text."""
    return {
        "a name": {"tests/fixtures/a.yaml": fixture("a", more="provider: nobody\n")},
        "the syntax": {"tests/fixtures/a.yaml": fixture("a") + "x: [\n"},
        "a value": {"tests/fixtures/a.yaml": fixture("a", more="weight: heavy\n")},
        "the template": {"templates/t.yaml": "template_id: t\nversion: 1\nsections: none\n"},
        "a fragment": {"fragments/returns.md": "---\nfragment_id: returns\nkind: core\n---\nText.\n"},
    }


def says_nothing_false(change: Change, text: str) -> None:
    told = by_id(change)["a"]
    assert told.status == "changed"
    assert (told.sections, told.drops, told.tools, told.contract, told.prefix) == ((), (), None, None, None)
    assert {f.name for f in told.fields} == {"outcome", "problems"}
    assert told.tokens.delta is None
    assert not any(f.status in ("added", "removed") for f in change.fixtures)
    assert not any(v.status in ("added", "removed") for v in change.versions)
    assert change.edits == ()
    assert {b.status for b in (*told.base_layout, *told.head_layout)} == {"unchanged"}
    assert "removed" not in text and " added" not in text


@pytest.mark.parametrize("how", broken())
def test_a_head_that_does_not_compile(repo: Repo, how: str) -> None:
    repo.commit("base", basic())
    repo.commit("head", broken()[how])
    change = diff_of(repo, base="HEAD~1", head="HEAD")
    told = by_id(change)["a"]
    assert (told.base_outcome, told.head_outcome) == ("compiled", "invalid")
    assert told.problems and not told.base_problems
    for form in ("text", "markdown", "html"):
        text = text_of(change, form)
        assert "not compile at head" in text
        assert told.problems[0].split(": ")[0].split(":")[0] in text
    says_nothing_false(change, text_of(change))
    value = json.loads(text_of(change, "json"))
    (row,) = (f for f in value["fixtures"] if f["fixture_id"] == "a")
    assert (row["outcome"], row["sections"], row["base_problems"]) == (
        {"base": "compiled", "head": "invalid"}, [], [],
    )  # fmt: skip
    assert row["problems"] == list(told.problems)


@pytest.mark.parametrize("how", broken())
def test_a_base_that_did_not_compile(repo: Repo, how: str) -> None:
    files = basic()
    repo.commit("base", {**files, **broken()[how]})
    repo.commit("head", files)
    change = diff_of(repo, base="HEAD~1", head="HEAD")
    told = by_id(change)["a"]
    assert (told.base_outcome, told.head_outcome) == ("invalid", "compiled")
    assert told.base_problems and not told.problems
    assert "not compile at base: " in text_of(change)
    says_nothing_false(change, text_of(change))


def test_the_turns_of_a_conversation_that_is_broken_are_not_removed(repo: Repo) -> None:
    repo.commit("base", {**basic(), "tests/fixtures/a.yaml": CONVERSATION})
    repo.commit("head", {"tests/fixtures/a.yaml": CONVERSATION + "x: [\n"})
    told = by_id(diff_of(repo, base="HEAD~1", head="HEAD"))
    assert {(told[n].status, told[n].head_outcome) for n in ("a1", "a2")} == {("changed", "invalid")}
    assert told["a1"].problems == told["a2"].problems != ()


def test_a_fixture_that_moved_and_broke_is_not_removed(repo: Repo) -> None:
    repo.commit("base", basic())
    (repo.path / "tests/fixtures/a.yaml").unlink()
    repo.commit("head", {"tests/fixtures/z.yaml": fixture("a", more="weight: heavy\n")})
    told = by_id(diff_of(repo, base="HEAD~1", head="HEAD"))["a"]
    assert (told.status, told.head_outcome) == ("changed", "invalid")
    assert told.problems[0].startswith("tests/fixtures/z.yaml:4:9: CTX")


def test_a_fixture_that_is_gone_beside_one_that_is_broken_is_removed(repo: Repo) -> None:
    repo.commit("base", basic())
    (repo.path / "tests/fixtures/b.yaml").unlink()
    repo.commit("head", {"tests/fixtures/a.yaml": fixture("a", more="weight: heavy\n")})
    told = by_id(diff_of(repo, base="HEAD~1", head="HEAD"))
    assert (told["a"].status, told["b"].status) == ("changed", "removed")


def test_broken_on_both_sides(repo: Repo) -> None:
    repo.commit("base", {**basic(), "tests/fixtures/a.yaml": fixture("a", more="provider: nobody\n")})
    repo.commit("head", {"tests/fixtures/a.yaml": fixture("a", more="provider: nowhere\n")})
    told = by_id(diff_of(repo, base="HEAD~1", head="HEAD"))["a"]
    assert told.problems != told.base_problems
    assert [f.name for f in told.fields] == ["problems"]


def test_the_status_is_one_where_head_is_broken_and_not_where_base_was(repo: Repo) -> None:
    repo.commit("one", basic())
    repo.commit("two", broken()["a name"])
    repo.commit("three", {"tests/fixtures/a.yaml": fixture("a", user="Hi")})
    for more in ([], ["--format", "json"], ["--no-cache"]):
        assert run_process(repo.path, "diff", "HEAD~2", "HEAD~1", *more).returncode == 1
        assert run_process(repo.path, "diff", "HEAD~1", "HEAD", *more).returncode == 0
        assert run_process(repo.path, "diff", "HEAD~2", "HEAD", *more).returncode == 0
