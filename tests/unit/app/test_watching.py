"""What a watcher looks at."""

from __future__ import annotations

from pathlib import Path

from ctxc.app.init import write_starter
from ctxc.app.watching import named, stamp
from ctxc.app.workspace import open_workspace


def test_a_text_outside_of_the_folders_is_looked_at_too(tmp_path: Path) -> None:
    write_starter(tmp_path)
    (tmp_path / "notes").mkdir()
    (tmp_path / "policies/platform.md").rename(tmp_path / "notes/platform.md")
    template = tmp_path / "templates/helpdesk.yaml"
    template.write_text(template.read_text().replace("policies/platform.md", "notes/platform.md"))
    workspace = open_workspace(tmp_path, flags={}, environment={}, no_cache=True)
    more = named(workspace)
    assert "notes/platform.md" in more
    before = stamp(workspace, more)
    assert before == stamp(workspace, more)
    (tmp_path / "notes/platform.md").write_text("Answer briefly.\n")
    assert stamp(workspace, more) != before
    assert stamp(workspace) == stamp(workspace)
