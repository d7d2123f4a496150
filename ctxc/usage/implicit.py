"""Caches that find a common prefix by themselves: OpenAI before GPT-5.6, Mistral, blocks of vLLM and DeepSeek, Gemini.

What is read is the longest common prefix with an earlier request that is still there, rounded down: to the places
where the provider writes (``interval``), to what it reports (``granularity``), to whole blocks. Writing is free.
Sources: OpenAI guide on prompt caching (October 2026), vLLM's block size, a third-party fit of DeepSeek's blocks.
"""

from __future__ import annotations

from ctxc.base.values import dataclass
from ctxc.model.counting import Tokenizer
from ctxc.model.usage import Sent
from ctxc.usage._finding import Found
from ctxc.usage.cache_rules import CacheRules, seconds
from ctxc.usage.difference import Keys, shared_tokens

_COMPARED = 8  # of the requests that share the same whole blocks, the newest that are compared inside the next block


@dataclass(slots=True, kw_only=True)
class _Kept:
    keys: Keys
    total: int
    expires: int | None


class PrefixStore:
    """The requests that came before, found by their leading blocks."""

    def __init__(self, rules: CacheRules, tokenizer: Tokenizer, *, least: int | None = None) -> None:
        self._rules = rules
        self._tokenizer = tokenizer
        self._least = rules.min_tokens if least is None else least
        self._life = seconds(rules.default_ttl) if rules.default_ttl and rules.mode != "resource" else None
        self._kept: dict[bytes, list[_Kept]] = {}
        self._all: list[_Kept] = []

    def call(self, sent: Sent, keys: Keys, now: int) -> Found:
        """The longest usable common prefix, and the request kept for later ones."""
        total = sent.layout.total
        read, late = 0, False
        for kept in self._near(keys):
            tokens = self._usable(shared_tokens(kept.keys, keys, self._tokenizer), kept.total, total)
            if kept.expires is not None and kept.expires < now:
                late = late or tokens > 0
                continue
            if tokens > read and kept.expires is not None and self._life is not None:
                kept.expires = now + self._life
            read = max(read, tokens)
        self._keep(keys, total, now)
        # What a longer request can share: not what stands behind the last block, nor what a provider adds unseen.
        blocks = sent.layout.blocks
        end = min(total, blocks[-1].closed) if blocks else 0
        return Found(
            read=read,
            reachable=self._usable(end, total, total),
            why="" if self._usable(total, total, total) else "below_minimum",
            late=late,
        )

    def _near(self, keys: Keys) -> list[_Kept]:
        for key in reversed(keys.of_block):
            if key in self._kept:
                return self._kept[key][-_COMPARED:]
        return self._all[-_COMPARED:]

    def _keep(self, keys: Keys, total: int, now: int) -> None:
        kept = _Kept(keys=keys, total=total, expires=None if self._life is None else now + self._life)
        for key in keys.of_block:
            self._kept.setdefault(key, []).append(kept)
        self._all.append(kept)

    def _usable(self, shared: int, stored: int, total: int) -> int:
        rules = self._rules
        # At least one token of the request has to be computed for there to be an answer.
        shared = min(shared, total - 1)
        if rules.mode == "block":
            blocks = min(shared // rules.granularity, max(0, stored // rules.granularity - rules.withheld))
            tokens = blocks * rules.granularity
        else:
            tokens = shared // rules.interval * rules.interval
            tokens = tokens // rules.granularity * rules.granularity
        return tokens if tokens >= self._least and tokens > 0 else 0
