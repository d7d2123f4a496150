"""ctok_4_8: Claude Opus 4.8 and the fifth generation, by the extra ``claude`` (see ``ctxc.tokens.claude``)."""

from __future__ import annotations

from ctxc.tokens.cache import CountStore
from ctxc.tokens.claude import claude
from ctxc.tokens.measured import Measured


def build(store: CountStore) -> Measured:
    """The tokenizer, counting through a store. Raises MissingTokenizer where the package ctok is not installed."""
    return claude("ctok_4_8", "4.8", store)
