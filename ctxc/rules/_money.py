"""Dollars of requests, as a policy asks for them: of each, or of a thousand by the weights of the fixtures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal

from ctxc.model.measured import Measured
from ctxc.rules._ground import Ground
from ctxc.usage.price import dollars, per_thousand


def price_of(measured: Measured, cache: str) -> Decimal | None:
    """Dollars of one request, with its static part in the cache (``warm``) or not; None without prices."""
    text = measured.warm if cache == "warm" else measured.cold
    return Decimal(text) if text else None


def weighted(known: Ground, fixtures: Iterable[Measured]) -> list[Measured]:
    """Fixtures with the weights by which they count: for the base's policies those that the base gives them, so that a
    change does not make its costs less by counting what is cheap more often."""
    before = (known.base or {}) if known.by_base else {}
    return [replace(m, weight=before[m.fixture].weight) if m.fixture in before else m for m in fixtures]


def thousand(fixtures: Sequence[Measured], cache: str) -> Decimal | None:
    """Dollars for a thousand requests, each fixture as often as its weight says; None where one has no price."""
    total, calls = Decimal(0), 0
    for measured in fixtures:
        price = price_of(measured, cache)
        if price is None:
            return None
        total += price * measured.weight
        calls += measured.weight
    return per_thousand(total, calls)


def shown(amount: Decimal) -> str:
    """An amount for people: cents and what is below them to four digits."""
    rounded = amount.quantize(Decimal("0.0001")) if amount < 1 else amount.quantize(Decimal("0.01"))
    return f"${dollars(rounded)}"


def limit(value: object) -> Decimal:
    """A bound as a policy writes it, without the detour through binary floating point."""
    return Decimal(str(value))
