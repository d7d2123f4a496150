"""Pairs of revisions from real histories of prompts: the diff reports what a good diff reports.

Each prompt file of a revision becomes one section of a template, in a repository that the test builds.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from diff_projects import by_id, diff_of, fixture, template, text_of
from repos import Repo

from ctxc.model.change import Change, Hunk, SectionChange

_VARIABLE = re.compile(r"\{\{([ \t]*[A-Za-z_][A-Za-z0-9_]*[ \t]*)\}\}")
_USER = "{id: user, source: runtime, required: true}"

History = Callable[[str], Path]


@pytest.fixture(scope="module")
def history(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> History:
    """``history(name)`` is a clone of one of the shared bundles."""
    made: dict[str, Path] = {}

    def clone(name: str) -> Path:
        if name not in made:
            target = tmp_path_factory.mktemp("histories") / name
            bundle = shared / "histories" / f"{name}.bundle"
            subprocess.run(["git", "clone", "-q", "--no-checkout", bundle, target], check=True, capture_output=True)
            made[name] = target
        return made[name]

    return clone


@pytest.fixture(scope="module")
def pairs(shared: Path) -> dict[tuple[str, str], dict[str, str]]:
    """The pairs by repository and old revision."""
    lines = (shared / "histories" / "pairs.jsonl").read_text(encoding="utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    return {(p["repo"], p["old"]): p for p in found}


def git(repository: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", "-C", repository, *arguments], check=True, capture_output=True).stdout


def prompts(repository: Path, revision: str, path: str) -> dict[str, str]:
    """The prompt file at a revision, or every file below a folder."""
    names = git(repository, "ls-tree", "-r", "-z", "--name-only", revision, "--", path).split(b"\0")[:-1]
    return {n.decode(): git(repository, "show", f"{revision}:{n.decode()}").decode() for n in names}


def wrapped(texts: Mapping[str, str], order: list[str]) -> dict[str, str]:
    """A project in which each prompt that says something is a section: as it stands, its braces included."""
    files = {"tests/fixtures/a.yaml": fixture("a")}
    sections = []
    for number, name in enumerate(order):
        if texts.get(name, "").strip():
            path = f"policies/p{number:04d}.txt"
            files[path] = _VARIABLE.sub(r"{{{{\1}}}}", texts[name])
            sections.append(f"{{id: p{number:04d}, kind: policy, source: {path}, required: true, cacheable: true}}")
    files["templates/t.yaml"] = template("t", *sections, _USER, more="budget: {window: 2000000}\n")
    return files


def compared(repo: Repo, repository: Path, old: str, new: str, path: str) -> Change:
    """The diff of the wrapped prompts of two revisions."""
    texts = [prompts(repository, revision, path) for revision in (old, new)]
    order = sorted({*texts[0], *texts[1]})
    repo.commit("base", wrapped(texts[0], order))
    for gone in set(wrapped(texts[0], order)) - set(wrapped(texts[1], order)):
        (repo.path / gone).unlink()
    repo.commit("head", wrapped(texts[1], order))
    return diff_of(repo, base="HEAD~1", head="HEAD")


def only_section(change: Change) -> SectionChange:
    told = by_id(change)["a"]
    assert [s.section_id for s in told.sections] == ["p0000"]
    return told.sections[0]


def places(section: SectionChange) -> int:
    return sum(h.count for h in section.hunks)


def changed(hunk: Hunk) -> list[tuple[str, str]]:
    return [(r.op, r.text) for r in hunk.runs if r.op != "=" and r.op != "~"]


CLINE = "cline-system-prompt-snapshots"


def test_a_spelling_fix_that_costs_no_token_and_the_cache(repo: Repo, history: History, pairs: dict) -> None:
    pair = pairs[CLINE, "da7bc1e1d6"]
    repository = history(CLINE)
    old, new = (prompts(repository, pair[k], pair["path"])[pair["path"]].encode() for k in ("old", "new"))
    assert len(old) == len(new) == 57_625
    change = compared(repo, repository, pair["old"], pair["new"], pair["path"])
    section = only_section(change)
    assert section.delta == 0 and section.facets == ("content",)
    # The count and the first place, found here by other means.
    expected = sum(one != other for one, other in zip(old.split(b" "), new.split(b" "), strict=True))
    assert places(section) == expected > 5
    assert len(section.hunks) == 1, "the same fix, told once"
    assert set(changed(section.hunks[0])) == {("-", "seperate"), ("+", "separate")}
    first = by_id(change)["a"].prefix.first_difference
    byte = next(n for n in range(len(old)) if old[n] != new[n])
    assert byte == 3_280 or abs(byte - 3_280) < 8
    request = by_id(change)["a"]
    wrapper = first.byte - byte  # the model's name and the block's header stand in front
    assert 0 < wrapper < 200
    assert 5.0 <= first.percent <= 7.0
    assert request.prefix.lost_tokens > 0.9 * request.prefix.base_tokens
    assert f"the same change {expected} times" in text_of(change)


def test_guidance_that_was_inserted_and_reverted(repo: Repo, history: History, pairs: dict) -> None:
    pair = pairs[CLINE, "7adecf7e92"]
    repository = history(CLINE)
    change = compared(repo, repository, pair["old"], pair["new"], pair["path"])
    section = only_section(change)
    assert 80 <= section.delta <= 100
    # The next commit takes it back: the same difference the other way, and none over both.
    reverted = prompts(repository, "79193c1193", pair["path"])
    order = [pair["path"]]
    repo.commit("reverted", wrapped(reverted, order))
    back = only_section(diff_of(repo, base="HEAD~1", head="HEAD"))
    assert back.delta == -section.delta
    both = diff_of(repo, base="HEAD~2", head="HEAD")
    assert both.is_empty and both.sources == ()


def test_a_tool_section_that_is_gone_and_nothing_else(repo: Repo, history: History, pairs: dict) -> None:
    pair = pairs[CLINE, "505149aa33"]
    section = only_section(compared(repo, history(CLINE), pair["old"], pair["new"], pair["path"]))
    assert [h.kind for h in section.hunks] == ["removed"]
    assert section.hunks[0].runs[0].text.count("\n") > 10 and "new_task" in section.hunks[0].runs[0].text
    assert abs(section.delta + 431) <= 5
    assert "order" not in section.facets


def test_a_feature_that_was_added_and_reverted_leaves_no_trace(repo: Repo, history: History, pairs: dict) -> None:
    name = "gemini-cli-prompt-snapshots"
    pair = pairs[name, "099176ee0a"]
    repository = history(name)
    change = compared(repo, repository, pair["old"], pair["new"], pair["path"])
    assert change.is_empty and change.sources == () and by_id(change) == {}
    # The state between them is a difference, and a large one.
    between = git(
        repository, "rev-list", "--ancestry-path", f"{pair['old']}..{pair['new']}", "--", pair["path"]
    ).split()
    middle = between[-1].decode()
    repo.commit("middle", wrapped(prompts(repository, middle, pair["path"]), [pair["path"]]))
    grown = only_section(diff_of(repo, base="HEAD~1", head="HEAD"))
    assert grown.delta > 10_000 and grown.base_tokens > 25_000


def test_examples_that_are_gone_from_every_variant(repo: Repo, history: History, pairs: dict) -> None:
    name = "gemini-cli-prompt-snapshots"
    pair = pairs[name, "5b213afa21"]
    change = compared(repo, history(name), pair["old"], pair["new"], pair["path"])
    section = only_section(change)
    assert {h.kind for h in section.hunks} == {"removed"}, "no additions, no edits"
    lines = sum(h.count * (h.runs[0].text.count("\n") + 1) for h in section.hunks)
    assert abs(lines - 864) <= 20
    assert max(h.count for h in section.hunks) > 5, "the same block, from one variant after the other, told once"
    assert -9_000 < section.delta < -8_000


def test_a_doubled_file_and_its_revert(repo: Repo, history: History, pairs: dict) -> None:
    name = "pydantic-ai-agents-md"
    pair = pairs[name, "8f845b3de3"]
    repository = history(name)
    change = compared(repo, repository, pair["old"], pair["new"], pair["path"])
    assert change.is_empty and change.sources == ()
    between = git(repository, "rev-list", f"{pair['old']}..{pair['new']}", "--", pair["path"]).split()
    sizes = []
    for number, revision in enumerate(between[1:]):
        texts = prompts(repository, revision.decode(), pair["path"])
        repo.commit(f"between {number}", wrapped(texts, [pair["path"]]))
        told = by_id(diff_of(repo, base="HEAD~1", head="HEAD", allow_same=True)).get("a")
        if told is not None and told.sections:
            sizes.append((told.sections[0].base_tokens, told.sections[0].head_tokens))
    assert any(head > 1.8 * base and 2_000 < base < 2_300 for base, head in sizes), sizes


def test_new_lines_in_a_hundred_rules_are_mostly_white_space(repo: Repo, history: History, pairs: dict) -> None:
    name = "awesome-cursorrules-rules"
    pair = pairs[name, "1633d75931^"]
    change = compared(repo, history(name), pair["old"], pair["new"], pair["path"])
    totals = change.totals
    assert totals.whitespace_sections > 0.5 * totals.sections
    assert f"{totals.whitespace_sections:,} of {totals.sections:,} changes of sections: white space only" in text_of(
        change
    )
