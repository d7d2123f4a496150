"""o200k_harmony: gpt-oss. Ranks and pattern of o200k_base with other special tokens, so plain text counts the same."""

from __future__ import annotations

from ctxc.tokens.bytepair import BytePair
from ctxc.tokens.cache import CountStore
from ctxc.tokens.tokenizers.o200k_base import PATTERN
from ctxc.tokens.vocabulary import O200K

_NAMED = {
    "<|startoftext|>": 199998,
    "<|endoftext|>": 199999,
    "<|return|>": 200002,
    "<|constrain|>": 200003,
    "<|channel|>": 200005,
    "<|start|>": 200006,
    "<|end|>": 200007,
    "<|message|>": 200008,
    "<|call|>": 200012,
    # Listed beside a reserved token of the same number in the published table.
    "<|endofprompt|>": 200018,
}
_RESERVED = (200000, 200001, 200004, 200009, 200010, 200011, *range(200013, 201088))
SPECIAL_TOKENS = _NAMED | {f"<|reserved_{number}|>": number for number in _RESERVED}


def build(store: CountStore) -> BytePair:
    """The tokenizer, counting through a store."""
    return BytePair(id="o200k_harmony", vocabulary=O200K, pattern=PATTERN, special_tokens=SPECIAL_TOKENS, store=store)
