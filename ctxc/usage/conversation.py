"""Whether the turns of a conversation extend one another: the condition under which a cache helps at all."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ctxc.base.values import dataclass
from ctxc.model.counting import Tokenizer
from ctxc.model.provider import ProviderProfile
from ctxc.model.usage import Difference, Layout
from ctxc.usage.stability import ToolChange, appended, tool_change


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnCheck:
    """A turn against the one before it. ``kept`` tokens at its start are the same; ``difference`` is None where the
    whole earlier request is (append-only)."""

    id: str
    kept: int
    before: int
    difference: Difference | None
    tools: ToolChange


def check_turns(
    ids: Sequence[str], layouts: Sequence[Layout], profile: ProviderProfile, tokenizer: Tokenizer | None = None
) -> tuple[TurnCheck, ...]:
    """Every turn but the first against the one before it."""
    found = []
    for (_, before), (turn, after) in pairwise(zip(ids, layouts, strict=True)):
        difference = appended(before, after, profile, tokenizer)
        whole = before.blocks[-1].closed if before.blocks else 0
        found.append(
            TurnCheck(
                id=turn,
                kept=whole if difference is None else difference.tokens,
                before=whole,
                difference=difference,
                tools=tool_change(before, after),
            )
        )
    return tuple(found)
