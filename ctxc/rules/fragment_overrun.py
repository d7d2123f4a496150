"""A fragment that is longer than its own `max_tokens`.

Why: The limit is the promise on which budgets are built; a fragment that breaks it makes every request with it
fail.

Bad:

    # file: fragments/a.md
    ---
    fragment_id: core.tone
    version: 1
    kind: core
    load_mode: always
    max_tokens: 5
    ---
    Write plainly, in short sentences, without words that the reader would have to look up.

Good:

    # file: fragments/a.md
    ---
    fragment_id: core.tone
    version: 1
    kind: core
    load_mode: always
    max_tokens: 40
    ---
    Write plainly, in short sentences, without words that the reader would have to look up.

Mend: Shorten the text, split the fragment, or raise the limit on purpose.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.compiler.resolve import REFERENCE
from ctxc.model.finding import Finding
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Fragments whose text alone has more tokens than they may have."""
    texts = {}
    for versions in context.project.fragments.values():
        for fragment in versions:
            text = context.body(fragment.text_path).rstrip("\n")
            # A token is at least one byte: most short texts need no counting.
            if fragment.max_tokens is not None and len(text.encode("utf-8", "replace")) > fragment.max_tokens:
                texts[fragment.origin] = (fragment, text)
    if not texts:
        return
    tokenizer = context.tokenizers(REFERENCE)
    counts = tokenizer.count_many([text for _, text in texts.values()])
    for (fragment, _), tokens in zip(texts.values(), counts, strict=True):
        limit = fragment.max_tokens
        if limit is not None and tokens > limit:
            yield RULE.finding(
                context,
                f"fragment {fragment.id!r} has {tokens:,} tokens, {tokens - limit:,} over its max_tokens of {limit:,}",
                at=fragment.origin.child("max_tokens"),
                help="shorten the text, split the fragment, or raise `max_tokens` on purpose",
                data={"tokens": tokens, "limit": limit, "delta": tokens - limit, "tokenizer": tokenizer.id},
            )


RULE = rule(__name__, __doc__, check)
