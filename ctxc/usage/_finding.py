"""What every kind of cache answers for one call, and the memory of the calls before it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Protocol

from ctxc.base.values import dataclass
from ctxc.model.usage import MarkUse, Sent
from ctxc.usage.difference import Keys


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Tokens that a call reads and writes. ``reachable``: what the very same call would read if it came again.

    ``read_block`` and ``reachable_block`` are the last blocks of these prefixes where a cache keeps whole blocks, -1
    where it keeps nothing; None where it cuts inside blocks.

    ``why`` is a reason of the cache's own where nothing more could be read: ``below_minimum``, ``no_breakpoint``,
    ``expired``, ``lookback_exceeded``, ``refused``, ``not_cached``, ``unknown_resource``.
    """

    read: int = 0
    written: int = 0
    reachable: int = 0
    read_block: int | None = None
    reachable_block: int | None = None
    why: str = ""
    input: int | None = None  # where it is more than what stands in the request
    written_by_ttl: Mapping[str, int] = field(default_factory=dict)
    marks: tuple[MarkUse, ...] = ()
    problems: tuple[str, ...] = ()
    guaranteed: bool = True
    late: bool = False  # something was found that had expired
    band: tuple[str, int, int] | None = None  # method, low and high in basis points, where not those of the request


class Store(Protocol):
    """A provider's cache while a sequence is played."""

    def call(self, sent: Sent, keys: Keys, now: int) -> Found:
        """Look one call up, store what it stores, and say what it read and wrote."""
