"""A sequence of requests played against the rules of a provider's prompt cache."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from ctxc.model.counting import Tokenizer
from ctxc.model.provider import ModelRow, ProviderProfile
from ctxc.model.usage import Call, Difference, Layout, Sent, Simulation, Totals
from ctxc.usage._finding import Found, Store
from ctxc.usage.cache_rules import CacheRules, cache_rules
from ctxc.usage.difference import Keys, first_difference
from ctxc.usage.explicit import ExplicitStore
from ctxc.usage.implicit import PrefixStore
from ctxc.usage.latest_message import LatestMessageStore
from ctxc.usage.resource import ResourceStore

REASONS = (
    "cache_hit",
    "first_request",
    "stored",
    "below_minimum",
    "no_breakpoint",
    "expired",
    "lookback_exceeded",
    "refused",
    "not_cached",
    "unknown_resource",
)
"""Reasons of our own; every other reason is a name from the provider's invalidation table."""


class _NoStore:
    def call(self, sent: Sent, keys: Keys, now: int) -> Found:
        del sent, keys, now
        return Found(why="not_cached")


def store_for(rules: CacheRules, tokenizer: Tokenizer) -> Store:
    """An empty cache of the kind that the rules describe."""
    match rules.mode:
        case "none":
            return _NoStore()
        case "explicit":
            return ExplicitStore(rules, tokenizer)
        case "implicit_interval" | "block":
            return PrefixStore(rules, tokenizer)
        case "implicit_latest_message":
            return LatestMessageStore(rules)
        case "resource":
            return ResourceStore(rules, tokenizer)
        case mode:
            assert_never(mode)


def simulate(
    sent: Sequence[Sent],
    profile: ProviderProfile,
    row: ModelRow,
    tokenizer: Tokenizer,
    *,
    warm: Sequence[Sent] = (),
) -> Simulation:
    """What each call reads and writes, in order. ``warm`` calls come before the first and are not reported.

    Calls without a time follow each other at once, so that nothing expires between them. A call that is sent while an
    earlier one is still being answered cannot read what that one writes: a log does not show it; it is not modelled.
    """
    rules = cache_rules(row.cache)
    play = _Play(rules, profile, tokenizer)
    for one in warm:
        play.call(one)
    calls = tuple(play.call(one) for one in sent)
    return Simulation(calls=calls, totals=totals(calls), mode=rules.mode, notes=_notes(rules, row, calls))


def totals(calls: Sequence[Call]) -> Totals:
    """Sums, each call times its weight."""
    return Totals(
        calls=sum(c.weight for c in calls),
        input=sum(c.input * c.weight for c in calls),
        read=sum(c.read * c.weight for c in calls),
        written=sum(c.written * c.weight for c in calls),
        uncached=sum(c.uncached * c.weight for c in calls),
        output=sum(c.output * c.weight for c in calls),
    )


class _Past:
    __slots__ = ("found", "keys")

    def __init__(self, keys: Keys, found: Found) -> None:
        self.keys = keys
        self.found = found

    def beyond(self, found: Found) -> int:
        """Tokens that this call had in the cache and a later one did not read."""
        mine = self.found
        if mine.reachable_block is None or found.read_block is None:
            return max(0, mine.reachable - found.read)
        if found.read_block >= mine.reachable_block:
            return 0
        # Counted in this call's own tokens: the later one may count the same blocks otherwise.
        read = self.keys.layout.blocks[found.read_block].end if found.read_block >= 0 else 0
        return max(0, mine.reachable - read)

    def was_reached(self, difference: Difference) -> bool:
        """Whether a later difference lies in what this call had in the cache."""
        if self.found.reachable_block is None:
            return difference.tokens < self.found.reachable
        return difference.block <= self.found.reachable_block


class _Play:
    def __init__(self, rules: CacheRules, profile: ProviderProfile, tokenizer: Tokenizer) -> None:
        self._rules = rules
        self._profile = profile
        self._tokenizer = tokenizer
        self._store = store_for(rules, tokenizer)
        self._now = 0
        self._past: list[_Past] = []
        self._seen: dict[bytes, int] = {}

    def call(self, sent: Sent) -> Call:
        if sent.at is not None:
            self._now = max(self._now, sent.at)
        keys = Keys(sent.layout, self._profile, self._rules.keyed_by)
        found = self._store.call(sent, keys, self._now)
        call = self._report(sent, keys, found)
        if not sent.creates:
            self._remember(keys, found)
        return call

    def _remember(self, keys: Keys, found: Found) -> None:
        number = len(self._past)
        self._past.append(_Past(keys, found))
        for key in keys.of_block:
            self._seen[key] = number

    def _nearest(self, keys: Keys) -> _Past | None:
        """The newest of the earlier calls that share the most with this one; the last call where none shares any."""
        for key in reversed(keys.of_block):
            if key in self._seen:
                return self._past[self._seen[key]]
        return self._past[-1] if self._past else None

    def _report(self, sent: Sent, keys: Keys, found: Found) -> Call:
        layout = sent.layout
        total = layout.total if found.input is None else found.input
        read = min(found.read, total)
        written = min(found.written, max(0, total - (0 if self._rules.reads_own_write else read)))
        if self._rules.reads_own_write and written:
            read = max(read, written)
        near = None if sent.creates else self._nearest(keys)
        difference = first_difference(near.keys, keys, self._profile, self._tokenizer) if near is not None else None
        reason, lost = self._reason(sent, found, read, near, difference)
        shared = 0
        if near is not None and reason not in ("cache_hit", "first_request"):
            count = keys.shared(near.keys)
            shared = layout.blocks[count - 1].closed if count else 0
        method, low, high = found.band or (layout.method, layout.error_low_bp, layout.error_high_bp)
        return Call(
            id=sent.id,
            input=total,
            read=read,
            written=written,
            uncached=max(0, total - read - (0 if self._rules.reads_own_write else written)),
            reason=reason,
            detail=_detail(reason, difference, lost, shared - read, found, self._rules),
            weight=sent.weight,
            at=sent.at,
            output=sent.output,
            written_by_ttl=found.written_by_ttl,
            lost=lost,
            difference=difference,
            marks=found.marks,
            method=method,
            error_low_bp=low,
            error_high_bp=high,
            guaranteed=found.guaranteed,
            recorded=sent.recorded,
            zones=_zones(layout, found),
            problems=found.problems,
        )

    def _reason(
        self, sent: Sent, found: Found, read: int, near: _Past | None, difference: Difference | None
    ) -> tuple[str, int]:
        """The reason, and the tokens that the nearest earlier call had in the cache and this one did not read."""
        if sent.creates:
            return found.why or "stored", 0
        if found.why in ("refused", "not_cached", "unknown_resource"):
            return found.why, 0
        if self._rules.mode == "resource" and sent.layout.resource:
            return found.why or "cache_hit", 0
        if near is None:
            if read:
                return "cache_hit", 0
            return found.why or "first_request", 0
        lost = near.beyond(found)
        if not lost:
            return ("cache_hit", 0) if read else (found.why or "first_request", 0)
        if difference is not None and near.was_reached(difference):
            return difference.reason, lost
        if found.late:
            return "expired", lost
        return found.why or ("lookback_exceeded" if self._rules.mode == "explicit" else "no_breakpoint"), lost


def _detail(reason: str, difference: Difference | None, lost: int, unread: int, found: Found, rules: CacheRules) -> str:
    """One sentence for people about a call that did not read everything."""
    if reason in ("refused", "unknown_resource"):
        return "; ".join(found.problems)
    if reason == "below_minimum":
        least = rules.implicit_min_tokens if rules.mode == "explicit" and not found.marks else rules.min_tokens
        return f"the prefix is shorter than the provider's minimum of {least:,} tokens"
    if reason == "no_breakpoint":
        return "the request has no cache mark"
    if reason == "expired":
        return "what was cached had expired"
    if reason == "lookback_exceeded":
        return f"no mark stands within {rules.lookback} positions of what was cached"
    if reason in REASONS or difference is None:
        return ""
    where = difference.id or "the end"
    text = f"{where} differs"
    if difference.pointer:
        text += f" at byte {difference.byte:,}"
    if difference.other and difference.other != difference.id:
        text += f" ({difference.other} stood there)"
    text += f": {lost:,} cached tokens are lost"
    if rules.mode in ("explicit", "implicit_latest_message") and unread >= max(rules.min_tokens, 1):
        text += f"; {unread:,} tokens before it are the same and no breakpoint stands after them"
    return text


def _zones(layout: Layout, found: Found) -> dict[str, int]:
    zones = {"tools": 0, "system": 0, "messages": 0}
    before = 0
    for block in layout.blocks:
        zones[block.zone] += block.closed - before
        before = block.closed
    zones["messages"] += layout.total - before
    if found.input is not None:
        zones["stored"] = found.input - layout.total
    return zones


def _notes(rules: CacheRules, row: ModelRow, calls: Sequence[Call]) -> tuple[str, ...]:
    notes = []
    doubtful = [u for u in row.unverified if u == "cache" or u.startswith("cache.")]
    if doubtful:
        notes.append(f"unverified in the profile: {', '.join(doubtful)}")
    if any(not c.guaranteed for c in calls):
        notes.append("the provider guarantees no implicit hit: the tokens read are the most that can be")
    if any(c.reason == "stored" for c in calls):
        notes.append("keeping a stored prefix is billed by the hour; that is not part of the cost")
    if rules.mode == "none":
        notes.append("this model has no prompt cache that is known")
    return tuple(notes)
