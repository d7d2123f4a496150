"""json: the value gets smaller and stays valid JSON. For tool results and records.

Room is shared out from the outside in. In an object, short fields that say what the value is (``KEEP_KEYS``) are never
cut; the others get what they need if that is little and an even share if it is much. A list keeps its first items and
ends with ``{"_truncated": n}``, an object that has lost keys with ``"_truncated": n``, a string with ``… [n more]``.
Key order, numbers as they were written and repeated keys stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from ctxc.base.errors import UnreadableSource
from ctxc.compiler.truncate import tail
from ctxc.compiler.truncate._ends import whole
from ctxc.compiler.truncate._result import Cut
from ctxc.compiler.truncate._tree import (
    NotJson,
    Tree,
    allot,
    changed_places,
    compact,
    free_key,
    node_of,
    parse,
    plain,
    written,
)
from ctxc.model.counting import Tokenizer

KEEP_KEYS = frozenset(
    {
        *("id", "status", "ok", "code", "error", "error_code", "is_error", "truncated"),
        *("call_id", "tool_call_id", "artifact_ref", "idempotency_key", "version", "next_cursor"),
    }
)
"""Names of fields that are kept whole in every object that is kept, when their value is short."""

_PROBES = 10
_GOOD_ENOUGH_BP = 9_700  # of the limit, in basis points


def cut(text: str, limit: int, tokenizer: Tokenizer, keep: Sequence[str] = ()) -> Cut:
    """Cut JSON text to at most ``limit`` tokens; ``keep`` names further fields to keep.

    Text that fits comes back as it is. White space between tokens goes first. Text that is not JSON, or JSON that
    cannot be carried (deeper than the parser reads, a number of thousands of digits), is cut at its end instead, and
    ``strategy`` and ``note`` of the result say so.
    """
    before = tokenizer.count(text)
    if before <= limit:
        return whole(text, "json", before)
    try:
        root = parse(text, KEEP_KEYS.union(keep))
    except NotJson as error:
        return replace(tail.cut(text, limit, tokenizer), note=f"not cut as JSON: {error}")
    result = _cut_tree(root, limit, tokenizer, None)
    return replace(result, tokens_before=before, note=result.note if result.cut else "only white space was left out")


def cut_value(
    value: object,
    limit: int,
    tokenizer: Tokenizer,
    keep_keys: Collection[str] = KEEP_KEYS,
    render: Callable[[object], str] | None = None,
) -> Cut:
    """Cut a value that JSON can hold to at most ``limit`` tokens of its text.

    The text is compact JSON in the value's own key order, or what ``render`` makes of a value. Raises UnreadableSource
    for what JSON cannot hold (a NaN, a date). A value of too many levels is not cut: ``fits`` and ``note`` say so.
    """
    try:
        root = node_of(value, keep_keys)
    except NotJson as error:
        return _uncut(value, limit, tokenizer, render or compact, str(error))
    return _cut_tree(root, limit, tokenizer, render)


def _uncut(value: object, limit: int, tokenizer: Tokenizer, render: Callable[[object], str], note: str) -> Cut:
    try:
        text = render(value)
    except RecursionError:
        raise UnreadableSource("a value is nested too deeply to be written as JSON", help="flatten it") from None
    before = tokenizer.count(text)
    fits = before <= limit
    return Cut(
        text=text if fits else "",
        strategy="json",
        tokens_before=before,
        tokens_after=before if fits else 0,
        cut=not fits,
        fits=fits,
        value=value if fits else None,
        note="" if fits else f"not cut: {note}",
    )


def _cut_tree(root: Tree, limit: int, tokenizer: Tokenizer, render: Callable[[object], str] | None) -> Cut:
    def text_of(tree: Tree) -> str:
        return written(tree) if render is None else render(plain(tree))

    text = text_of(root)
    before = tokenizer.count(text)
    if before <= limit:
        return _result(root, root, text, before, before)
    smallest = allot(root, 0)
    best, best_text = smallest, text_of(smallest)
    best_tokens = tokenizer.count(best_text)
    if best_tokens > limit:
        return _bare(root, limit, tokenizer, before, text_of)
    low, high = smallest.size, root.size  # bytes: what fits, what does not
    budget = root.size * limit // before
    for _ in range(_PROBES):
        if not low < budget < high:
            budget = (low + high) // 2
        if not low < budget < high or best_tokens * 10_000 >= limit * _GOOD_ENOUGH_BP:
            break
        tree = allot(root, budget)
        text = text_of(tree)
        tokens = tokenizer.count(text)
        if tokens <= limit:
            low = budget
            if tokens >= best_tokens:
                best, best_text, best_tokens = tree, text, tokens
        else:
            high = budget
        budget = budget * limit // max(tokens, 1)
    return _result(root, best, best_text, before, best_tokens)


def _result(root: Tree, tree: Tree, text: str, before: int, after: int) -> Cut:
    cut = tree is not root
    return Cut(
        text=text,
        strategy="json",
        tokens_before=before,
        tokens_after=after,
        cut=cut,
        fits=True,
        removed=tuple(changed_places(root, tree)) if cut else (),
        value=plain(tree),
    )


def _bare(root: Tree, limit: int, tokenizer: Tokenizer, before: int, text_of: Callable[[Tree], str]) -> Cut:
    """``{"_truncated": n}`` alone, where not even the fields that should stay fit."""
    tree = node_of({free_key(root): max(len(root.items), 1)}, ())
    text = text_of(tree)
    after = tokenizer.count(text)
    fits = after <= limit
    return Cut(
        text=text if fits else "",
        strategy="json",
        tokens_before=before,
        tokens_after=after if fits else 0,
        cut=True,
        fits=fits,
        removed=("",),
        lost=tuple(dict.fromkeys(key for key, item in root.items if item.fixed)),
        value=plain(tree) if fits else None,
    )
