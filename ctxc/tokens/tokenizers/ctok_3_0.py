"""ctok_3_0: Claude 3 up to Opus and Sonnet 4.6 and Haiku 4.5, by the extra ``claude`` (see ``ctxc.tokens.claude``)."""

from __future__ import annotations

from ctxc.tokens.cache import CountStore
from ctxc.tokens.claude import claude
from ctxc.tokens.measured import Measured


def build(store: CountStore) -> Measured:
    """The tokenizer, counting through a store. Raises MissingTokenizer where the package ctok is not installed."""
    return claude("ctok_3_0", "3.0", store)
