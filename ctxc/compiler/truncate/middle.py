"""middle: the middle leaves, both ends stay, with about the same number of tokens each."""

from __future__ import annotations

from collections.abc import Sequence

from ctxc.base.text import snap_down, snap_up
from ctxc.compiler.truncate._ends import keep_ends
from ctxc.compiler.truncate._result import Cut
from ctxc.model.counting import Tokenizer


def cut(text: str, limit: int, tokenizer: Tokenizer, keep: Sequence[str] = ()) -> Cut:
    """Keep both ends, at most ``limit`` tokens with the mark. ``keep`` plays no part."""
    del keep

    def choose(budget: int) -> tuple[int, int]:
        end = snap_down(text, tokenizer.prefix(text, budget - budget // 2))
        return end, snap_up(text, len(text) - tokenizer.suffix(text, budget // 2))

    return keep_ends(text, limit, "middle", tokenizer, choose)
