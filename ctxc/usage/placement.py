"""Where breakpoints pay: every placement that the rules allow on the ends of what requests share, played and priced.

Candidates are the ends of tools, of system blocks and of what stands in the first message, after which some of the
requests depart from one another, and the last block of each request (which pays in a conversation that grows). All sets
of up to the provider's limit are tried; where the calls leave gaps between them, longer times to live as well, those
first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import combinations, pairwise

from ctxc.base.values import dataclass
from ctxc.model.counting import Tokenizer
from ctxc.model.provider import ModelRow, ProviderProfile
from ctxc.model.usage import Block, Layout, Sent
from ctxc.usage.cache_rules import CacheRules, cache_rules, seconds
from ctxc.usage.difference import Keys
from ctxc.usage.marks import is_markable
from ctxc.usage.price import Prices, add_costs, cost_of
from ctxc.usage.simulate import store_for

LAST = "the last block of each request"
MOST_CANDIDATES = 9
MOST_CALLS = 120
"""Calls of a long sequence that are played for each placement: its first ones."""

RELATIVE = Prices(input=Decimal(1), output=Decimal(0), read=Decimal("0.1"), write={"": Decimal("1.25")})
"""Where a model's prices are not known, placements are still compared, at the usual multiples of plain input."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A place for a breakpoint: the block of this id in each request that has one."""

    id: str
    zone: str
    tokens: int  # the prefix that ends there, in the first request that has the block


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """A set of breakpoints and what it comes to, in tokens and dollars over the calls that were played."""

    candidates: tuple[Candidate, ...]
    ttls: tuple[str, ...]
    read: int
    written: int
    cost: Decimal
    mode: str = ""  # of GPT-5.6: implicit or explicit


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """The best placement beside the present one and none. ``tried`` placements were played over ``calls`` calls."""

    best: Placement
    present: Placement
    none: Placement
    others: tuple[Placement, ...]
    tried: int
    calls: int
    relative: bool  # costs are multiples of a token's plain price, not dollars

    @property
    def is_present(self) -> bool:
        """Whether nothing is cheaper than what stands there now."""
        return self.best.cost >= self.present.cost


def advise(
    sent: Sequence[Sent], profile: ProviderProfile, row: ModelRow, tokenizer: Tokenizer, prices: Prices | None
) -> Advice | None:
    """The cheapest placement for a sequence; None where the provider has no breakpoints, or nothing was sent."""
    rules = cache_rules(row.cache)
    played = [s for s in sent if not s.creates][:MOST_CALLS]
    if rules.mode not in ("explicit", "implicit_latest_message") or not played:
        return None
    game = _Game(played, profile, rules, tokenizer, prices or RELATIVE)
    present = game.play(played, (), (), "")
    none = replace(present, read=0, written=0, cost=game.without_cache())
    tried: list[Placement] = []
    for chosen in _choices(game.candidates(), rules):
        for ttls in _lives(len(chosen), rules, played):
            for mode in _modes(rules):
                tried.append(game.play(game.marked(chosen, ttls, mode), chosen, ttls, mode))
    if not tried:
        return None
    tried.sort(key=lambda p: (p.cost, len(p.candidates), p.ttls, [c.id for c in p.candidates]))
    return Advice(
        best=tried[0],
        present=present,
        none=none,
        others=tuple(tried[1:4]),
        tried=len(tried),
        calls=len(played),
        relative=prices is None,
    )


def _choices(candidates: Sequence[Candidate], rules: CacheRules) -> Iterator[tuple[Candidate, ...]]:
    for size in range(min(rules.max_breakpoints, len(candidates)) + 1):
        yield from combinations(candidates, size)


def _modes(rules: CacheRules) -> tuple[str, ...]:
    """Of GPT-5.6 both; its explicit mode without a breakpoint caches nothing, and so writes nothing either."""
    return ("",) if rules.mode == "explicit" else ("implicit", "explicit")


def _lives(size: int, rules: CacheRules, sent: Sequence[Sent]) -> Iterator[tuple[str, ...]]:
    """Times to live for so many marks: all default; and the first few longer, where a call comes too late without."""
    short = rules.default_ttl
    yield (short,) * size
    if not size or not rules.long_first or not _has_gap(sent, seconds(short)):
        return
    for long in rules.ttls:
        if seconds(long) > seconds(short):
            for first in range(1, size + 1):
                yield (long,) * first + (short,) * (size - first)


def _has_gap(sent: Sequence[Sent], life: int) -> bool:
    times = [s.at for s in sent if s.at is not None]
    return any(b - a > life for a, b in pairwise(times))


class _Game:
    def __init__(
        self, sent: Sequence[Sent], profile: ProviderProfile, rules: CacheRules, tokenizer: Tokenizer, prices: Prices
    ) -> None:
        self._sent = sent
        self._rules = rules
        self._tokenizer = tokenizer
        self._prices = prices
        self._keys = [Keys(s.layout, profile, rules.keyed_by) for s in sent]

    def candidates(self) -> tuple[Candidate, ...]:
        """Places in physical order, the last block of each request behind them."""
        found: dict[str, Candidate] = {}
        weight: Counter[str] = Counter()
        for number, (sent, keys) in enumerate(zip(self._sent, self._keys, strict=True)):
            before = self._keys[number - 1] if number else None
            ends = [*_zone_ends(sent.layout)]
            for other in (before, self._keys[0] if number > 1 else None):
                shared = keys.shared(other) if other is not None else 0
                if shared:
                    ends.append(sent.layout.blocks[shared - 1])
            for block in ends:
                if block.zone not in self._rules.placements or not is_markable(block):
                    continue
                if block.zone == "messages" and block.message != _first_message(sent.layout):
                    # A mark that stays behind in a conversation is the last block of an earlier request.
                    continue
                found.setdefault(block.id, Candidate(id=block.id, zone=block.zone, tokens=block.end))
                weight[block.id] += sent.weight
        best = sorted(found, key=lambda i: (-weight[i], found[i].tokens))[: MOST_CANDIDATES - 1]
        placed = sorted((found[i] for i in best), key=lambda c: c.tokens)
        return (*placed, Candidate(id=LAST, zone="messages", tokens=self._sent[0].layout.total))

    def marked(self, chosen: Sequence[Candidate], ttls: Sequence[str], mode: str) -> list[Sent]:
        """The calls with these breakpoints and no others."""
        return [replace(s, layout=_with_marks(s.layout, chosen, ttls, mode)) for s in self._sent]

    def play(self, sent: Sequence[Sent], chosen: tuple[Candidate, ...], ttls: tuple[str, ...], mode: str) -> Placement:
        store = store_for(self._rules, self._tokenizer)
        now = read = written = 0
        costs = []
        for one, keys in zip(sent, self._keys, strict=True):
            now = max(now, one.at or 0)
            found = store.call(one, keys, now)
            writes = dict(found.written_by_ttl)
            stored = sum(writes.values())
            left = max(0, one.layout.total - found.read - stored)
            costs.append((cost_of(self._prices, uncached=left, read=found.read, written=writes), one.weight))
            read += found.read * one.weight
            written += stored * one.weight
        total = add_costs(costs).total
        return Placement(candidates=chosen, ttls=ttls, read=read, written=written, cost=total, mode=mode)

    def without_cache(self) -> Decimal:
        return add_costs((cost_of(self._prices, uncached=s.layout.total), s.weight) for s in self._sent).total


def _first_message(layout: Layout) -> str:
    return next((b.message for b in layout.blocks if b.zone == "messages"), "")


def _zone_ends(layout: Layout) -> Iterator[Block]:
    """The last blocks of tools, of the stable run and of the system part."""
    for number, block in enumerate(layout.blocks):
        following = layout.blocks[number + 1] if number + 1 < len(layout.blocks) else None
        if block.zone == "messages":
            return
        if following is None or following.zone != block.zone or (block.stable and not following.stable):
            yield block


def _with_marks(layout: Layout, chosen: Sequence[Candidate], ttls: Sequence[str], mode: str) -> Layout:
    wanted = {c.id: ttl for c, ttl in zip(chosen, ttls, strict=True)}
    places: dict[int, str] = {}
    for block in layout.blocks:
        if block.id in wanted and is_markable(block):
            places = {i: t for i, t in places.items() if layout.blocks[i].id != block.id}
            places[block.index] = wanted[block.id]
    if LAST in wanted:
        last = next((b for b in reversed(layout.blocks) if is_markable(b)), None)
        if last is not None:
            places.setdefault(last.index, wanted[LAST])
    blocks = tuple(
        replace(b, mark=places.get(b.index, "")) if b.mark or b.index in places else b for b in layout.blocks
    )
    return replace(layout, blocks=blocks, automatic="", mode=mode)
