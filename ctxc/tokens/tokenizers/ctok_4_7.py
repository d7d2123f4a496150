"""ctok_4_7: Claude Opus 4.7, by the extra ``claude`` (see ``ctxc.tokens.claude``)."""

from __future__ import annotations

from ctxc.tokens.cache import CountStore
from ctxc.tokens.claude import claude
from ctxc.tokens.measured import Measured


def build(store: CountStore) -> Measured:
    """The tokenizer, counting through a store. Raises MissingTokenizer where the package ctok is not installed."""
    return claude("ctok_4_7", "4.7", store)
