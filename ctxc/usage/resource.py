"""Gemini: a prefix that is stored under a name and referred to, and an implicit cache that promises nothing.

A request with ``cachedContent`` has the stored prefix in front of what it holds itself: both are its input, the prefix
is read. Without one, what earlier requests share may be found (2.5 and later); the provider guarantees no hit.
Source: ai.google.dev, context caching (2026-07-07).
"""

from __future__ import annotations

from dataclasses import replace

from ctxc.base.values import dataclass
from ctxc.model.counting import Tokenizer
from ctxc.model.usage import Layout, Sent
from ctxc.usage._finding import Found
from ctxc.usage.cache_rules import CacheRules, seconds
from ctxc.usage.difference import Keys
from ctxc.usage.implicit import PrefixStore


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stored:
    tokens: int
    expires: int
    layout: Layout


class ResourceStore:
    """Stored prefixes by name, the newest also without one: a log does not hold the name that the service gave."""

    def __init__(self, rules: CacheRules, tokenizer: Tokenizer) -> None:
        self._rules = rules
        self._named: dict[str, _Stored] = {}
        self._newest: _Stored | None = None
        self._implicit = PrefixStore(rules, tokenizer)

    def call(self, sent: Sent, keys: Keys, now: int) -> Found:
        """Store a prefix, refer to one, or look for a common one."""
        layout = sent.layout
        if sent.creates:
            tokens = layout.total
            if tokens < self._rules.min_tokens:
                return Found(why="below_minimum", problems=(f"{self._rules.min_tokens:,} tokens are the least",))
            ttl = sent.ttl or self._rules.default_ttl
            self._newest = _Stored(tokens=tokens, expires=now + seconds(ttl), layout=layout)
            return Found(written=tokens, reachable=tokens, written_by_ttl={ttl: tokens})
        if layout.resource:
            stored = self._named.setdefault(layout.resource, self._newest) if self._newest else None
            if stored is None:
                return Found(
                    why="unknown_resource",
                    problems=(f"{layout.resource} was stored before this log begins: its tokens are not known",),
                )
            if stored.expires < now:
                return Found(why="expired", problems=(f"{layout.resource} has expired",))
            total = layout.total + stored.tokens
            return Found(
                read=stored.tokens, reachable=stored.tokens, input=total, band=_band(layout, stored.layout, total)
            )
        if not self._rules.implicit:
            return Found(why="no_breakpoint")
        return replace(self._implicit.call(sent, keys, now), guaranteed=False)


def _band(own: Layout, stored: Layout, total: int) -> tuple[str, int, int]:
    """Method and band of a request together with the prefix that it refers to."""
    low = own.total * own.error_low_bp + stored.total * stored.error_low_bp
    high = own.total * own.error_high_bp + stored.total * stored.error_high_bp
    return stored.method, -(-low // total), -(-high // total)
