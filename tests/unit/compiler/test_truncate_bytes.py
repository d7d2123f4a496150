"""A limit of bytes holds with the mark, and nothing is broken into replacement characters."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxc import tokens
from ctxc.base.errors import UnreadableSource
from ctxc.compiler.truncate import cut_bytes, truncate_text


def test_bt_006_a_cut_result_is_not_longer_than_its_limit(root: Path) -> None:
    text = (root / "tests/cases/bt-006/tool_result.txt").read_text(encoding="utf-8")
    assert len(text.encode()) == 1_604
    result = cut_bytes(text, 1_000)
    assert result.fits and result.cut
    assert 990 <= result.bytes_after == len(result.text.encode()) <= 1_000
    assert "\ufffd" not in result.text
    kept = result.kept_ranges[0][1]
    assert result.text == f"{text[:kept]}\n[… {1_604 - len(text[:kept].encode())} bytes cut …]"


@pytest.mark.parametrize("limit", range(80))
def test_every_limit(limit: int) -> None:
    text = "aé中😀👨\u200d👩\u200d👧e\u0301\r\n" * 3
    result = cut_bytes(text, limit)
    assert len(result.text.encode()) == result.bytes_after <= max(limit, 0)
    assert result.bytes_before == len(text.encode()) == 99
    assert result.cut
    assert result.fits == bool(result.text) == (limit >= 22)
    for start, end in result.kept_ranges:
        assert result.text.startswith(text[start:end])
        assert text[:end].endswith(("a", "é", "中", "😀", "👧", "\u0301", "\n"))


def test_what_fits_is_left_alone() -> None:
    assert cut_bytes("é", 2).text == "é"
    assert not cut_bytes("é", 2).cut
    assert cut_bytes("", 0).fits
    with pytest.raises(UnreadableSource):
        cut_bytes("\ud800", 100)


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
