"""GPT-5.6 and later: a breakpoint after the newest message by itself, and explicit ones.

In ``implicit`` mode (the default) a request writes after its latest eligible message (a user's; the last of a run of
tool results; the last of the developer messages at the start) and after its latest three explicit breakpoints; in
``explicit`` mode after the latest four explicit ones only, and with none nothing is cached at all. Looked up are the
first two and the latest fifty explicit breakpoints, in implicit mode also the implicit one and twenty message ends
before it. So a static developer message under a user message that changes is never found unless a breakpoint stands
after it.
Source: OpenAI guide on prompt caching, October 2026 (the SDK's docstring says 80 instead of 50: unverified).
"""

from __future__ import annotations

from ctxc.base.values import dataclass
from ctxc.model.usage import Block, MarkUse, Sent
from ctxc.usage._finding import Found
from ctxc.usage.cache_rules import CacheRules, seconds
from ctxc.usage.difference import Keys
from ctxc.usage.marks import is_markable

_EARLIER_ENDS = 20
_FIRST = 2


@dataclass(slots=True, kw_only=True)
class _Entry:
    tokens: int
    expires: int
    life: int


class LatestMessageStore:
    """Entries by the key of their prefix."""

    def __init__(self, rules: CacheRules) -> None:
        self._rules = rules
        self._entries: dict[bytes, _Entry] = {}

    def call(self, sent: Sent, keys: Keys, now: int) -> Found:
        """Look one call up and store what its breakpoints say."""
        layout, rules = sent.layout, self._rules
        placed = [b for b in layout.blocks if b.mark and b.zone in rules.placements and is_markable(b)]
        implicit = latest_eligible(layout.blocks) if layout.mode != "explicit" else None
        if not placed and implicit is None:
            return Found(why="no_breakpoint")
        read_at, read, late = self._look_up(placed, implicit, layout.blocks, keys, now)
        limit = rules.max_breakpoints - (1 if implicit is not None else 0)
        writing = [(b, b.end, False) for b in placed[-limit:]] if limit > 0 else []
        if implicit is not None:
            writing.append((implicit, implicit.closed, True))
        stored = [(b, tokens, own) for b, tokens, own in writing if tokens >= rules.min_tokens]
        last = max((tokens for _, tokens, _ in stored), default=0)
        written = max(0, last - read)
        self._store(stored, keys, now, layout.request)
        life = _ttl(layout.request, rules)
        ignored = [b for b in placed if all(b is not other for other, _, _ in writing)]
        return Found(
            read=read,
            written=written,
            reachable=max(read, last),
            read_block=read_at,
            reachable_block=max([read_at, *(b.index for b, _, _ in stored)]),
            why="" if stored else "below_minimum",
            written_by_ttl={life: written} if written else {},
            marks=(
                *(_use(b, b.end, life, "ignored") for b in ignored),
                *(_use(b, t, life, _outcome(t, read, rules), implicit=own) for b, t, own in writing),
            ),
            late=late,
        )

    def _look_up(
        self, placed: list[Block], implicit: Block | None, blocks: tuple[Block, ...], keys: Keys, now: int
    ) -> tuple[int, int, bool]:
        latest = self._rules.lookup_breakpoints or len(placed)
        looked = [*placed[:_FIRST], *placed[-latest:]] if placed else []
        if implicit is not None:
            ends = [b for b in blocks if b.last and b.zone != "tools" and b.index < implicit.index]
            looked += [*ends[-_EARLIER_ENDS:], implicit]
        best, read, late = -1, 0, False
        for block in looked:
            entry = self._entries.get(keys.of_block[block.index])
            if entry is None:
                continue
            if entry.expires < now:
                late = True
                continue
            entry.expires = now + entry.life
            if entry.tokens > read:
                best, read = block.index, entry.tokens
        return best, read, late

    def _store(self, stored: list[tuple[Block, int, bool]], keys: Keys, now: int, request: object) -> None:
        life = seconds(_ttl(request, self._rules))
        for block, tokens, _ in stored:
            key = keys.of_block[block.index]
            old = self._entries.get(key)
            most = max(tokens, old.tokens) if old is not None and old.expires >= now else tokens
            self._entries[key] = _Entry(tokens=most, expires=now + life, life=life)


def latest_eligible(blocks: tuple[Block, ...]) -> Block | None:
    """The block that ends the latest message after which a breakpoint stands by itself."""
    for block in reversed(blocks):
        if block.zone == "messages" and block.last and block.role in ("user", "tool"):
            return block
    return next((b for b in reversed(blocks) if b.zone == "system"), None)


def _ttl(request: object, rules: CacheRules) -> str:
    options = request.get("prompt_cache_options") if hasattr(request, "get") else None
    ttl = options.get("ttl") if isinstance(options, dict) else None
    return ttl if isinstance(ttl, str) and ttl else rules.default_ttl


def _outcome(tokens: int, read: int, rules: CacheRules) -> str:
    if tokens < rules.min_tokens:
        return "below_minimum"
    return "read" if tokens <= read else "written"


def _use(block: Block, tokens: int, ttl: str, outcome: str, *, implicit: bool = False) -> MarkUse:
    return MarkUse(id=block.id, pointer=block.pointer, ttl=ttl, tokens=tokens, outcome=outcome, implicit=implicit)
