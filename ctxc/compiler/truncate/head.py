"""head: the beginning leaves, the end stays. For logs and anything whose newest part stands last."""

from __future__ import annotations

from collections.abc import Sequence

from ctxc.base.text import snap_up
from ctxc.compiler.truncate._ends import keep_ends
from ctxc.compiler.truncate._result import Cut
from ctxc.model.counting import Tokenizer


def cut(text: str, limit: int, tokenizer: Tokenizer, keep: Sequence[str] = ()) -> Cut:
    """Keep the end, at most ``limit`` tokens with the mark. ``keep`` plays no part."""
    del keep

    def choose(budget: int) -> tuple[int, int]:
        return 0, snap_up(text, len(text) - tokenizer.suffix(text, budget))

    return keep_ends(text, limit, "head", tokenizer, choose)
