"""A sequence of requests assessed as a whole: the simulation, its money, its breakpoints, its turns."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from ctxc.base.values import dataclass
from ctxc.model.counting import Tokenizer
from ctxc.model.provider import ModelRow, ProviderProfile
from ctxc.model.usage import Call, Cost, Sent, Simulation
from ctxc.usage.breakeven import Compaction, compaction
from ctxc.usage.cache_rules import CacheRules, cache_rules
from ctxc.usage.conversation import TurnCheck, check_turns
from ctxc.usage.latency import Latency, latency_of
from ctxc.usage.marks import static_tokens
from ctxc.usage.placement import Advice, advise
from ctxc.usage.price import Prices, State, add_costs, cost_of_call
from ctxc.usage.simulate import simulate

SUMMARY_PERCENT = 20
"""Length of a summary in percent of the history that it replaces, where compaction is estimated: an assumption."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionEstimate:
    """What compacting the newest call's history would come to."""

    prefix: int
    history: int
    summary: int
    result: Compaction


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """One sequence. Costs are over all calls times their weights; None where the model has no prices."""

    id: str
    kind: str  # conversation | traffic | log
    provider: str
    model: str
    as_of: str
    tokenizer: str
    rules: CacheRules
    simulation: Simulation
    prices: Prices | None
    costs: tuple[Cost | None, ...]
    cost: Cost | None
    cold: Decimal | None
    warm: Decimal | None
    latency: tuple[Latency | None, ...]
    advice: Advice | None
    turns: tuple[TurnCheck, ...] = ()
    compaction: CompactionEstimate | None = None
    notes: tuple[str, ...] = ()

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls of the simulation."""
        return self.simulation.calls


def assess(
    sent: Sequence[Sent],
    *,
    id: str,
    kind: str,
    profile: ProviderProfile,
    row: ModelRow,
    model: str,
    tokenizer: Tokenizer,
    prices: Prices | None,
    warm: Sequence[Sent] = (),
    notes: Sequence[str] = (),
    with_advice: bool = True,
) -> Assessment:
    """Play a sequence and say what it comes to."""
    simulation = simulate(sent, profile, row, tokenizer, warm=warm)
    calls = simulation.calls
    costs = tuple(cost_of_call(prices, c) if prices is not None else None for c in calls)
    cached = kind == "conversation" and len(sent) > 1
    return Assessment(
        id=id,
        kind=kind,
        provider=profile.id,
        model=model,
        as_of=profile.as_of,
        tokenizer=tokenizer.id,
        rules=cache_rules(row.cache),
        simulation=simulation,
        prices=prices,
        costs=costs,
        cost=add_costs((cost, call.weight) for cost, call in zip(costs, calls, strict=True) if cost is not None)
        if prices is not None
        else None,
        cold=_in_state(calls, prices, "cold"),
        warm=_in_state(calls, prices, "warm", [_static(s, cache_rules(row.cache)) for s in sent]),
        latency=tuple(
            latency_of(row.latency, uncached=c.uncached + c.written, cached=c.read, output=c.output) for c in calls
        ),
        advice=advise(sent, profile, row, tokenizer, prices) if with_advice else None,
        turns=check_turns([s.id for s in sent], [s.layout for s in sent], profile, tokenizer) if cached else (),
        compaction=_compaction(calls[-1], prices) if cached and prices is not None else None,
        notes=(*notes, *simulation.notes, *_price_notes(prices, calls)),
    )


def _in_state(
    calls: Sequence[Call], prices: Prices | None, state: State, cacheable: Sequence[int] = ()
) -> Decimal | None:
    if prices is None:
        return None
    tokens = cacheable or [0] * len(calls)
    return add_costs(
        (cost_of_call(prices, call, state, cacheable=n), call.weight) for call, n in zip(calls, tokens, strict=True)
    ).total


def _static(sent: Sent, rules: CacheRules) -> int:
    """Tokens of the static part that a cache which needs no marks finds, once it is warm."""
    if rules.mode not in ("implicit_interval", "block"):
        return 0
    step = max(rules.interval, rules.granularity)
    tokens = static_tokens(sent.layout) // step * step
    return tokens if tokens >= rules.min_tokens else 0


def _price_notes(prices: Prices | None, calls: Sequence[Call]) -> tuple[str, ...]:
    if prices is None:
        return ("no prices are known for this model: costs are left out",)
    if not any(c.output for c in calls):
        return ("the tokens of answers are not known: costs are those of the input",)
    return ()


def _compaction(call: Call, prices: Prices | None) -> CompactionEstimate | None:
    history = call.zones.get("messages", 0)
    if prices is None or not history:
        return None
    prefix = call.input - history
    summary = -(-history * SUMMARY_PERCENT // 100)
    ttl = next((m.ttl for m in call.marks), "")
    return CompactionEstimate(
        prefix=prefix,
        history=history,
        summary=summary,
        result=compaction(prices, prefix=prefix, history=history, summary=summary, ttl=ttl),
    )
