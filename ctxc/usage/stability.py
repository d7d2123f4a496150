"""What must not vary between requests that ought to share a prefix: tools, settings, keys, ids, serialization.

Each function compares layouts or requests of one kind (turns of a conversation, fixtures of one request profile, one
fixture compiled twice) and returns what differs; nothing means that nothing does.
"""

from __future__ import annotations

import json
from typing import Any

from ctxc.base.values import dataclass
from ctxc.model.counting import Tokenizer
from ctxc.model.provider import ProviderProfile
from ctxc.model.usage import Difference, Layout
from ctxc.usage.difference import Keys, first_difference


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


def appended(
    before: Layout, after: Layout, profile: ProviderProfile, tokenizer: Tokenizer | None = None
) -> Difference | None:
    """Where a request is not an extension of the one before it; None where it is (append-only)."""
    return first_difference(Keys(before, profile), Keys(after, profile), profile, tokenizer)
