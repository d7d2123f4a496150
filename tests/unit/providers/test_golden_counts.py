"""Counts against recorded and published numbers (where the shared material is)."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ctxc import tokens
from ctxc.model.counting import Count, Tokenizer
from ctxc.providers import shape


@cache
def tokenizer(id: str) -> Tokenizer:
    return tokens.get(id)


def counted(shape_id: str, profile: Any, row: Any, request: Any) -> Count:
    return shape(shape_id).count(request, tokenizer(row.tokenizer.id), row)


def band(count: Count) -> tuple[int, int]:
    """Least and most tokens that a count allows, whole tokens inside the printed basis points."""
    low = count.tokens - count.tokens * count.error_low_bp // 10_000
    return low, count.upper


def rows_of(shared: Path, provider: str) -> list[dict[str, Any]]:
    rows = json.loads((shared / "goldens" / "curated_recorded.json").read_text(encoding="utf-8"))["rows"]
    return [r for r in rows if r["provider"] == provider and not r.get("model_relabelled_after_recording")]


def programs(shared: Path, family: str) -> list[tuple[str, int]]:
    """Texts and recorded counts (frame included) of 22 programs for a tokenizer family."""
    folder = shared / "goldens"
    counts = json.loads((folder / "claude_multipl_e_counts.json").read_text(encoding="utf-8"))[family]["counts"]
    with gzip.open(folder / "claude_multipl_e.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [(r["text"], counts[r["lang"]]) for r in rows if r["lang"] in counts]


def test_cookbook_rows_are_exact(shared: Path, get_profile: Any, get_row: Any) -> None:
    profile = get_profile("openai")
    rows = json.loads((shared / "goldens" / "openai_cookbook.json").read_text(encoding="utf-8"))["messages"]
    found = {}
    for row in rows:
        request = {k: row[k] for k in ("model", "messages", "tools") if k in row}
        found[row["id"]] = counted("openai_chat", profile, get_row(profile, row["model"]), request).tokens
    assert found == {r["id"]: r["expected_prompt_tokens"] for r in rows}
    assert len(found) == 9


def _compare(shared: Path, get_profile: Any, get_row: Any, provider: str, shape_id: str, profile_id: str) -> list[Any]:
    profile = get_profile(profile_id)
    found = []
    for row in rows_of(shared, provider):
        count = counted(shape_id, profile, get_row(profile, row["model"]), row["request"])
        low, high = band(count)
        found.append((row["model"], row["delta"], row["expected"], count.tokens, low <= row["expected"] <= high))
    return found


def test_recorded_chat_rows(shared: Path, get_profile: Any, get_row: Any) -> None:
    found = _compare(shared, get_profile, get_row, "openai_chat", "openai_chat", "openai")
    assert len(found) == 16
    assert [f for f in found if f[1] == 0 and f[2] != f[3]] == []
    others = [f for f in found if f[1] != 0]
    assert sum(f[4] for f in others) >= 0.8 * len(others), others


def test_recorded_anthropic_rows_are_inside_the_printed_band(shared: Path, get_profile: Any, get_row: Any) -> None:
    found = _compare(shared, get_profile, get_row, "anthropic", "anthropic_messages", "anthropic")
    assert len(found) == 26
    assert sum(f[4] for f in found) >= 0.95 * len(found), [f for f in found if not f[4]]


@pytest.mark.parametrize(
    ("model", "family"),
    [("claude-sonnet-4-5", "v3"), ("claude-opus-4-7", "v4.7"), ("claude-opus-5", "v5")],
)
def test_recorded_programs_are_inside_the_band(
    shared: Path, get_profile: Any, get_row: Any, model: str, family: str
) -> None:
    profile = get_profile("anthropic")
    row = get_row(profile, model)
    outside = []
    cases = programs(shared, family)
    for text, real in cases:
        request = {"model": model, "max_tokens": 1, "messages": [{"role": "user", "content": text}]}
        count = counted("anthropic_messages", profile, row, request)
        low, high = band(count)
        if not low <= real <= high:
            outside.append((real, count.tokens, low, high))
    assert len(cases) == 22
    assert len(outside) <= 0.05 * len(cases), outside
