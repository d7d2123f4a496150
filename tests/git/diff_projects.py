"""Small projects in real repositories, and the diff of two of their states."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from repos import Repo

from ctxc.app.diff import diff_workspace
from ctxc.app.diff_sides import DiffRequest
from ctxc.app.workspace import open_workspace
from ctxc.model.change import Change, FixtureChange, SectionChange
from ctxc.report import View
from ctxc.report.diffs import DiffView, render

POLICY = """# Returns

You answer questions about returns.
Refund window is 30 days from delivery.
Never reveal internal notes.
Escalate every refund above 500 EUR to a manager.
"""


def template(name: str = "t", *sections: str, more: str = "", version: str = "1") -> str:
    """A template of the text shape, whose counts are exact."""
    listed = sections or (
        "{id: policy, source: policies/policy.md, required: true, cacheable: true}",
        "{id: fragments, kind: fragment, source: fragments, cacheable: true}",
        "{id: user, source: runtime, required: true}",
    )
    lines = "".join(f"  - {s}\n" for s in listed)
    return f"template_id: {name}\nversion: {version}\nprovider: text\nroute: [area]\n{more}sections:\n{lines}"


def fixture(
    name: str, *, template: str = "t", route: str = "{area: returns}", user: str = "Hello", more: str = ""
) -> str:
    """A fixture file."""
    inputs = f"inputs:\n  user: {json.dumps(user)}\n"
    return f"fixture_id: {name}\ntemplate: {template}\nroute: {route}\n{more}{inputs}"


def fragment(
    name: str, text: str, *, mode: str = "route_match", when: str = "{area: [returns]}", more: str = ""
) -> str:
    """A Markdown fragment with its manifest as front matter."""
    condition = f"applies_when: {when}\n" if mode == "route_match" else ""
    head = f"fragment_id: {name}\nversion: 1.0.0\nkind: family\nload_mode: {mode}\n{condition}{more}"
    return f"---\n{head}---\n{text}"


def basic() -> dict[str, str]:
    """Two templates' worth of files: a policy, two fragments, three fixtures."""
    return {
        "templates/t.yaml": template(),
        "policies/policy.md": POLICY,
        "fragments/returns.md": fragment("returns", "Ask for the order number.\nBe brief.\n"),
        "fragments/billing.md": fragment("billing", "Ask for the invoice.\n", when="{area: [billing]}"),
        "tests/fixtures/a.yaml": fixture("a"),
        "tests/fixtures/b.yaml": fixture("b", route="{area: billing}", user="Where is my invoice?"),
        "tests/fixtures/c.yaml": fixture("c", route="{area: other}"),
    }


def environment(repo: Repo, **more: str) -> dict[str, str]:
    """An environment in which nothing of the machine counts."""
    return {**repo.environ, **more}


def diff_of(repo: Repo, *, at: Path | None = None, env: Mapping[str, str] | None = None, **request: Any) -> Change:
    """The diff of a project in a repository, without a cache."""
    workspace = open_workspace(at or repo.path, flags={}, environment=environment(repo, **(env or {})), no_cache=True)
    change = diff_workspace(workspace, DiffRequest(**{"context": 0, **request})).change
    told = render("text", change, DiffView(view=View()))
    assert told.endswith("\n") and "\x1b" not in told
    return change


def text_of(change: Change, format: str = "text") -> str:
    """The change as a command prints it."""
    return render(format, change, DiffView(view=View()))


def by_id(change: Change) -> dict[str, FixtureChange]:
    """Fixtures by id."""
    return {f.fixture_id: f for f in change.fixtures}


def differing(change: Change) -> list[str]:
    """Ids of the fixtures that differ."""
    return [f.fixture_id for f in change.fixtures if f.status != "unchanged"]


def section(change: Change, fixture_id: str, section_id: str) -> SectionChange:
    """The change of one section; fails where it did not change."""
    found = [s for s in by_id(change)[fixture_id].sections if s.section_id == section_id]
    assert len(found) == 1, f"{section_id} is not among {[s.section_id for s in by_id(change)[fixture_id].sections]}"
    return found[0]


def runs(change: SectionChange) -> list[list[tuple[str, str]]]:
    """The runs of each hunk."""
    return [[(r.op, r.text) for r in h.runs] for h in change.hunks]


def comparable(change: Change) -> dict[str, Any]:
    """Everything that a diff says, without how it came to say it: what compiling everything must agree with."""
    value: dict[str, Any] = json.loads(text_of(change, "json"))
    value["whole"] = False
    value["totals"]["compiled"] = 0
    for each in value["fixtures"]:
        if each["status"] == "unchanged":
            # Of what was not compiled nothing but its name is known.
            keep = {k: each[k] for k in ("fixture_id", "status", "path")}
            each.clear()
            each.update(keep)
    return value


def run_command(repo: Repo, *arguments: str, cwd: Path | None = None, **env: str) -> tuple[int, str, str]:
    """Run the command line in a process of its own: status, stdout, stderr."""
    import subprocess
    import sys

    variables = {**environment(repo, **env), "CTXC_NO_CACHE": "1", "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    done = subprocess.run(
        [sys.executable, "-m", "ctxc", *arguments],
        cwd=cwd or repo.path,
        env=variables,
        capture_output=True,
        check=False,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()
