"""The examples of docs/lint.md do what the page says of them."""

from __future__ import annotations

import re
from pathlib import Path

from lint_world import codes, judge, silenced, write

from ctxc.rules import codes_of

BLOCK = re.compile(r"^```\w+\n# file: (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WHY = "the registry writes it so"


def test_the_examples(root: Path, tmp_path: Path) -> None:
    text = (root / "docs/lint.md").read_text(encoding="utf-8")
    files = dict(BLOCK.findall(text))
    assert sorted(files) == ["ctxc.yaml", "fragments/answers.md", "templates/intake.yaml"]
    fixture = "fixture_id: f\ntemplate: intake\nnow: 2026-11-30T12:00:00Z\n"
    old = files["templates/intake.yaml"].replace("  # ctxc: ignore[CTX019] until=2027-03-31 reason: " + WHY, "")
    old = old.replace("intake", "legacy")
    project = write(tmp_path, files | {
        "tests/fixtures/f.yaml": fixture,
        "templates/legacy/a.yaml": old,
        "tests/fixtures/g.yaml": fixture.replace("f\n", "g\n", 1).replace("intake", "legacy"),
    })  # fmt: skip
    before = judge(project)
    assert codes(before) == []
    assert sorted(silenced(before)) == [
        ("CTX019", "config", "per-file-ignores templates/legacy/*"),
        ("CTX019", "file", WHY),
        ("CTX019", "inline", WHY),
    ]
    after = judge(project, now="2027-04-01")
    assert codes(after) == [
        "fragments/answers.md:3 CTX019",
        "fragments/answers.md:7 CTX902",
        "templates/intake.yaml:2 CTX019",
        "templates/intake.yaml:2 CTX902",
    ]


def test_every_rule_that_the_page_names_exists(root: Path) -> None:
    text = (root / "docs/lint.md").read_text(encoding="utf-8")
    words = set(re.findall(r"CTX\d+", text)) | {"float-like-version", "contact-data", "missing-output-reserve"}
    assert all(codes_of([word])[word] for word in words)
    assert {"float-like-version", "contact-data", "missing-output-reserve"} <= set(
        re.findall(r"[a-z]+(?:-[a-z]+)+", text)
    )
