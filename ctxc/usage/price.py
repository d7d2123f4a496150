"""Money: dated prices (``ctxc.providers.prices_of``) times tokens, in exact decimals.

Prices are in US dollars for a million tokens. A request of more input tokens than a limit of ``above`` is charged at
that row's prices altogether. What a provider does not price is charged as plain input: a write where there is no price
for writes, a read where there is none for reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from decimal import ROUND_FLOOR, Decimal, InvalidOperation
from typing import Any, Literal

from ctxc.base.values import dataclass
from ctxc.model.usage import Call, Cost

MILLION = Decimal(1_000_000)
ZERO = Decimal(0)

State = Literal["simulated", "cold", "warm", "none"]
"""As simulated; nothing cached before; everything cacheable cached before; no cache at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Prices of one model for a million tokens. ``write`` maps a time to live to its price."""

    input: Decimal
    output: Decimal
    read: Decimal | None = None
    write: Mapping[str, Decimal] = field(default_factory=dict)
    above: tuple[tuple[int, Prices], ...] = ()  # input tokens over which these hold, rising
    model: str = ""
    source: str = ""
    date: str = ""

    def of(self, input_tokens: int) -> Prices:
        """The prices that hold for a request of this many input tokens."""
        found = self
        for limit, prices in self.above:
            if input_tokens > limit:
                found = prices
        return found

    @property
    def read_price(self) -> Decimal:
        """For reading, plain input where nothing else is stated."""
        return self.input if self.read is None else self.read

    def write_price(self, ttl: str) -> Decimal:
        """For writing with a time to live; of one that is not priced, the dearest that is, else plain input."""
        if ttl in self.write:
            return self.write[ttl]
        return max(self.write.values(), default=self.input)


def read_prices(data: Mapping[str, Any] | None) -> Prices | None:
    """Prices from a profile's data or the dated extract; None where input and output are not both stated."""
    if data is None:
        return None
    base = _prices(data)
    if base is None:
        return None
    above = []
    for row in data.get("above") or ():
        limit = row.get("input_tokens") if isinstance(row, Mapping) else None
        if type(limit) is not int:
            continue
        writes = {**base.write, **_writes(row.get("cache_write"))}
        above.append(
            (
                limit,
                replace(
                    base,
                    input=_money(row.get("input")) or base.input,
                    output=_money(row.get("output")) or base.output,
                    read=base.read if _money(row.get("cache_read")) is None else _money(row.get("cache_read")),
                    write=writes,
                ),
            )
        )
    return replace(base, above=tuple(sorted(above, key=lambda pair: pair[0])))


def _prices(data: Mapping[str, Any]) -> Prices | None:
    price_in, price_out = _money(data.get("input")), _money(data.get("output"))
    if price_in is None or price_out is None:
        return None
    return Prices(
        input=price_in,
        output=price_out,
        read=_money(data.get("cache_read")),
        write=_writes(data.get("cache_write")),
        model=str(data.get("model") or ""),
        source=str(data.get("source") or ""),
        date=str(data.get("date") or ""),
    )


def _writes(value: object) -> dict[str, Decimal]:
    if not isinstance(value, Mapping):
        return {}
    return {str(ttl): price for ttl, text in value.items() if (price := _money(text)) is not None}


def _money(value: object) -> Decimal | None:
    """A price; a number that is not written as text came through binary floating point and is taken by its digits."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float, Decimal)):
        return None
    try:
        found = Decimal(str(value))
    except InvalidOperation:
        return None
    return found if found.is_finite() and found >= 0 else None


def cost_of(
    prices: Prices,
    *,
    uncached: int,
    read: int = 0,
    written: Mapping[str, int] | None = None,
    output: int = 0,
) -> Cost:
    """What one request costs, in dollars; ``written`` are tokens by time to live."""
    writes = written or {}
    total = uncached + read + sum(writes.values())
    at = prices.of(total)
    return Cost(
        uncached=uncached * at.input / MILLION,
        read=read * at.read_price / MILLION,
        written=sum((n * at.write_price(ttl) for ttl, n in writes.items()), ZERO) / MILLION,
        output=output * at.output / MILLION,
        without_cache=(total * at.input + output * at.output) / MILLION,
    )


def cost_of_call(prices: Prices, call: Call, state: State = "simulated", *, cacheable: int = 0) -> Cost:
    """What a simulated call costs, once (its weight is not applied).

    ``cold``: what it read it has to write, at the time to live of its marks; ``warm``: what it wrote it reads, and
    ``cacheable`` tokens at least.
    """
    if call.reason == "refused":
        # An error is not charged.
        return cost_of(prices, uncached=0)
    cached = min(call.input, call.read + call.written)
    ttl = next(iter(call.written_by_ttl), next((m.ttl for m in call.marks), ""))
    if state == "none":
        return cost_of(prices, uncached=call.input, output=call.output)
    if state == "warm":
        cached = min(call.input, max(cached, cacheable))
        return cost_of(prices, uncached=call.input - cached, read=cached, output=call.output)
    if state == "cold":
        writes = {ttl: cached} if call.marks or call.written else {}
        plain = call.input - (cached if writes else 0)
        return cost_of(prices, uncached=max(0, plain), written=writes, output=call.output)
    left = call.written - sum(call.written_by_ttl.values())
    written = {**call.written_by_ttl, **({"": left} if left > 0 else {})}
    return cost_of(prices, uncached=call.uncached, read=call.read, written=written, output=call.output)


def add_costs(costs: Iterable[tuple[Cost, int]]) -> Cost:
    """The sum of costs, each times a weight."""
    total = Cost(uncached=ZERO, read=ZERO, written=ZERO, output=ZERO, without_cache=ZERO)
    for cost, weight in costs:
        total = Cost(
            uncached=total.uncached + cost.uncached * weight,
            read=total.read + cost.read * weight,
            written=total.written + cost.written * weight,
            output=total.output + cost.output * weight,
            without_cache=total.without_cache + cost.without_cache * weight,
        )
    return total


def per_thousand(cost: Decimal, calls: int) -> Decimal:
    """Dollars for a thousand requests, where some calls cost this much together."""
    return cost * 1000 / calls if calls else ZERO


def saved_bp(cost: Decimal, without: Decimal) -> int:
    """What is saved against another cost, in basis points, rounded down; negative where it is dearer."""
    if not without:
        return 0
    return int(((without - cost) * 10_000 / without).to_integral_value(rounding=ROUND_FLOOR))


def dollars(amount: Decimal) -> str:
    """An amount as plain decimal text, without an exponent and without zeros at the end."""
    text = f"{amount:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
