"""What two requests share: the first block that a cache would lose, from which byte, and what a provider calls it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256

from ctxc.model.counting import Tokenizer
from ctxc.model.provider import ProviderProfile
from ctxc.model.request import Segment
from ctxc.model.usage import Block, Difference, Layout
from ctxc.usage.settings import CONTENT, ZONES, content_keys, keys_by_zone, reason_of


class Keys:
    """Cache keys of a layout: one for each prefix that ends with a block, equal only where a cache would find it."""

    __slots__ = ("layout", "of_block", "zones")

    def __init__(self, layout: Layout, profile: ProviderProfile, keyed_by: tuple[str, ...] = ()) -> None:
        self.layout = layout
        self.zones = _zone_keys(layout, profile, keyed_by)
        chain = b""
        keys = []
        for block in layout.blocks:
            wire = block.wire.encode("utf-8", "surrogatepass")
            chain = sha256(chain + len(wire).to_bytes(8, "big") + wire).digest()
            keys.append(sha256(self.zones[block.zone] + chain).digest())
        self.of_block: tuple[bytes, ...] = tuple(keys)

    def shared(self, other: Keys) -> int:
        """How many leading blocks both have in common."""
        count = 0
        for mine, theirs in zip(self.of_block, other.of_block, strict=False):
            if mine != theirs:
                break
            count += 1
        return count


def _zone_keys(layout: Layout, profile: ProviderProfile, keyed_by: tuple[str, ...]) -> dict[str, bytes]:
    settings = keys_by_zone(layout.settings, profile, keyed_by)
    behind = content_keys(profile)
    found = {}
    for zone in ZONES:
        digest = sha256(settings[zone].encode("utf-8", "surrogatepass"))
        for later in behind[zone]:
            for block in layout.blocks:
                if block.zone == later:
                    digest.update(sha256(block.wire.encode("utf-8", "surrogatepass")).digest())
        found[zone] = digest.digest()
    return found


def first_difference(
    before: Keys, after: Keys, profile: ProviderProfile, tokenizer: Tokenizer | None = None
) -> Difference | None:
    """Where ``after`` stops being an extension of ``before``; None where it is one.

    A change of a setting counts at the first block that it loses; a block that was added behind everything is no
    difference, one that is gone is. With a tokenizer the tokens that both share are counted inside that block too.
    """
    found = _first_difference(before, after, profile)
    if found is None or tokenizer is None:
        return found
    return replace(found, tokens=shared_tokens(before, after, tokenizer))


def _first_difference(before: Keys, after: Keys, profile: ProviderProfile) -> Difference | None:
    shared = after.shared(before)
    old, new = before.layout.blocks, after.layout.blocks
    if shared == len(old):
        return None
    tokens = new[shared - 1].closed if shared else 0
    if shared < len(new) and before.zones[new[shared].zone] == after.zones[new[shared].zone]:
        return _content(old[shared], new[shared], tokens, profile)
    if shared == len(new):
        gone = old[shared]
        reason, certain = reason_of(gone.zone, profile)
        return Difference(
            change=gone.zone, reason=reason, block=shared, tokens=tokens, zone=gone.zone, other=gone.id, certain=certain
        )
    block = new[shared]
    change = _changed_setting(before.layout.settings, after.layout.settings, block.zone, profile)
    if change is None:
        # A later zone that this one depends on: the provider does not keep them in the order in which they stand.
        change = next((z for z in ZONES if _content_of(before, z) != _content_of(after, z)), block.zone)
    reason, certain = reason_of(change, profile)
    return Difference(
        change=change,
        reason=reason,
        block=shared,
        tokens=tokens,
        zone=block.zone,
        id=change,
        pointer="",
        certain=certain,
    )


def _content(old: Block, new: Block, tokens: int, profile: ProviderProfile) -> Difference:
    # Where a tool list grew or shrank, the first block of the next zone stands in a tool's place.
    zone = min(old.zone, new.zone, key=ZONES.index)
    reason, certain = reason_of(zone, profile)
    byte = common_bytes(old.wire, new.wire)
    segment, left = _segment_at(new, byte)
    before, _ = _segment_at(old, byte)
    return Difference(
        change=zone,
        reason=reason,
        block=new.index,
        tokens=tokens,
        zone=new.zone,
        id=segment.id,
        pointer=segment.pointer,
        byte=left,
        other=before.id,
        certain=certain,
    )


def _segment_at(block: Block, byte: int) -> tuple[Segment, int]:
    """The segment of a block that holds a byte of it, and the byte's place in that segment."""
    left = byte
    for segment in block.segments[:-1]:
        size = len(segment.wire.encode("utf-8", "surrogatepass"))
        if left < size:
            return segment, left
        left -= size
    return block.segments[-1], left


def _changed_setting(
    before: Mapping[str, str], after: Mapping[str, str], zone: str, profile: ProviderProfile
) -> str | None:
    """The first change of the table's order that loses this zone."""
    for row in profile.invalidation:
        change = str(row.get("change"))
        if change not in CONTENT and row.get(zone) != "kept" and before.get(change) != after.get(change):
            return change
    return next((c for c in sorted({*before, *after}) if before.get(c) != after.get(c)), None)


def _content_of(keys: Keys, zone: str) -> list[str]:
    return [b.wire for b in keys.layout.blocks if b.zone == zone]


def common_bytes(one: str, other: str) -> int:
    """Length in bytes (UTF-8) of what two texts have in common at their start."""
    return len(common_prefix(one, other).encode("utf-8", "surrogatepass"))


def common_prefix(one: str, other: str) -> str:
    """What two texts have in common at their start."""
    if one == other:
        return one
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return one[:low]


def shared_tokens(before: Keys, after: Keys, tokenizer: Tokenizer) -> int:
    """Tokens that both have in common at their start, inside a block too: what a cache of plain prefixes can find.

    Inside a block the tokens of the common text are counted alone, so that the last of them may be one that only one
    of the two has; a cache rounds down by more than that.
    """
    shared = after.shared(before)
    old, new = before.layout.blocks, after.layout.blocks
    tokens = new[shared - 1].closed if shared else 0
    if shared == len(new):
        return min(after.layout.total, before.layout.total)
    if shared == len(old):
        return tokens
    one, other = old[shared], new[shared]
    if before.zones[one.zone] != after.zones[other.zone] or one.zone != other.zone:
        return tokens
    text = common_prefix(one.wire, other.wire)
    frame = other.segments[0].frame
    if len(text) <= len(frame):
        return tokens
    whole = tokenizer.count("".join(s.text for s in other.segments))
    part = tokenizer.count("".join([s.wire for s in other.segments])[len(frame) : len(text)])
    inside = max(0, other.end - tokens)
    return tokens + (inside * part // whole if whole else 0)
