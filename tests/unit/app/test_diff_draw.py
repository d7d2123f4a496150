"""A change is drawn once; what was drawn of the same two trees is returned without comparing anything again."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from shell import clean_environment

from ctxc.app.diff import Drawing, Drawn, draw_diff
from ctxc.app.diff_sides import DiffRequest
from ctxc.app.workspace import open_workspace
from ctxc.model.facets import FACETS

FRAGMENT = "fragments/core/sources.md"
PROBE = """
import json, sys
from ctxc.__main__ import main
status = main(json.loads(sys.argv[1]))
sys.stderr.write("\\n" + json.dumps([status, sorted(sys.modules)]))
"""


def git(folder: Path, *arguments: str) -> None:
    names = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com", "GIT_COMMITTER_NAME": "a",
             "GIT_COMMITTER_EMAIL": "a@example.com", "GIT_CONFIG_GLOBAL": os.devnull}  # fmt: skip
    subprocess.run(
        ["git", "-c", "init.defaultBranch=main", *arguments],
        cwd=folder, check=True, capture_output=True, env={"PATH": os.environ["PATH"], **names},
    )  # fmt: skip


@pytest.fixture
def edited(starter: Path) -> Path:
    """The starter project in a repository, and one edit of a fragment."""
    place = starter / FRAGMENT
    git(starter, "init", "-q")
    git(starter, "add", "-A")
    git(starter, "commit", "-q", "-m", "base")
    place.write_text(place.read_text(encoding="utf-8") + "Answer in one sentence.\n", encoding="utf-8")
    git(starter, "commit", "-q", "-a", "-m", "head")
    return starter


@pytest.fixture
def draw(edited: Path, tmp_path: Path) -> Iterator[object]:
    def now(*drawings: Drawing, **request: object) -> Drawn:
        workspace = open_workspace(
            edited, flags={}, environment={"PATH": os.environ["PATH"]}, cache_dir=str(tmp_path / "cache")
        )
        return draw_diff(workspace, DiffRequest(**{"base": "HEAD~1", "head": "HEAD", **request}), drawings)

    yield now


def test_what_was_drawn_before_is_returned_as_it_was(draw) -> None:
    wanted = (Drawing(format="text"), Drawing(format="markdown"), Drawing(format="html"), Drawing(format="json"))
    cold = draw(*wanted)
    warm = draw(*wanted)
    assert warm.texts == cold.texts
    assert cold.differs and warm.differs
    assert "from the cache: these two trees were compared before" in warm.notes
    assert "from the cache: these two trees were compared before" not in cold.notes
    assert "Answer in one sentence." in cold.texts[0]
    assert json.loads(cold.texts[3])["totals"]["changed"] >= 1


def test_each_way_of_drawing_is_kept_apart(draw) -> None:
    """Nothing that changes a text may be missing in the key under which it is kept."""
    ways = [
        Drawing(format="text"),
        Drawing(format="text", width=60),
        Drawing(format="text", color=True),
        Drawing(format="text", stat=True),
        Drawing(format="text", facets=("prefix",)),
        Drawing(format="markdown"),
    ]
    first = [draw(w).texts[0] for w in ways]
    assert len(set(first)) == len(ways)
    assert [draw(w).texts[0] for w in ways] == first
    assert draw(ways[0], context=0).texts[0] != draw(ways[0], context=2).texts[0]
    assert draw(ways[0], base="HEAD~1", head="main").texts[0] != first[0], "the name of a side is part of the text"


@pytest.mark.parametrize("facet", FACETS)
@pytest.mark.parametrize("format", ["text", "markdown", "html", "json"])
def test_every_facet_can_be_drawn_alone(draw, facet: str, format: str) -> None:
    whole, narrow = draw(Drawing(format=format)).texts[0], draw(Drawing(format=format, facets=(facet,))).texts[0]
    assert len(narrow) <= len(whole)
    assert ("Answer in one sentence." in narrow) == (facet in ("content", "tokens")) or format != "json"


def test_what_is_kept_is_not_believed_blindly(draw, tmp_path: Path) -> None:
    cold = draw(Drawing(format="text"))
    for value in (b"[1, 2]", b"not json", b"[true]", b"[" * 100_000):
        with sqlite3.connect(next((tmp_path / "cache").glob("*.sqlite3"))) as store:
            store.execute("update blobs set value = ? where space = 'app.diff.drawn'", (value,))
        assert draw(Drawing(format="text")).texts == cold.texts


def test_two_equal_trees_are_never_compiled(draw) -> None:
    drawn = draw(Drawing(format="text"), base="HEAD", head="HEAD", allow_same=True)
    assert not drawn.differs
    assert "both sides are the same tree" in drawn.notes


def start(folder: Path, cache: Path, *arguments: str) -> tuple[int, set[str], str]:
    done = subprocess.run(
        [sys.executable, "-c", PROBE, json.dumps(arguments)],
        cwd=folder, capture_output=True, text=True, encoding="utf-8", check=False,
        env={**clean_environment(), "CTXC_CACHE_DIR": str(cache)},
    )  # fmt: skip
    status, modules = json.loads(done.stderr.splitlines()[-1])
    return status, set(modules), done.stdout


@pytest.mark.parametrize("head", ["HEAD", "HEAD~0"])
def test_a_diff_that_is_known_imports_no_more_than_it_must(edited: Path, tmp_path: Path, head: str) -> None:
    cold = start(edited, tmp_path / "cache", "diff", "HEAD~1", head, "--exit-code")
    status, modules, out = start(edited, tmp_path / "cache", "diff", "HEAD~1", head, "--exit-code")
    assert (status, out) == (1, cold[2])
    heavy = ("rich", "jsonschema", "yaml", "tiktoken", "deepdiff", "pydantic", "regex", "re2", "tomllib")
    assert [m for m in heavy if m in modules] == []
    layers = ("ctxc.compiler", "ctxc.parse", "ctxc.compare", "ctxc.providers", "ctxc.rules", "ctxc.report.diffs")
    assert sorted(m for m in modules if m.startswith(layers)) == []
    assert not any(m.startswith("ctxc.cli.commands.") and m != "ctxc.cli.commands.diff" for m in modules)


def test_a_diff_of_plain_texts_needs_no_deepdiff(edited: Path, tmp_path: Path) -> None:
    status, modules, out = start(edited, tmp_path / "cache", "diff", "HEAD~1", "HEAD")
    assert status == 0 and "Answer in one sentence." in out
    assert "deepdiff" not in modules and "rich" not in modules
