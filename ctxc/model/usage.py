"""What requests cost: their blocks in a cache's eyes, what a provider reads and writes, and the money and time of it.

Tokens are tokens of the model that is asked; money is Decimal in the currency of the price data; times are whole
seconds (``at``) and whole milliseconds (latency).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from decimal import Decimal
from typing import Any, Literal

from ctxc.base.values import dataclass
from ctxc.model.counting import Count
from ctxc.model.request import Segment


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One position of a request: a tool, a system block, a content block of a message.

    ``tokens`` are its own with the protocol in front of it; ``end`` is the length of the prefix that ends with it and
    ``closed`` that length with the tokens that close its message where it is the last of one, all in tokens.
    """

    index: int
    id: str
    pointer: str
    zone: str  # tools | system | messages
    wire: str
    tokens: int
    end: int
    closed: int
    mark: str = ""
    stable: bool = False
    message: str = ""  # pointer of the message that holds it; "" for tools
    role: str = ""
    last: bool = False  # the last block of its message
    kind: str = "text"
    segments: tuple[Segment, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A request as a cache sees it. ``settings`` are values outside the blocks that decide whether a prefix is found.

    ``total`` is the whole input in tokens, what follows the last block included.
    """

    blocks: tuple[Block, ...]
    settings: Mapping[str, str]
    total: int
    method: str
    tokenizer: str
    error_low_bp: int = 0
    error_high_bp: int = 0
    automatic: str = ""  # time to live of a mark that the request asks for at its last block
    mode: str = ""  # prompt_cache_options.mode, where the request says one
    resource: str = ""  # name of a cached prefix that the request refers to
    request: Mapping[str, Any] = field(default_factory=dict)

    def band(self, tokens: int) -> tuple[int, int]:
        """The least and the most that a number of tokens of this request may be."""
        low = -(-tokens * self.error_low_bp // 10_000)
        high = -(-tokens * self.error_high_bp // 10_000)
        return max(0, tokens - low), tokens + high


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What a provider reported of a call, in one form. ``input`` is all input: uncached, read and written."""

    input: int
    read: int
    written: int
    output: int = 0
    written_by_ttl: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A request that was or will be sent. ``at`` is in seconds from any origin; None: as soon as the last was answered.

    ``weight`` says how many times it stands for; ``output`` are the tokens of its answer where they are known.
    """

    id: str
    layout: Layout
    at: int | None = None
    weight: int = 1
    output: int = 0
    recorded: Recorded | None = None
    creates: bool = False  # a request that stores a prefix under a name and asks for no answer
    ttl: str = ""  # of what it stores


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Where a request first departs from an earlier one, and what the provider calls that.

    ``block`` is the index of the first block that is lost, ``tokens`` what both share before it. ``byte`` counts in the
    bytes (UTF-8) of the segment ``id``; ``other`` is the id of what stood there before.
    """

    change: str
    reason: str
    block: int
    tokens: int
    zone: str = ""
    id: str = ""
    pointer: str = ""
    byte: int = 0
    other: str = ""
    certain: bool = True  # the provider says so; otherwise it does not say, and the prefix is taken to be lost


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkUse:
    """What became of one mark: ``read``, ``written``, ``below_minimum``, ``ignored`` or ``refused``."""

    id: str
    pointer: str
    ttl: str
    tokens: int
    outcome: str
    implicit: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What one call of a sequence reads from the cache, writes into it and pays in full, in tokens.

    ``reason`` is ``cache_hit`` where all was read that an earlier call had left, else why not, in the provider's own
    words where it has any. ``lost`` is what an earlier call had cached and this one could not use.
    ``guaranteed`` is False where the provider promises nothing.
    """

    id: str
    input: int
    read: int
    written: int
    uncached: int
    reason: str
    detail: str = ""
    weight: int = 1
    at: int | None = None
    output: int = 0
    written_by_ttl: Mapping[str, int] = field(default_factory=dict)
    lost: int = 0
    difference: Difference | None = None
    marks: tuple[MarkUse, ...] = ()
    method: str = "exact"
    error_low_bp: int = 0
    error_high_bp: int = 0
    guaranteed: bool = True
    recorded: Recorded | None = None
    zones: Mapping[str, int] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Sums over a sequence, each call times its weight."""

    calls: int
    input: int
    read: int
    written: int
    uncached: int
    output: int = 0

    @property
    def hit_rate_bp(self) -> int:
        """Share of the input that was read from the cache, in basis points, rounded down."""
        return 10_000 * self.read // self.input if self.input else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """A sequence of calls with what a provider's cache would do."""

    calls: tuple[Call, ...]
    totals: Totals
    mode: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Money of some calls: with the cache, without any, and what the parts are."""

    uncached: Decimal
    read: Decimal
    written: Decimal
    output: Decimal
    without_cache: Decimal

    @property
    def total(self) -> Decimal:
        """All of it."""
        return self.uncached + self.read + self.written + self.output


CountedKind = Literal["request", "messages", "tools", "json", "text"]
"""What a file was taken for: a request, messages alone, a list of tools, other JSON, plain text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSize:
    """A tool as a provider receives it, and what of its definition no provider ever sees.

    ``sent_as`` is its name in the request; ``own`` maps a field that stays behind (title, annotations,
    outputSchema ...) to its tokens as JSON text.
    """

    name: str
    sent_as: str
    tokens: int
    pointer: str
    own: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What was counted, for whom, and how. Parts are in the order of the count; reports sort them.

    ``window`` and ``available`` (the most input) are tokens of the model.
    """

    kind: CountedKind
    provider: str
    model: str
    count: Count
    window: int
    available: int
    recorded: Recorded | None = None
    tools: tuple[ToolSize, ...] = ()
    notes: tuple[str, ...] = ()
