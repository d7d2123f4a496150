"""A cache with explicit marks: Claude on its own platform and on Bedrock, Nova, Qwen.

A mark writes an entry for the prefix that ends with its block; a later request finds it where one of its own marks
stands at that prefix or at most ``lookback`` positions behind it, the mark itself being the first. Writing is counted
from what was read to the last mark. Source: Anthropic prompt caching documentation, 2026-08-22 (an entry at block 15
and a mark at block 35: blocks 35 to 16 are looked at, a miss).
"""

from __future__ import annotations

from ctxc.base.values import dataclass
from ctxc.model.counting import Tokenizer
from ctxc.model.usage import MarkUse, Sent
from ctxc.usage._finding import Found
from ctxc.usage.cache_rules import CacheRules, seconds
from ctxc.usage.difference import Keys
from ctxc.usage.implicit import PrefixStore
from ctxc.usage.marks import Mark, mark_faults, marks_of


@dataclass(slots=True, kw_only=True)
class _Entry:
    tokens: int  # as they were counted when it was written; a later request may count the same prefix otherwise
    ttl: str
    expires: int


class ExplicitStore:
    """Entries by the key of their prefix."""

    def __init__(self, rules: CacheRules, tokenizer: Tokenizer) -> None:
        self._rules = rules
        self._entries: dict[bytes, _Entry] = {}
        self._unmarked = PrefixStore(rules, tokenizer, least=rules.implicit_min_tokens)

    def call(self, sent: Sent, keys: Keys, now: int) -> Found:
        """Look one call up and store what its marks say."""
        rules, layout = self._rules, sent.layout
        marks = marks_of(layout, rules)
        faults = [f for f in mark_faults(layout, rules) if f.refused]
        if faults:
            return Found(
                why="refused",
                problems=tuple(dict.fromkeys(f.message for f in faults)),
                marks=tuple(_use(m, "refused") for m in marks),
            )
        if not marks:
            return self._unmarked.call(sent, keys, now) if rules.implicit_min_tokens else Found(why="no_breakpoint")
        long_enough = [m for m in marks if m.block.end >= rules.min_tokens]
        read_at, read, expired = self._look_up(marks, keys, now)
        before = layout.blocks[read_at].end if read_at >= 0 else 0
        last = long_enough[-1].block if long_enough else None
        written = max(0, last.end - before) if last is not None else 0
        uses = tuple(self._outcome(m, before) for m in marks)
        self._store(long_enough, keys, now)
        return Found(
            read=read,
            written=written,
            reachable=read + written,
            read_block=read_at,
            reachable_block=max(read_at, last.index if last is not None else -1),
            why="" if long_enough else "below_minimum",
            written_by_ttl=_by_ttl(long_enough, before, written),
            marks=uses,
            late=expired,
        )

    def _look_up(self, marks: tuple[Mark, ...], keys: Keys, now: int) -> tuple[int, int, bool]:
        """The last block and the tokens of the longest entry that a mark finds, and whether one was found too late."""
        best, tokens = -1, 0
        expired = False
        for mark in marks:
            for index in range(mark.block.index, max(-1, mark.block.index - self._rules.lookback), -1):
                entry = self._entries.get(keys.of_block[index])
                if entry is None:
                    continue
                if entry.expires < now:
                    expired = True
                    continue
                # A use is also a new start of its time.
                entry.expires = now + seconds(entry.ttl)
                if index > best:
                    best, tokens = index, entry.tokens
                break
        return best, tokens, expired

    def _store(self, marks: list[Mark], keys: Keys, now: int) -> None:
        for mark in marks:
            key = keys.of_block[mark.block.index]
            entry = self._entries.get(key)
            if entry is not None and entry.expires >= now and seconds(entry.ttl) >= seconds(mark.ttl):
                entry.expires = now + seconds(entry.ttl)
            else:
                self._entries[key] = _Entry(tokens=mark.block.end, ttl=mark.ttl, expires=now + seconds(mark.ttl))

    def _outcome(self, mark: Mark, read: int) -> MarkUse:
        if mark.block.end < self._rules.min_tokens:
            return _use(mark, "below_minimum")
        return _use(mark, "read" if mark.block.end <= read else "written")


def _use(mark: Mark, outcome: str) -> MarkUse:
    return MarkUse(
        id=mark.block.id,
        pointer=mark.block.pointer,
        ttl=mark.ttl,
        tokens=mark.block.end,
        outcome=outcome,
        implicit=mark.implicit,
    )


def _by_ttl(marks: list[Mark], read: int, written: int) -> dict[str, int]:
    """Written tokens by time to live: up to the last long mark at the long price, the rest at the short one."""
    if not written:
        return {}
    found: dict[str, int] = {}
    before = read
    for mark in marks:
        if mark.block.end > before:
            found[mark.ttl] = found.get(mark.ttl, 0) + mark.block.end - before
            before = mark.block.end
    return found
