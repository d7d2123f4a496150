"""When caching, padding and compaction pay, as closed formulas over prices. All arithmetic is exact.

``write`` and ``read`` are prices relative to plain input (1.25 and 0.1 for GPT-5.6; Claude's 5-minute marks the same).
Sources: OpenAI guide on prompt caching (October 2026); AWS agent toolkit, prompt caching reference (2026-08-20).
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from ctxc.base.values import dataclass
from ctxc.usage.price import MILLION, Prices


def cost_multiple(write: Decimal, read: Decimal, requests: int) -> Decimal:
    """What a cached prefix costs over some requests, as a multiple of sending it once without a cache."""
    return write + read * (requests - 1) if requests > 0 else Decimal(0)


def savings_percent(write: Decimal, read: Decimal, requests: int) -> int:
    """What caching a prefix saves over some requests, in percent of not caching it, rounded down; negative: a loss."""
    if requests <= 0:
        return 0
    saved = 100 - 100 * cost_multiple(write, read, requests) / requests
    return int(saved.to_integral_value(rounding=ROUND_FLOOR))


def requests_until_cached_pays(write: Decimal, read: Decimal) -> int | None:
    """The fewest requests over which caching costs less than not caching; None where it never does."""
    if read >= 1:
        return None
    # write + read * (n - 1) < n
    bound = (write - read) / (1 - read)
    return max(1, int(bound.to_integral_value(rounding=ROUND_FLOOR)) + 1)


def least_worth_padding(minimum: int, write: Decimal, read: Decimal, requests: int) -> int:
    """The shortest prefix (tokens) that is cheaper padded to the provider's minimum and cached than sent as it is, over
    some requests."""
    cost = minimum * cost_multiple(write, read, requests)
    return int((cost / requests).to_integral_value(rounding=ROUND_FLOOR)) + 1


def requests_until_padding_pays(length: int, minimum: int, write: Decimal, read: Decimal) -> int | None:
    """The fewest requests over which padding a prefix of this length to the minimum pays; None where it never does."""
    each = length - minimum * read
    if each <= 0:
        return None
    bound = minimum * (write - read) / each
    return int(bound.to_integral_value(rounding=ROUND_FLOOR)) + 1


def never_worth_padding(minimum: int, read: Decimal) -> int:
    """The longest prefix (tokens) for which padding never pays, over any number of requests."""
    return int((minimum * read).to_integral_value(rounding=ROUND_FLOOR))


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """What replacing a history by its summary costs once and saves with each later request, in dollars.

    ``pays_after`` counts the requests after the first one that carries the summary; None: never.
    """

    once: Decimal
    saved_each: Decimal
    pays_after: int | None


def compaction(
    prices: Prices,
    *,
    prefix: int,
    history: int,
    summary: int,
    kept: int = 0,
    instruction: int = 0,
    ttl: str = "",
) -> Compaction:
    """Whether compaction pays in a conversation that is cached.

    ``prefix`` tokens stand before the history and stay cached; ``kept`` tokens of recent turns stand after it and have
    to be written again, because the prefix in front of them is broken. The request that makes the summary reads prefix
    and history from the cache, sends ``instruction`` uncached and produces ``summary``.
    """
    at = prices.of(prefix + history + kept + instruction)
    read, write = at.read_price, at.write_price(ttl)
    making = read * (prefix + history) + at.input * instruction + at.output * summary
    rewriting = write * (summary + kept) - read * (history + kept)
    once = (making + rewriting) / MILLION
    each = read * (history - summary) / MILLION
    pays: int | None = None
    if each > 0:
        pays = max(0, int((once / each).to_integral_value(rounding=ROUND_CEILING)))
    return Compaction(once=once, saved_each=each, pays_after=pays)
