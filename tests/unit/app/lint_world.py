"""A project on disk and lint over it, for the tests of what surrounds the rules."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ctxc.app.lint import Linted, LintOptions, lint
from ctxc.app.workspace import open_workspace

NOW = "2026-11-30"
TEMPLATE = """\
template_id: t
version: 1
sections:
  - {id: policy, source: literal, text: Answer briefly.}
"""


def write(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """The root, with the files in it."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
    return root


def judge(root: Path, *, now: str = NOW, cache: Path | None = None, **options: Any) -> Linted:
    """Lint of a project, with the baseline at its usual place."""
    workspace = open_workspace(
        root, flags={}, environment={}, cache_dir=str(cache) if cache else None, no_cache=cache is None
    )
    options.setdefault("baseline", ".ctxc/baseline.jsonl")
    return lint(workspace, LintOptions(**options), now=now)


def codes(linted: Linted) -> list[str]:
    """``path:line code`` of what counts."""
    return [
        f"{f.location.path}:{f.location.span.line if f.location.span else 0} {f.code}" for f in linted.report.findings
    ]


def silenced(linted: Linted) -> list[tuple[str, str, str]]:
    """Code, kind and reason of what does not count."""
    return [
        (f.code, f.suppressed.kind, f.suppressed.reason) for f in linted.report.suppressed if f.suppressed is not None
    ]
