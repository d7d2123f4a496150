"""Faults reported of other tools, as ``ctxc diff`` meets them; the ids are those of ``tests/cases``."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from diff_projects import by_id, diff_of, fixture, run_command, template, text_of
from repos import Repo

AGENTS = {
    "templates/t.yaml": template("t", "{id: rules, kind: policy, source: AGENTS.md, required: true, cacheable: true}",
                                 "{id: user, source: runtime, required: true}"),
    "tests/fixtures/a.yaml": fixture("a"),
}  # fmt: skip


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root, to give a repository away")
def test_gt_005_a_repository_of_another_user(repo: Repo, tmp_path: Path) -> None:
    """In a container the repository belongs to another user, and git refuses it."""
    repo.commit("a", {**AGENTS, "AGENTS.md": "a\n"})
    repo.commit("b", {"AGENTS.md": "b\n"})
    subprocess.run(["chown", "-R", "12345:12345", str(repo.path)], check=True)
    home = tmp_path / "home"
    home.mkdir()
    status, out, err = run_command(repo, "diff", "HEAD~1", "HEAD", HOME=str(home))
    assert status != 0 and out == ""
    assert "safe.directory" in err and "not a git repository" not in err
    assert not (home / ".gitconfig").exists()


def test_gt_008_the_environment_of_a_hook(repo: Repo, tmp_path: Path) -> None:
    """Inherited GIT_DIR and GIT_INDEX_FILE redirect git commands and change core.bare."""
    repo.commit("a", {**AGENTS, "AGENTS.md": "a\n"})
    repo.commit("b", {"AGENTS.md": "b\n"})
    config = (repo.path / ".git/config").read_bytes()
    hook = {"GIT_DIR": ".git", "GIT_INDEX_FILE": ".git/index", "GIT_WORK_TREE": "."}
    status, out, _ = run_command(repo, "diff", "HEAD~1", "HEAD", **hook)
    assert status == 0 and "1 of 1 fixture differs" in out
    other = Repo(tmp_path / "other")
    other.commit("other", {"x": "x\n"})
    status, out, err = run_command(repo, "diff", "HEAD~1", "HEAD", "-v", GIT_DIR=str(other.path / ".git"))
    assert status == 0 and "1 of 1 fixture differs" in out
    assert f"the one of this folder is used: '{repo.path / '.git'}'" in err
    assert (repo.path / ".git/config").read_bytes() == config


def test_gt_010_names_that_are_not_ascii(repo: Repo) -> None:
    """Non-ASCII paths come back quoted and octal-escaped and are lost."""
    name = "docs ü/設計 メモ.md"
    files = {k: v.replace("AGENTS.md", f"'{name}'") for k, v in AGENTS.items()}
    repo.commit("a", {**files, name: "one\n"})
    repo.commit("b", {name: "two\n"})
    status, out, _ = run_command(repo, "diff", "HEAD~1", "HEAD", "-f", "json")
    assert status == 0
    assert [s["path"] for s in json.loads(out)["sources"]] == [name]
    assert name in out and "\\3" not in out and f'\\"{name}' not in out
    assert name in run_command(repo, "diff", "HEAD~1", "HEAD")[1]


def test_gt_014_what_was_compared_is_said(repo: Repo) -> None:
    """The hook checks the working tree, the commit records the index."""
    repo.commit("a", {**AGENTS, "AGENTS.md": "trusted\n"})
    repo.write("AGENTS.md", "staged\n")
    repo.git("add", "-A")
    repo.write("AGENTS.md", "trusted\n")
    status, out, _ = run_command(repo, "diff", "HEAD", "--staged")
    assert status == 0 and "→ the index" in out and "1 + staged" in out
    status, out, err = run_command(repo, "diff", "HEAD")
    assert status == 2 and "nothing is changed in the work tree" in err and out == ""


def test_gt_015_a_linked_work_tree(repo: Repo, tmp_path: Path) -> None:
    """In a worktree or submodule .git is a file."""
    repo.commit("a", {**AGENTS, "AGENTS.md": "a\n"})
    repo.commit("b", {"AGENTS.md": "b\n"})
    repo.git("worktree", "add", "-q", str(tmp_path / "wt"), "HEAD~1")
    status, out, _ = run_command(repo, "diff", "HEAD", "main", cwd=tmp_path / "wt")
    assert status == 0 and "1 of 1 fixture differs" in out


def test_dn_001_line_endings_are_no_change(repo: Repo) -> None:
    """Everything is "modified" because one side has CRLF."""
    text = "# Rules\n- One\n- Two\n"
    repo.commit("lf", {**AGENTS, "AGENTS.md": text})
    repo.commit("crlf", {k: v.replace("\n", "\r\n") for k, v in {**AGENTS, "AGENTS.md": text}.items()})
    change = diff_of(repo, base="HEAD~1", head="HEAD")
    assert change.is_empty and {s.line_endings for s in change.sources} == {True}
    assert change.totals.sections == 0 and change.versions == ()


def tools_project(tools: object, order: str) -> dict[str, str]:
    return {
        "templates/t.yaml": (
            "template_id: t\nversion: 1\nprovider: openai\nmodel: gpt-4.1\nrequest_profile: p\nsections:\n"
            "  - {id: tools, source: toolset, cacheable: true, required: true}\n"
            "  - {id: user, source: runtime, required: true}\n"
        ),
        "templates/p.yaml": "profile_id: p\nversion: 1\ntoolset: ts\n",
        "templates/ts.yaml": f"toolset_id: ts\nversion: 1.0.0\norder: {order}\nmcp: tools.json\n",
        "templates/tools.json": json.dumps(tools, indent=1),
        "tests/fixtures/a.yaml": fixture("a"),
    }


def test_dn_003_a_moved_item_with_one_changed_field(repo: Repo) -> None:
    """A moved item with one changed field is shown as one removed and one added."""
    a = {
        "name": "a",
        "description": "A tool",
        "inputSchema": {"type": "object", "properties": {"x": {"type": "string"}}},
    }
    b = {"name": "b", "description": "B tool", "inputSchema": {"type": "object"}}
    turned = {**a, "inputSchema": {"type": "object", "properties": {"x": {"type": "integer"}}}}
    repo.commit("1", tools_project([a, b], "given"))
    repo.commit("2", tools_project([b, turned], "given"))
    tools = by_id(diff_of(repo, base="HEAD~1", head="HEAD"))["a"].tools
    assert tools is not None and (tools.added, tools.removed) == (0, 0)
    (told,) = tools.tools
    assert (told.name, told.moved, told.base_position, told.head_position) == ("a", True, 0, 1)
    assert [(c.pointer, c.base, c.head) for c in told.changes] == [("/properties/x/type", "string", "integer")]


def clock(now: str) -> dict[str, str]:
    listed = (
        '{id: clock, kind: policy, source: literal, text: "Current time is {{now}}.", cacheable: true}',
        '{id: rules, kind: policy, source: literal, text: "You control a house. Follow the rules below.", cacheable: true}',
        "{id: user, source: runtime, required: true}",
    )
    return {
        "templates/home.yaml": template("t", *listed, more=f'variables: {{now: "{now}"}}\n'),
        "tests/fixtures/a.yaml": fixture("a"),
    }


def test_cp_001_a_clock_at_the_top_of_the_prompt(repo: Repo) -> None:
    """A wall-clock line at offset 0 of the system prompt: the cache is written every turn and never read."""
    repo.commit("1", clock("15:09:20"))
    repo.commit("2", clock("15:09:34"))
    change = diff_of(repo, base="HEAD~1", head="HEAD")
    prefix = by_id(change)["a"].prefix
    assert prefix is not None and not prefix.stable and prefix.first_difference is not None
    first = prefix.first_difference
    assert (first.section_id, first.path, first.line) == ("clock", "templates/home.yaml", 7)
    assert first.token is not None and prefix.base_tokens - prefix.lost_tokens == first.token
    assert first.token < 35, "what stays is the wrapper and four words"
    assert [v.reason for v in change.versions] == ["variable now"]


@pytest.mark.parametrize("order", ["name", "given"])
def test_cp_002_the_same_tools_in_another_order(repo: Repo, order: str) -> None:
    """The same tools arrive in another order on the next message."""
    tools = [{"name": n, "description": n, "inputSchema": {"type": "object"}} for n in ("alpha", "beta", "gamma")]
    repo.commit("1", tools_project(tools, order))
    repo.commit("2", tools_project([tools[1], tools[0], tools[2]], order))
    change = diff_of(repo, base="HEAD~1", head="HEAD")
    assert "same 3 tools, order changed" in text_of(change)
    if order == "name":
        assert change.is_empty
    else:
        prefix = by_id(change)["a"].prefix
        assert prefix is not None and not prefix.stable and prefix.base_hash != prefix.head_hash


def test_cp_003_a_counter_in_a_header(repo: Repo) -> None:
    """A usage counter in a header changes the prefix."""

    def made(share: int, used: str) -> dict[str, str]:
        listed = (
            '{id: memory, kind: policy, source: literal, text: "MEMORY [{{share}}% - {{used}}/2,200 chars]", cacheable: true}',
            '{id: body, kind: policy, source: literal, text: "Long stable text.", cacheable: true}',
            "{id: user, source: runtime, required: true}",
        )
        more = f'variables: {{share: "{share}", used: "{used}"}}\n'
        return {"templates/m.yaml": template("t", *listed, more=more), "tests/fixtures/a.yaml": fixture("a")}

    repo.commit("1", made(49, "1,085"))
    repo.commit("2", made(50, "1,101"))
    told = by_id(diff_of(repo, base="HEAD~1", head="HEAD"))["a"]
    assert told.prefix is not None and told.prefix.first_difference is not None
    assert told.prefix.first_difference.section_id == "memory"
    assert [s.section_id for s in told.sections] == ["memory"]


def test_cp_005_a_timestamp_behind_the_cached_part(repo: Repo) -> None:
    """A timestamp inside a tool result was blamed for cache misses; it comes after the cached part."""

    def made(now: str) -> dict[str, str]:
        listed = (
            '{id: rules, kind: policy, source: literal, text: "Stable rules.", cacheable: true}',
            "{id: last_tool_result, kind: tool_result, source: runtime}",
            "{id: user, source: runtime, required: true}",
        )
        text = fixture("a") + f'  tool_results:\n    - {{call_id: c1, status: ok, data: "finished at {now}"}}\n'
        return {"templates/t.yaml": template("t", *listed), "tests/fixtures/a.yaml": text}

    repo.commit("1", made("10:00:00"))
    repo.commit("2", made("10:00:09"))
    change = diff_of(repo, base="HEAD~1", head="HEAD")
    prefix = by_id(change)["a"].prefix
    assert prefix is not None and prefix.stable and prefix.base_hash == prefix.head_hash
    assert prefix.lost_tokens == 0 and prefix.first_difference is not None
    assert prefix.first_difference.reason == "messages_changed"
    assert "stable: every cached prefix is byte for byte the same" in text_of(change)
