"""Prices: from the dated extract, exact decimals, never for a model that is only near."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from ctxc.model.provider import ModelRow, TokenizerRef
from ctxc.providers import prices_of, profile_ids
from ctxc.providers._prices import extract


def _row(**prices: Any) -> ModelRow:
    return ModelRow(pattern="*", window=1, tokenizer=TokenizerRef(id="o200k_base", method="exact"), prices=prices)


def test_extract_says_where_it_comes_from() -> None:
    found = extract()
    assert found["schema"] == "ctxc.prices/1"
    assert (found["currency"], found["per_tokens"]) == ("USD", 1_000_000)
    assert found["version"] in found["source"]
    assert found["date"] >= "2026-11-30"


def test_every_price_is_an_exact_decimal_text() -> None:
    def walk(value: Any) -> list[str]:
        if isinstance(value, dict):
            return [p for v in value.values() for p in walk(v)]
        if isinstance(value, list):
            return [p for v in value for p in walk(v)]
        assert isinstance(value, (str, int))
        return [value] if isinstance(value, str) else []

    prices = walk(extract()["tables"])
    assert len(prices) > 500
    assert all(Decimal(p) >= 0 and "e" not in p.lower() for p in prices)


@pytest.mark.parametrize(
    ("table", "model", "input_", "output", "read"),
    [
        ("anthropic", "claude-opus-5", "5", "25", "0.5"),
        ("anthropic", "claude-opus-5-5", "4", "20", "0.2"),
        ("anthropic", "claude-haiku-4-5-20251001", "1", "5", "0.1"),
        ("openai", "gpt-4o", "2.5", "10", "1.25"),
        ("openai", "gpt-5.6-sol", "4", "20", "0.4"),
        ("deepseek", "deepseek-v4-flash", "0.3", "1.2", "0.006"),
    ],
)
def test_known_prices(table: str, model: str, input_: str, output: str, read: str) -> None:
    found = prices_of(_row(extract=table), model)
    assert found is not None
    assert (found["input"], found["output"], found["cache_read"]) == (input_, output, read)
    assert found["date"] and found["source"]


def test_writes_are_priced_by_their_time_to_live() -> None:
    anthropic = prices_of(_row(extract="anthropic"), "claude-sonnet-4-5")
    openai = prices_of(_row(extract="openai"), "gpt-5.6-sol")
    assert anthropic and anthropic["cache_write"] == {"5m": "3.75", "1h": "6"}
    assert openai and openai["cache_write"] == {"30m": "5", "12h": "10"}
    assert openai["above"][0]["input_tokens"] == 272_000


def test_names_with_dates_regions_and_revisions() -> None:
    dated = prices_of(_row(extract="anthropic"), "claude-opus-4-8-20260701")
    assert dated and dated["model"] == "claude-opus-4-8"
    region = prices_of(_row(extract="bedrock"), "xx.anthropic.claude-opus-5")
    assert region is None
    assert prices_of(_row(extract="openai"), "gpt-5-something-else") is None


def test_a_row_may_state_prices_itself() -> None:
    assert prices_of(_row(input="1", output="2"), "anything") == {"input": "1", "output": "2"}
    assert prices_of(_row(), "gpt-4o") is None


def test_default_models_have_prices(get_profile: Any, get_row: Any) -> None:
    for profile_id in profile_ids():
        profile = get_profile(profile_id)
        if not profile.default_model or "extract" not in get_row(profile, profile.default_model).prices:
            continue
        if profile_id == "qwen":
            continue  # the data package lists the model without a price
        assert prices_of(get_row(profile, profile.default_model), profile.default_model), profile_id
