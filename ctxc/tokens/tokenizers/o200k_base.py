"""o200k_base: GPT-4o and later models of OpenAI. Pattern and special tokens as in tiktoken's ``openai_public.py``."""

from __future__ import annotations

from ctxc.tokens.bytepair import BytePair
from ctxc.tokens.cache import CountStore
from ctxc.tokens.vocabulary import O200K

PATTERN = "|".join(
    (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    )
)
SPECIAL_TOKENS = {"<|endoftext|>": 199999, "<|endofprompt|>": 200018}


def build(store: CountStore) -> BytePair:
    """The tokenizer, counting through a store."""
    return BytePair(id="o200k_base", vocabulary=O200K, pattern=PATTERN, special_tokens=SPECIAL_TOKENS, store=store)
