"""A limit holds with the mark, and nothing is broken into replacement characters."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxc import tokens
from ctxc.compiler.truncate import truncate_text


@pytest.mark.parametrize("strategy", ["tail", "head", "middle", "lines", "evidence"])
def test_bt_006_a_cut_result_is_not_longer_than_its_limit(root: Path, strategy: str) -> None:
    text = (root / "tests/cases/bt-006/tool_result.txt").read_text(encoding="utf-8")
    tokenizer = tokens.get("o200k_base")
    limit = tokenizer.count(text) // 2
    result = truncate_text(text, limit, strategy, tokenizer)
    assert result.fits and result.cut
    assert 0 < result.tokens_after == tokenizer.count(result.text) <= limit
    assert "\ufffd" not in result.text
    assert " cut …]" in result.text


@pytest.mark.parametrize("strategy", ["tail", "head", "middle", "evidence"])
@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
def test_bt_007_no_budget_gives_half_an_emoji(root: Path, strategy: str, name: str) -> None:
    tokenizer = tokens.get(name)
    text = (root / "tests/cases/bt-007/text.txt").read_text(encoding="utf-8")
    for limit in range(1, tokenizer.count(text) + 1):
        result = truncate_text(text, limit, strategy, tokenizer)
        assert tokenizer.count(result.text) <= limit
        assert "\ufffd" not in result.text
        assert result.text.encode("utf-8").decode("utf-8") == result.text
        for start, end in result.kept_ranges:
            for cluster in ("👨\u200d👩\u200d👧\u200d👦", "🇨🇭", "👋🏽"):
                at = text.index(cluster)
                assert not at < start < at + len(cluster) and not at < end < at + len(cluster)
