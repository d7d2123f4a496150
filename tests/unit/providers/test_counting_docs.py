"""The table of ``docs/counting.md`` says what the profiles say."""

from __future__ import annotations

import re
from pathlib import Path

from ctxc import providers
from ctxc.app.workspace import load_tree
from ctxc.model.provider import ModelRow, TokenizerRef
from ctxc.source.memory import MemoryTree

PAGE = Path(__file__).parents[3] / "docs" / "counting.md"
TABLE = re.compile(r"(?<=<!-- table -->\n).*?(?=<!-- /table -->)", re.DOTALL)


def band(ref: TokenizerRef) -> str:
    """The band of a tokenizer's texts in percent."""
    if not ref.error_low_bp and not ref.error_high_bp:
        return "none"
    return f"-{ref.error_low_bp / 100:g} to +{ref.error_high_bp / 100:g} %"


def told(ref: TokenizerRef) -> str:
    """A tokenizer with its factor."""
    return f"`{ref.id}`" + (f" × {ref.factor_bp / 10_000:g}" if ref.factor_bp != 10_000 else "")


def could(row: ModelRow) -> str:
    """The alternatives of a row with their methods."""
    return ", ".join(f"`{a.id}` ({a.method})" for a in row.alternatives)


def table() -> str:
    """A line for each group of rows that are counted alike."""
    project = load_tree(MemoryTree({"ctxc.yaml": "provider: openai\n"}))
    lines = ["| profile | models | counted with | method | band | could |", "|---|---|---|---|---|---|"]
    for name in providers.profile_ids():
        groups: dict[tuple[str, ...], list[str]] = {}
        for row in project.providers[name].models:
            key = (told(row.tokenizer), row.tokenizer.method, band(row.tokenizer), could(row))
            patterns = groups.setdefault(key, [])
            if row.pattern not in patterns:
                patterns.append(row.pattern)
        for (counted, method, width, other), patterns in groups.items():
            models = ", ".join(f"`{p}`" for p in patterns)
            lines.append(f"| {name} | {models} | {counted} | {method} | {width} | {other} |")
    return "\n".join(lines) + "\n"


def test_the_table_is_that_of_the_profiles(update_goldens: bool) -> None:
    text = PAGE.read_text(encoding="utf-8")
    if update_goldens:
        text = TABLE.sub(lambda _: table(), text)
        PAGE.write_text(text, encoding="utf-8", newline="\n")
    (found,) = TABLE.findall(text)
    assert found == table(), "pytest --update-goldens tests/unit/providers/test_counting_docs.py"


def test_the_example_of_a_correction_is_one() -> None:
    (example,) = re.findall(r"```yaml\n# policies/providers/anthropic.yaml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    project = load_tree(MemoryTree({"policies/providers/anthropic.yaml": example}))
    assert [f.message for f in project.findings if f.name != "empty-project"] == []
    row = providers.find_row(project.providers["anthropic"], "claude-opus-5")
    assert row is not None
    assert (row.tokenizer.factor_bp, row.framing["frame"], row.cache["min_tokens"]) == (15000, 8, 600)
    assert row.window == 1_000_000
