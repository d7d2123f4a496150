"""Numbers in messages for people have thousands separators."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

SAYERS = ("app", "compiler", "detect", "parse", "providers", "rules", "source", "usage")
UNIT = re.compile(r" (?:input )?(?:tokens?|characters|bytes|code points)\b")
TOLD_OTHERWISE = {
    "compiler/truncate/_marker.py",  # a model reads these, and its request must not change
    "source/links.py",  # quotes the words of git's own header
}


def bare_numbers(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        parts = node.values if isinstance(node, ast.JoinedStr) else []
        for value, after in pairwise(parts):
            if not isinstance(value, ast.FormattedValue) or not isinstance(after, ast.Constant):
                continue
            if UNIT.match(str(after.value)) and value.format_spec is None and value.conversion == -1:
                yield node.lineno, ast.unparse(value.value)


def test_a_number_before_its_unit_has_separators(root: Path) -> None:
    found = []
    for package in SAYERS:
        for path in sorted((root / "ctxc" / package).rglob("*.py")):
            name = path.relative_to(root / "ctxc").as_posix()
            if name not in TOLD_OTHERWISE:
                found += [f"ctxc/{name}:{line}: {{{value}}} has no `:,`" for line, value in bare_numbers(path)]
    assert found == []


def test_a_number_without_them_is_seen(tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text('a = f"has {n} tokens, {m:,} tokens, {k} fields"\n', encoding="utf-8")
    assert list(bare_numbers(tmp_path / "x.py")) == [(1, "n")]
