"""The page about diffs shows what the command prints, and says of schemas and versions what the code does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from shell import clean_environment

from ctxc.app.init import write_starter
from ctxc.compare.schemas import schema_changes
from ctxc.model.facets import FACETS

PAGE = Path(__file__).parents[2] / "docs" / "diff.md"
OUTPUT = re.compile(r"<!-- output: ctxc ([^\n]*) -->\n```text\n(.*?)```\n", re.DOTALL)


def edited(root: Path) -> None:
    """The starter project with the two edits that the page speaks of."""
    write_starter(root)
    names = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com", "GIT_COMMITTER_NAME": "a",
             "GIT_COMMITTER_EMAIL": "a@example.com", "GIT_CONFIG_GLOBAL": os.devnull, "PATH": os.environ["PATH"]}  # fmt: skip
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "base"]):
        subprocess.run(["git", *arguments], cwd=root, check=True, env=names)
    policy = root / "policies/platform.md"
    text = policy.read_text(encoding="utf-8")
    assert "help desk of Example Shop." in text
    policy.write_text(text.replace("Example Shop.", "Example Shop, release 2026-11."), encoding="utf-8", newline="\n")
    with (root / "fragments/task/refund.md").open("a", encoding="utf-8", newline="\n") as stream:
        stream.write("Ask for the order number first.\n")


def printed(root: Path, command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "ctxc", *command.split(), "--no-cache"],
        cwd=root, capture_output=True, check=False, env=clean_environment(),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    return re.sub(r"\b[0-9a-f]{12}\b", "9e1c8dd90f18", done.stdout.decode("utf-8"))  # the example's own commit


def test_the_page_shows_real_output(tmp_path: Path, update_goldens: bool) -> None:
    edited(tmp_path / "project")
    text = PAGE.read_text(encoding="utf-8")
    if update_goldens:
        text = OUTPUT.sub(
            lambda m: f"<!-- output: ctxc {m[1]} -->\n```text\n{printed(tmp_path / 'project', m[1])}```\n", text
        )
        PAGE.write_text(text, encoding="utf-8", newline="\n")
    blocks = OUTPUT.findall(text)
    assert len(blocks) == 1
    for command, shown in blocks:
        assert shown == printed(tmp_path / "project", command)
    prefix = re.search(r"### The first difference\n\n```text\n(.*?)```", text, re.DOTALL)
    assert prefix is not None
    assert prefix[1] in blocks[0][1], "the same lines are shown twice"


def test_every_facet_is_explained() -> None:
    text = PAGE.read_text(encoding="utf-8")
    table = text.split("| facet | differs when |")[1].split("\n\n")[0]
    assert sorted(re.findall(r"`(\w+)`", table)) == sorted(FACETS)


A = {"type": "string"}
ROWS: dict[str, tuple[Any, Any]] = {
    "required field added, or a field is now required": ({"properties": {"a": A}}, {"properties": {"a": A}, "required": ["a"]}),
    "field removed": ({"properties": {"a": A, "b": A}}, {"properties": {"a": A}}),
    "optional field added": ({"properties": {"a": A}}, {"properties": {"a": A, "b": A}}),
    "field no longer required": ({"properties": {"a": A}, "required": ["a"]}, {"properties": {"a": A}}),
    "enum narrowed": ({"enum": ["a", "b"]}, {"enum": ["a"]}),
    "enum widened": ({"enum": ["a"]}, {"enum": ["a", "b"]}),
    "type narrowed, or another type": ({"type": "string"}, {"type": "number"}),
    "type widened": ({"type": "string"}, {"type": ["string", "null"]}),
    "unknown fields refused": ({"additionalProperties": True}, {"additionalProperties": False}),
    "`pattern`, `not`, `if`, `$ref`, … added or changed": ({"pattern": "a"}, {"pattern": "b"}),
    "description, title, examples, default": ({"description": "a"}, {"description": "b"}),
}  # fmt: skip


@pytest.mark.parametrize("row", list(ROWS))
def test_the_table_of_schemas_is_what_the_code_does(row: str) -> None:
    lines = [line.split("|") for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith(f"| {row} |")]
    assert len(lines) == 1, row
    _, _, tool, contract, _ = (part.strip() for part in lines[0])
    base, head = ROWS[row]
    for told, role in ((tool, "input"), (contract, "output")):
        changes = schema_changes(base, head, role)
        assert changes, row
        assert any(c.breaking for c in changes) == told.startswith("breaks"), (row, role, told)


def test_bounds_are_told_as_they_are_judged() -> None:
    assert "| bound tightened / loosened | breaks / – | breaks / – |" in PAGE.read_text(encoding="utf-8")
    for role in ("input", "output"):
        (tight,) = schema_changes({"maxLength": 9}, {"maxLength": 5}, role)
        (loose,) = schema_changes({"maxLength": 5}, {"maxLength": 9}, role)
        assert (tight.breaking, loose.breaking) == (True, False)


def test_its_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", PAGE.read_text(encoding="utf-8")):
        assert (PAGE.parent / target).exists(), target
