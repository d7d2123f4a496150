"""Cache marks as they stand in requests, read and listed alike for every shape."""

from __future__ import annotations

from ctxc.providers._read import as_map


def ttl_of(mark: object) -> str:
    """The time to live that a mark in a request asks for; "default" where it names none, "" where there is no mark."""
    if mark is None or mark is False:
        return ""
    ttl = as_map(mark).get("ttl")
    return ttl if isinstance(ttl, str) and ttl else "default"
