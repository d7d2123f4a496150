"""What the strategies share that keep one or both ends of a text: mark, count again, shrink until it fits."""

from __future__ import annotations

from collections.abc import Callable

from ctxc.compiler.truncate._marker import joined, tokens_cut
from ctxc.compiler.truncate._result import Cut
from ctxc.model.counting import Tokenizer


def whole(text: str, strategy: str, tokens: int) -> Cut:
    """A text that fits as it is."""
    kept = ((0, len(text)),) if text else ()
    return Cut(
        text=text,
        strategy=strategy,
        tokens_before=tokens,
        tokens_after=tokens,
        cut=False,
        fits=True,
        kept_ranges=kept,
    )


def only_mark(text: str, strategy: str, tokens: int, limit: int, tokenizer: Tokenizer) -> Cut:
    """The mark alone, where nothing else fits; ``fits`` is false where it does not either."""
    mark = tokens_cut(tokens)
    size = tokenizer.count(mark)
    fits = size <= limit and bool(text)
    return Cut(
        text=mark if fits else "",
        strategy=strategy,
        tokens_before=tokens,
        tokens_after=size if fits else 0,
        cut=True,
        fits=fits,
    )


def keep_ends(
    text: str, limit: int, strategy: str, tokenizer: Tokenizer, choose: Callable[[int], tuple[int, int]]
) -> Cut:
    """Keep ``text[:a]`` and ``text[b:]`` with a mark between them, at most ``limit`` tokens in all.

    ``choose(budget)`` gives a and b such that both ends have about ``budget`` tokens. The number in the mark is the
    tokens of the whole less those of each kept end, each counted alone.
    """
    before = tokenizer.count(text)
    if before <= limit:
        return whole(text, strategy, before)
    budget = limit - tokenizer.count(joined("x", tokens_cut(before), ""))
    while budget > 0:
        end, start = choose(budget)
        if end == 0 and start == len(text):
            break
        if end >= start:  # counts are not additive: both halves fitted and covered everything
            budget -= 1
            continue
        head, tail = text[:end], text[start:]
        left_out = max(1, before - sum(tokenizer.count_many([head, tail])))
        result = joined(head, tokens_cut(left_out), tail)
        after = tokenizer.count(result)
        if after <= limit:
            return Cut(
                text=result,
                strategy=strategy,
                tokens_before=before,
                tokens_after=after,
                cut=True,
                fits=True,
                kept_ranges=tuple(kept for kept in ((0, end), (start, len(text))) if kept[0] < kept[1]),
            )
        budget -= after - limit
    return only_mark(text, strategy, before, limit, tokenizer)
