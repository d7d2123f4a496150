"""The cheapest placement: found by trying all, told in the ids of sections, never dearer than what stands there."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from usage_samples import WordTokenizer, words

from ctxc.model.usage import Sent
from ctxc.usage.placement import LAST, advise
from ctxc.usage.price import read_prices
from ctxc.usage.sequence import assess

PRICES = read_prices(
    {"input": "5", "output": "25", "cache_read": "0.5", "cache_write": {"5m": "6.25", "1h": "10", "30m": "6.25"}}
)
MARK = {"type": "ephemeral"}
OPUS = ("anthropic", "claude-opus-5")


def sent(lay: Any, model: tuple[str, str], requests: list[dict[str, Any]], at: list[int] | None = None) -> list[Sent]:
    return [
        Sent(id=str(n), layout=lay(*model, r, WordTokenizer("words")), at=at[n] if at else None)
        for n, r in enumerate(requests)
    ]


def asked(user: str, marked: str = "") -> dict[str, Any]:
    blocks = []
    for name, text in (("policy", words(900, "p")), ("route", words(300, user[:1]))):
        block: dict[str, Any] = {"type": "text", "text": text}
        if name == marked:
            block["cache_control"] = MARK
        blocks.append(block)
    return {"model": "m", "system": blocks, "messages": [{"role": "user", "content": user}]}


def test_the_end_of_what_is_shared_is_best(lay: Any, who: Any) -> None:
    profile, row = who(*OPUS)
    requests = [asked(u, "route") for u in ("a1", "b2", "c3", "d4", "e5", "f6")]
    advice = advise(sent(lay, OPUS, requests), profile, row, WordTokenizer("words"), PRICES)
    assert advice is not None
    assert [c.id for c in advice.best.candidates] == ["system/0"]
    assert advice.best.ttls == ("5m",)
    assert (advice.best.written, advice.best.read) == (900, 4500)
    # Marks after what changes write 1,200 tokens six times.
    assert (advice.present.written, advice.present.read) == (7200, 0)
    plain = 6 * 307
    assert advice.best.cost == (900 * Decimal("6.25") + 4500 * Decimal("0.5") + 5 * plain) / 1_000_000
    assert advice.none.cost == 6 * 1207 * Decimal(5) / 1_000_000
    assert not advice.is_present
    assert not advice.relative
    assert advice.tried >= 8


def test_what_is_best_already_stays(lay: Any, who: Any) -> None:
    profile, row = who(*OPUS)
    requests = [asked(u, "policy") for u in ("a1", "b2", "c3")]
    advice = advise(sent(lay, OPUS, requests), profile, row, WordTokenizer("words"), PRICES)
    assert advice is not None
    assert advice.is_present
    assert advice.best.cost == advice.present.cost


def conversation(turns: int) -> dict[str, Any]:
    messages: list[dict[str, Any]] = []
    for n in range(turns):
        messages.append({"role": "user", "content": words(400, f"u{n}_")})
        if n < turns - 1:
            messages.append({"role": "assistant", "content": words(400, f"a{n}_")})
    return {"model": "m", "system": words(900, "p"), "messages": messages}


def test_a_conversation_that_grows_wants_its_last_block(lay: Any, who: Any) -> None:
    profile, row = who(*OPUS)
    advice = advise(
        sent(lay, OPUS, [conversation(n) for n in range(1, 6)]), profile, row, WordTokenizer("words"), PRICES
    )
    assert advice is not None
    assert LAST in [c.id for c in advice.best.candidates]
    assert advice.best.read > advice.best.written > 0


def test_longer_lives_pay_over_gaps_and_stand_first(lay: Any, who: Any) -> None:
    profile, row = who(*OPUS)
    requests = [asked(u) for u in ("a1", "b2", "c3", "d4", "e5", "f6", "g7", "h8")]
    times = [n * 1000 for n in range(8)]
    advice = advise(sent(lay, OPUS, requests, times), profile, row, WordTokenizer("words"), PRICES)
    assert advice is not None
    assert advice.best.ttls[0] == "1h"
    assert sorted(advice.best.ttls, key=("1h", "5m").index) == list(advice.best.ttls)


def test_gpt_5_6_is_told_of_its_trap(lay: Any, who: Any) -> None:
    model = ("openai", "gpt-5.6-sol")
    profile, row = who(*model)
    requests = [
        {"model": "m", "messages": [{"role": "developer", "content": words(2000)}, {"role": "user", "content": u}]}
        for u in ("a", "b", "c", "d")
    ]
    advice = advise(sent(lay, model, requests), profile, row, WordTokenizer("words"), PRICES)
    assert advice is not None
    assert advice.present.read == 0
    assert [c.id for c in advice.best.candidates] == ["messages/0/content"]
    assert advice.best.mode == "explicit"
    assert advice.best.read == 3 * advice.best.written


def test_no_advice_where_there_are_no_marks(lay: Any, who: Any) -> None:
    model = ("openai", "gpt-4o")
    profile, row = who(*model)
    request = {"model": "m", "messages": [{"role": "user", "content": "a"}]}
    assert advise(sent(lay, model, [request]), profile, row, WordTokenizer("words"), PRICES) is None


def test_without_prices_placements_are_still_compared(lay: Any, who: Any) -> None:
    profile, row = who(*OPUS)
    advice = advise(sent(lay, OPUS, [asked(u) for u in ("a1", "b2", "c3")]), profile, row, WordTokenizer("words"), None)
    assert advice is not None
    assert advice.relative
    assert advice.best.candidates[0].id == "system/0"


def test_an_assessment_adds_up(lay: Any, who: Any) -> None:
    profile, row = who(*OPUS)
    calls = sent(lay, OPUS, [conversation(n) for n in range(1, 4)])
    found = assess(
        calls, id="c", kind="conversation", profile=profile, row=row, model="m", tokenizer=WordTokenizer("words"),
        prices=PRICES,
    )  # fmt: skip
    totals = found.simulation.totals
    assert totals.input == totals.read + totals.written + totals.uncached == sum(c.layout.total for c in calls)
    assert found.cost is not None and found.cold is not None and found.warm is not None
    assert found.cost.total == sum((c.total for c in found.costs if c), Decimal(0))
    # Without marks nothing is cached: every state costs the same.
    assert found.cost.total == found.cost.without_cache == found.cold == found.warm
    assert [(t.id, t.difference) for t in found.turns] == [("1", None), ("2", None)]
    assert found.compaction is not None
    assert found.compaction.history == totals.input - 900 * 3 - sum(c.layout.total for c in calls[:2]) + 900 * 2
