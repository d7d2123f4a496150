"""tail: the end leaves, the beginning stays. For text whose opening says most."""

from __future__ import annotations

from collections.abc import Sequence

from ctxc.base.text import snap_down
from ctxc.compiler.truncate._ends import keep_ends
from ctxc.compiler.truncate._result import Cut
from ctxc.model.counting import Tokenizer


def cut(text: str, limit: int, tokenizer: Tokenizer, keep: Sequence[str] = ()) -> Cut:
    """Keep the beginning, at most ``limit`` tokens with the mark. ``keep`` plays no part."""
    del keep

    def choose(budget: int) -> tuple[int, int]:
        return snap_down(text, tokenizer.prefix(text, budget)), len(text)

    return keep_ends(text, limit, "tail", tokenizer, choose)
