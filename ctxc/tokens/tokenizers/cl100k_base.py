"""cl100k_base: GPT-4 and GPT-3.5 of OpenAI. Pattern and special tokens as in tiktoken's ``openai_public.py``."""

from __future__ import annotations

from ctxc.tokens.bytepair import BytePair
from ctxc.tokens.cache import CountStore
from ctxc.tokens.vocabulary import CL100K

PATTERN = "|".join(
    (
        r"'(?i:[sdmt]|ll|ve|re)",
        r"[^\r\n\p{L}\p{N}]?+\p{L}++",
        r"\p{N}{1,3}+",
        r" ?[^\s\p{L}\p{N}]++[\r\n]*+",
        r"\s++$",
        r"\s*[\r\n]",
        r"\s+(?!\S)",
        r"\s",
    )
)
SPECIAL_TOKENS = {
    "<|endoftext|>": 100257,
    "<|fim_prefix|>": 100258,
    "<|fim_middle|>": 100259,
    "<|fim_suffix|>": 100260,
    "<|endofprompt|>": 100276,
}


def build(store: CountStore) -> BytePair:
    """The tokenizer, counting through a store."""
    return BytePair(id="cl100k_base", vocabulary=CL100K, pattern=PATTERN, special_tokens=SPECIAL_TOKENS, store=store)
