"""The rules of a provider's prompt cache, as a profile states them (``cache`` of a model row), with their units."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, cast, get_args

from ctxc.base.values import dataclass

Mode = Literal["none", "explicit", "implicit_interval", "implicit_latest_message", "resource", "block"]

MODES: tuple[str, ...] = get_args(Mode)

IN_MEMORY_SECONDS = 300
"""OpenAI keeps a prefix in memory for 5 to 10 idle minutes (guide on prompt caching, October 2026): the lower end."""

_TTL = re.compile(r"(\d{1,9})([smh])\Z")
_UNIT = {"s": 1, "m": 60, "h": 3600}


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheRules:
    """Rules in tokens and positions.

    ``lookback`` counts positions, the mark itself included; 0 means that only the mark itself is looked up.
    ``granularity`` rounds what is reported as read down to a multiple; ``interval`` is the distance of the places
    where an implicit cache writes. ``withheld`` blocks at the end of a stored prefix are not found (block mode).
    ``reads_own_write``: the call that stores a prefix is also billed for reading it.
    """

    mode: Mode
    min_tokens: int = 0
    max_breakpoints: int = 0
    lookback: int = 0
    lookup_breakpoints: int = 0
    granularity: int = 1
    interval: int = 1
    withheld: int = 0
    placements: tuple[str, ...] = ()
    ttls: tuple[str, ...] = ()
    default_ttl: str = ""
    long_first: bool = False  # marks with a longer time to live have to stand before those with a shorter one
    implicit: bool = False
    implicit_min_tokens: int = 0
    reads_own_write: bool = False
    charges_writes: bool = False
    keyed_by: tuple[str, ...] = ()  # settings that lose the whole prefix for this model, whatever the table says

    def ttl(self, mark: str) -> str:
        """The time to live that a mark means."""
        return self.default_ttl if mark in ("", "default") else mark


def cache_rules(data: Mapping[str, Any]) -> CacheRules:
    """Rules from a profile's data. A mode that this version does not know is taken as no cache at all."""
    mode = data.get("mode")
    lookback = _number(data, "lookback")
    return CacheRules(
        mode=cast(Mode, mode) if mode in MODES else "none",
        min_tokens=_number(data, "min_tokens"),
        max_breakpoints=_number(data, "max_breakpoints"),
        lookback=max(lookback, 1),
        lookup_breakpoints=_number(data, "lookup_breakpoints"),
        granularity=max(_number(data, "granularity"), 1),
        interval=max(_number(data, "interval"), 1),
        withheld=_number(data, "withheld"),
        placements=_texts(data.get("placements")),
        ttls=_texts(data.get("ttls")),
        default_ttl=str(data.get("default_ttl") or ""),
        long_first=data.get("ttl_order") == "nonincreasing",
        implicit=data.get("implicit") is True,
        implicit_min_tokens=_number(data, "implicit_min_tokens"),
        reads_own_write=data.get("reads_own_write") is True,
        charges_writes=mode in ("explicit", "implicit_latest_message"),
        keyed_by=_texts(data.get("keyed_by")),
    )


def seconds(ttl: str) -> int:
    """Seconds of a time to live such as ``5m``, ``1h`` or ``3600s``; of ``in_memory`` the least that is promised.

    A text of another form lives for no time at all: nothing is promised for it.
    """
    if ttl == "in_memory":
        return IN_MEMORY_SECONDS
    match = _TTL.match(ttl)
    return int(match[1]) * _UNIT[match[2]] if match else 0


def _number(data: Mapping[str, Any], key: str) -> int:
    value = data.get(key)
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value)
    return value if type(value) is int and value > 0 else 0


def _texts(value: object) -> tuple[str, ...]:
    return tuple(v for v in value if isinstance(v, str)) if isinstance(value, (list, tuple)) else ()
