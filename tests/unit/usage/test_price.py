"""Money in exact decimals: documented sums, prices by time to live and by length, break-even points."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ctxc import providers
from ctxc.model.usage import Call, MarkUse
from ctxc.usage import breakeven
from ctxc.usage.latency import Latency, latency_of
from ctxc.usage.price import add_costs, cost_of, cost_of_call, dollars, per_thousand, read_prices, saved_bp
from ctxc.usage.recorded import read_usage, total_input

W, R = Decimal("1.25"), Decimal("0.1")

OPUS = read_prices(
    {"input": "5", "output": "25", "cache_read": "0.5", "cache_write": {"5m": "6.25", "1h": "10"}, "date": "2026-11-30"}
)


def test_parts_of_a_request() -> None:
    assert OPUS is not None
    cost = cost_of(OPUS, uncached=100, read=10_000, written={"5m": 1000, "1h": 200}, output=40)
    assert (cost.uncached, cost.read) == (Decimal("0.0005"), Decimal("0.005"))
    assert cost.written == Decimal("0.00825")
    assert cost.output == Decimal("0.001")
    assert cost.total == Decimal("0.01475")
    assert cost.without_cache == Decimal("0.0575")
    assert saved_bp(cost.total, cost.without_cache) == 7434


def test_longer_requests_have_other_prices() -> None:
    prices = read_prices(
        {
            "input": "4", "output": "20", "cache_read": "0.4", "cache_write": {"30m": "5"},
            "above": [{"input_tokens": 1000, "input": "8", "cache_read": "0.8", "cache_write": {"30m": "10"}}],
        }
    )  # fmt: skip
    assert prices is not None
    assert cost_of(prices, uncached=1000).total == Decimal("0.004")
    assert cost_of(prices, uncached=1001).total == Decimal("0.008008")
    assert cost_of(prices, uncached=1, read=1000).read == Decimal("0.0008")
    assert prices.of(1001).write_price("30m") == 10
    assert prices.of(1001).output == 20


def test_what_is_not_priced_is_plain_input() -> None:
    prices = read_prices({"input": "2", "output": "8"})
    assert prices is not None
    assert cost_of(prices, uncached=0, read=10, written={"": 10}).total == Decimal("0.00004")
    assert read_prices({"input": "2"}) is None
    assert read_prices({"input": "NaN", "output": "1"}) is None
    assert read_prices({"input": "-2", "output": "1"}) is None
    assert read_prices(None) is None


def call(**fields: Any) -> Call:
    return Call(
        **{"id": "c", "input": 1000, "read": 600, "written": 300, "uncached": 100, "reason": "cache_hit", **fields}
    )


def test_cold_warm_and_without_a_cache() -> None:
    assert OPUS is not None
    mark = MarkUse(id="m", pointer="", ttl="5m", tokens=900, outcome="written")
    one = call(written_by_ttl={"5m": 300}, marks=(mark,))
    assert cost_of_call(OPUS, one).total == (100 * 5 + 600 * Decimal("0.5") + 300 * Decimal("6.25")) / 1_000_000
    assert cost_of_call(OPUS, one, "cold").total == (100 * 5 + 900 * Decimal("6.25")) / 1_000_000
    assert cost_of_call(OPUS, one, "warm").total == (100 * 5 + 900 * Decimal("0.5")) / 1_000_000
    assert cost_of_call(OPUS, one, "none").total == Decimal("0.005")
    assert add_costs([(cost_of_call(OPUS, one, "none"), 3)]).total == Decimal("0.015")
    assert per_thousand(Decimal("0.015"), 3) == 5


def test_amounts_are_written_without_exponents() -> None:
    assert [dollars(Decimal(t)) for t in ("1E-7", "1.500", "0", "12")] == ["0.0000001", "1.5", "0", "12"]


def test_the_multiples_of_openais_guide() -> None:
    assert breakeven.cost_multiple(W, R, 2) == Decimal("1.35")
    assert breakeven.cost_multiple(W, R, 10) == Decimal("2.15")
    assert breakeven.least_worth_padding(1024, W, R, 10) == 221
    assert breakeven.requests_until_padding_pays(103, 1024, W, R) == 1963
    assert breakeven.never_worth_padding(1024, R) == 102
    assert breakeven.requests_until_padding_pays(102, 1024, W, R) is None
    # The formulas agree with one another at the edge.
    for length in (103, 150, 221, 500):
        requests = breakeven.requests_until_padding_pays(length, 1024, W, R)
        assert requests is not None
        assert length * requests > 1024 * breakeven.cost_multiple(W, R, requests)
        assert length * (requests - 1) <= 1024 * breakeven.cost_multiple(W, R, requests - 1)


def test_when_caching_pays() -> None:
    assert [breakeven.savings_percent(W, R, n) for n in (1, 2, 5, 10)] == [-25, 32, 67, 78]
    assert breakeven.requests_until_cached_pays(W, R) == 2
    assert breakeven.requests_until_cached_pays(Decimal(2), R) == 3
    assert breakeven.requests_until_cached_pays(W, Decimal(1)) is None


def test_when_compaction_pays() -> None:
    assert OPUS is not None
    found = breakeven.compaction(OPUS, prefix=2000, history=40_000, summary=2000, kept=1000, ttl="5m")
    making = Decimal("0.5") * 42_000 + 25 * 2000
    rewriting = Decimal("6.25") * 3000 - Decimal("0.5") * 41_000
    assert found.once == (making + rewriting) / 1_000_000
    assert found.saved_each == Decimal("0.5") * 38_000 / 1_000_000
    assert found.pays_after == 4
    assert found.once <= 4 * found.saved_each
    assert found.once > 3 * found.saved_each
    longer = breakeven.compaction(OPUS, prefix=0, history=100, summary=200)
    assert longer.pays_after is None


def test_the_latency_model_is_linear_and_rounds_up() -> None:
    model = {"base_ms": 500, "per_1000_uncached_ms": 100, "per_1000_cached_ms": 10, "per_1000_output_ms": 15000}
    assert latency_of(model, uncached=1001, cached=2000, output=100) == Latency(first_token_ms=621, total_ms=2121)
    assert latency_of({}, uncached=1) is None


def test_every_shape_of_usage_reads_alike() -> None:
    anthropic = {
        "input_tokens": 50,
        "cache_read_input_tokens": 100_000,
        "cache_creation_input_tokens": 7,
        "output_tokens": 3,
    }
    openai = {"prompt_tokens": 4020, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 4012}}
    responses = {"input_tokens": 4020, "input_tokens_details": {"cache_write_tokens": 4012}, "output_tokens": 5}
    bedrock = {
        "inputTokens": 3, "outputTokens": 9, "cacheReadInputTokens": 1712, "cacheWriteInputTokens": 236,
        "cacheDetails": [{"ttl": "5m", "inputTokens": 236}],
    }  # fmt: skip
    gemini = {
        "promptTokenCount": 3520,
        "cachedContentTokenCount": 3512,
        "candidatesTokenCount": 2,
        "thoughtsTokenCount": 5,
    }
    found = [read_usage(u) for u in (anthropic, openai, responses, bedrock, gemini)]
    assert [(u.input, u.read, u.written, u.output) for u in found if u is not None] == [
        (100_057, 100_000, 7, 3),
        (4020, 4012, 0, 4),
        (4020, 0, 4012, 5),
        (1951, 1712, 236, 9),
        (3520, 3512, 0, 7),
    ]
    assert found[3] is not None and found[3].written_by_ttl == {"5m": 236}
    assert read_usage({"something": 1}) is None


# --- the documented rows ---------------------------------------------------------------------------------------------


def rows(shared: Path, name: str) -> dict[str, dict[str, Any]]:
    data = json.loads((shared / "goldens" / name).read_text(encoding="utf-8"), parse_float=Decimal)
    return {str(r.get("id", r.get("requests"))): r for r in data["rows"]} | {"": data}


def test_documented_cost_arithmetic(shared: Path, play: Any) -> None:
    found = rows(shared, "anthropic_docs_cost.json")
    assert len(found) == 10
    row = found["usage-sum"]
    assert total_input(row["usage"]) == row["expected_total_input"]
    usage = read_usage(found["usage-1h-breakdown"]["usage"])
    assert usage is not None
    assert sum(usage.written_by_ttl.values()) == usage.written == 248
    assert usage.written_by_ttl == {"5m": 148, "1h": 100}

    def blocks(count: int, marked: int) -> dict[str, Any]:
        content = [
            {
                "type": "text",
                "text": f"{'w ' * 600}{n}",
                **({"cache_control": {"type": "ephemeral"}} if n == marked else {}),
            }
            for n in range(1, count + 1)
        ]
        return {"model": "m", "messages": [{"role": "user", "content": content}]}

    for name, hit in (("lookback-hit", True), ("lookback-miss", False)):
        row = found[name]
        before, now = row["blocks_prev"], row["blocks_now"]
        call = play("anthropic", "claude-opus-5", blocks(before, before), blocks(now, now))[1]
        assert (call.read > 0) is hit, name
        assert call.written > 0
    for name in ("image-cost-haiku45", "image-cost-opus5-1000x1000", "image-cost-opus5-4k"):
        row = found[name]
        prices = read_prices({"input": str(row["price_per_mtok"]), "output": "0"})
        assert prices is not None
        cost = per_thousand(cost_of(prices, uncached=row["tokens"]).total, 1)
        expected = Decimal(row["expected_usd_per_1000"])
        assert round(cost, -expected.as_tuple().exponent) == expected, name  # type: ignore[operator]
    for name in ("managed-agents-example", "managed-agents-cached"):
        row = found[name]
        prices = read_prices(
            {
                "input": str(row["input_per_mtok"]),
                "output": str(row["output_per_mtok"]),
                "cache_read": str(row["input_per_mtok"] * row.get("cache_read_multiplier", 1)),
            }
        )
        assert prices is not None
        plain = row.get("uncached_input", row.get("input_tokens"))
        cost = cost_of(prices, uncached=plain, read=row.get("cache_read", 0), output=row["output_tokens"]).total
        assert cost + row["session_usd"] == row["expected_total_usd"], name


def test_documented_prices_are_those_of_the_extract(shared: Path, who: Any) -> None:
    row = rows(shared, "anthropic_docs_cost.json")["managed-agents-cached"]
    prices = read_prices(providers.prices_of(who("anthropic", row["model"])[1], row["model"]))
    assert prices is not None
    assert (prices.input, prices.output) == (row["input_per_mtok"], row["output_per_mtok"])
    assert prices.read == row["input_per_mtok"] * row["cache_read_multiplier"]


def test_documented_cache_arithmetic(shared: Path) -> None:
    found = rows(shared, "openai_docs_cache_math.json")
    for name in ("write1-read1", "write1-read9"):
        row = found[name]
        multiple = breakeven.cost_multiple(row["write"], row["read"], row["requests"])
        assert multiple == row["expected_cost_multiple"]
    row = found["breakeven-N10"]
    least = breakeven.least_worth_padding(row["M"], row["w"], row["r"], row["N"])
    assert least == row["expected_min_length_worth_expanding"]
    row = found["breakeven-103"]
    assert (
        breakeven.requests_until_padding_pays(row["length"], row["M"], row["w"], row["r"])
        == row["expected_min_requests"]
    )
    row = found["breakeven-limit"]
    assert breakeven.never_worth_padding(row["M"], row["r"]) == row["expected_never_worth_at_or_below"]
    usage = read_usage({"input_tokens": 2500, "input_tokens_details": {"cached_tokens": 2000}, "output_tokens": 0})
    assert usage is not None
    assert (usage.input, usage.read, usage.input - usage.read) == (2500, 2000, 500)
    assert "2500 input = 2000 reused + 500 new" in found["diag-example"]["note"]


def test_documented_break_even(shared: Path) -> None:
    found = rows(shared, "bedrock_docs_breakeven.json")
    data = found.pop("")
    assert len(found) == 4
    for row in found.values():
        saved = breakeven.savings_percent(data["write"], data["read"], row["requests"])
        assert saved == row["expected_savings_pct"]


@pytest.mark.parametrize("requests", [0, -1])
def test_no_requests_cost_nothing(requests: int) -> None:
    assert breakeven.cost_multiple(W, R, requests) == 0
    assert breakeven.savings_percent(W, R, requests) == 0
