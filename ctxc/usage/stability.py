"""What must not vary between requests that ought to share a prefix: tools, settings, keys, ids, serialization.

Each function compares layouts or requests of one kind (turns of a conversation, fixtures of one request profile, one
fixture compiled twice) and returns what differs; nothing means that nothing does.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ctxc.base.values import dataclass
from ctxc.model.counting import Tokenizer
from ctxc.model.provider import ProviderProfile
from ctxc.model.usage import Difference, Layout
from ctxc.usage.difference import Keys, common_bytes, first_difference
from ctxc.usage.settings import reason_of

UNIQUE_KEYS = ("prompt_cache_key",)
"""Settings that partition a cache: a value of its own for each request means that nothing is ever found again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolChange:
    """How the tools of one request differ from those of another: by name, as values, and as bytes."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    reordered: bool = False
    reserialized: tuple[str, ...] = ()  # equal as values, different bytes

    @property
    def is_stable(self) -> bool:
        """Whether a cache sees the same tools."""
        return not (self.added or self.removed or self.changed or self.reordered or self.reserialized)


def tool_change(before: Layout, after: Layout) -> ToolChange:
    """Tools matched by name (R2, R11)."""
    old, new = _tools(before), _tools(after)
    both = [name for name in old if name in new]
    changed = tuple(n for n in both if _value(old[n]) != _value(new[n]))
    return ToolChange(
        added=tuple(n for n in new if n not in old),
        removed=tuple(n for n in old if n not in new),
        changed=changed,
        reordered=both != [n for n in new if n in old],
        reserialized=tuple(n for n in both if old[n] != new[n] and n not in changed),
    )


def duplicate_tools(layout: Layout) -> tuple[str, ...]:
    """Names that stand in the tool list more than once (R2)."""
    names = Counter(_tool_name(b.wire, b.pointer) for b in layout.blocks if b.zone == "tools")
    return tuple(sorted(n for n, count in names.items() if count > 1))


def _tools(layout: Layout) -> dict[str, str]:
    return {_tool_name(b.wire, b.pointer): b.wire for b in layout.blocks if b.zone == "tools"}


def _tool_name(wire: str, pointer: str) -> str:
    value = _value(wire)
    name = value.get("name") if isinstance(value, dict) else None
    return name if isinstance(name, str) else pointer


def _value(wire: str) -> Any:
    try:
        return json.loads(wire)
    except (ValueError, RecursionError):
        return wire


def unique_keys(requests: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Settings that partition the cache and are different in every request (R13): nothing is ever found."""
    if len(requests) < 2:
        return ()
    found = []
    for key in UNIQUE_KEYS:
        values = [r[key] for r in requests if isinstance(r.get(key), str)]
        if len(values) == len(requests) and len(set(values)) == len(values):
            found.append(key)
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """A setting that has different values and loses cached tokens by that (R10)."""

    change: str
    reason: str
    certain: bool
    loses: tuple[str, ...]  # zones
    values: tuple[str, ...]


def settings_drift(layouts: Sequence[Layout], profile: ProviderProfile) -> tuple[Drift, ...]:
    """Settings that vary over requests of one kind, in the order of the provider's invalidation table."""
    found = []
    for row in profile.invalidation:
        change = str(row.get("change"))
        values = list(dict.fromkeys(layout.settings.get(change, "") for layout in layouts))
        if change in ("tools", "system", "messages") or len(values) < 2:
            continue
        reason, certain = reason_of(change, profile)
        loses = tuple(z for z in ("tools", "system", "messages") if row.get(z) != "kept")
        found.append(Drift(change=change, reason=reason, certain=certain, loses=loses, values=tuple(values)))
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Varying:
    """A block that ought to be the same in two requests and is not: where, from which byte, and both texts there."""

    id: str
    pointer: str
    byte: int
    before: str
    after: str
    same_value: bool  # equal as JSON: only its serialization differs (R11)


_SHOWN = 40  # characters of each text from the first difference on


def varying_static(before: Layout, after: Layout) -> tuple[Varying, ...]:
    """Stable blocks that differ between two requests (R1, R13): of two clocks, seeds, tenants or sessions."""
    found = []
    for old, new in zip(before.blocks, after.blocks, strict=False):
        if not (old.stable and new.stable):
            break
        if old.wire != new.wire:
            byte = common_bytes(old.wire, new.wire)
            at = len(old.wire.encode("utf-8", "surrogatepass")[:byte].decode("utf-8", "surrogatepass"))
            found.append(
                Varying(
                    id=new.id,
                    pointer=new.pointer,
                    byte=byte,
                    before=old.wire[at : at + _SHOWN],
                    after=new.wire[at : at + _SHOWN],
                    same_value=old.wire[:1] in "{[" and _value(old.wire) == _value(new.wire),
                )
            )
    return tuple(found)


def dynamic_before_stable(layout: Layout) -> tuple[tuple[str, str], ...]:
    """Pairs of a stable block and the first dynamic one in front of it (R6): what follows a change cannot be reused."""
    dynamic = ""
    found = []
    for block in layout.blocks:
        if not block.stable and not dynamic:
            dynamic = block.id
        elif block.stable and dynamic:
            found.append((block.id, dynamic))
    return tuple(found)


def appended(
    before: Layout, after: Layout, profile: ProviderProfile, tokenizer: Tokenizer | None = None
) -> Difference | None:
    """Where a request is not an extension of the one before it; None where it is (append-only)."""
    return first_difference(Keys(before, profile), Keys(after, profile), profile, tokenizer)
