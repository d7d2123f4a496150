"""Checks that all shapes share: tools, and cache marks (rules R3, R4, R5, R7 and R9 of the research on providers)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ctxc.model.provider import ModelRow, ProviderProfile
from ctxc.providers._marks import ttl_of
from ctxc.providers._names import NameRule, rule_from
from ctxc.providers._read import as_int, as_map, as_text, compact, texts_of
from ctxc.providers._subset import complaints

Marked = tuple[str, object, Mapping[str, Any], str]
"""Pointer, the mark itself, the block that it stands on, place (tools, system, messages)."""


def tool_complaints(
    tools: Sequence[tuple[str, Mapping[str, Any]]], profile: ProviderProfile, default: NameRule, schema_key: str
) -> Iterator[str]:
    """Names that are illegal or stand twice, too many tools, schemas that the provider refuses."""
    rule = rule_from(profile.limits, "tool_name", default)
    seen: set[str] = set()
    for pointer, tool in tools:
        name = as_text(tool.get("name"))
        if not rule.holds(name):
            yield f"{pointer}/name: {name!r} is not a legal tool name (at most {rule.max:,} characters)"
        if name in seen:
            yield f"{pointer}/name: {name!r} stands twice"
        seen.add(name)
        schema = as_map(tool.get(schema_key))
        if tool.get("strict") is True and profile.schema_subset:
            for complaint in complaints(schema, profile.schema_subset):
                yield f"{pointer}/{schema_key}: {complaint}"
    most = as_int(profile.limits.get("max_tools"), -1)
    if most >= 0 and len(tools) > most:
        yield f"/tools: {len(tools):,} tools, at most {most:,}"
    strict = as_int(profile.limits.get("max_strict_tools"), -1)
    found = sum(1 for _, tool in tools if tool.get("strict") is True)
    if strict >= 0 and found > strict:
        yield f"/tools: {found:,} strict tools, at most {strict:,}"


def size_complaints(request: Mapping[str, Any], profile: ProviderProfile, kinds: Iterable[str]) -> Iterator[str]:
    """More images, documents or bytes than the profile's limits allow. ``kinds`` names every block of the request."""
    found = list(kinds)
    for limit, what in (("max_images", "image"), ("max_documents", "document")):
        most = as_int(profile.limits.get(limit), -1)
        number = sum(1 for kind in found if what in kind)
        if 0 <= most < number:
            yield f": {number:,} {what}s, at most {most:,}"
    most = as_int(profile.limits.get("max_request_bytes"), -1)
    if most >= 0:
        size = len(compact(request).encode("utf-8", "surrogatepass"))
        if size > most:
            yield f": {size:,} bytes, at most {most:,}"


def mark_complaints(
    marks: Sequence[Marked], row: ModelRow, *, positions: Mapping[str, int] | None = None
) -> Iterator[str]:
    """Marks that are refused, or that the provider would never act on. ``positions`` numbers all blocks in order."""
    if not marks:
        return
    placements = texts_of(row.cache.get("placements"))
    ttls = texts_of(row.cache.get("ttls"))
    for pointer, mark, block, place in marks:
        if place not in placements:
            yield f"{pointer}: R9: this model takes no cache mark in {place}"
        text = block.get("text")
        if isinstance(text, str) and not text.strip():
            yield f"{pointer}: R4: a cache mark may not stand on an empty text block"
        if as_text(block.get("type")) in ("thinking", "redacted_thinking"):
            yield f"{pointer}: R4: a cache mark may not stand on a thinking block"
        ttl = ttl_of(mark)
        if ttl != "default" and ttls and ttl not in ttls:
            yield f"{pointer}: R9: the time to live {ttl!r} is not one of {', '.join(ttls)}"
    most = as_int(row.cache.get("max_breakpoints"), -1)
    if 0 <= most < len(marks):
        yield f"{marks[most][0]}: R3: {len(marks)} cache marks, at most {most:,}"
    yield from _order(marks, row, ttls)
    lookback = as_int(row.cache.get("lookback"))
    if lookback and positions:
        yield from _gaps([p for p, *_ in marks], positions, lookback)


def _order(marks: Iterable[Marked], row: ModelRow, ttls: Sequence[str]) -> Iterator[str]:
    if as_text(row.cache.get("ttl_order")) != "nonincreasing" or len(ttls) < 2:
        return
    default = as_text(row.cache.get("default_ttl")) or ttls[0]
    shortest = len(ttls)
    for pointer, mark, _, _ in marks:
        ttl = ttl_of(mark)
        ttl = default if ttl == "default" else ttl
        rank = ttls.index(ttl) if ttl in ttls else 0  # ttls stand shortest first
        if rank > shortest:
            yield f"{pointer}: R5: a mark that lives longer ({ttl}) has to stand before those that live shorter"
        shortest = min(shortest, rank)


def _gaps(pointers: Sequence[str], positions: Mapping[str, int], lookback: int) -> Iterator[str]:
    before: int | None = None
    for pointer in pointers:
        here = positions.get(pointer)
        if here is None:
            continue
        if before is not None and here - before >= lookback:
            gap = here - before
            yield f"{pointer}: R7: {gap} blocks after the mark before it; a look-back of {lookback} does not reach it"
        before = here
