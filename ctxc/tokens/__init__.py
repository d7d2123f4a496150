"""Tokenizers by name. A tokenizer is one file in ``tokenizers/``; its module's name is its id.

Nothing here loads a vocabulary: that happens when a text must be counted that no store knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxc.base import registry
from ctxc.base.errors import MissingTokenizer
from ctxc.tokens.cache import CountStore, clear, open_store

if TYPE_CHECKING:
    from ctxc.model.counting import Tokenizer

__all__ = ["CountStore", "clear", "get", "ids", "open_store"]

_PACKAGE = "ctxc.tokens.tokenizers"


def ids() -> tuple[str, ...]:
    """Ids of all tokenizers, sorted."""
    return registry.names(_PACKAGE)


def get(id: str, store: CountStore | None = None) -> Tokenizer:
    """The tokenizer of an id, counting through ``store`` (None: a memory of its own).

    Raises MissingTokenizer for an id that is not there. Cheap: the vocabulary is loaded at the first count.
    """
    if id not in ids():
        from difflib import get_close_matches

        near = get_close_matches(id, ids(), n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise MissingTokenizer(f"there is no tokenizer {id!r}", help=f"{hint}known: {', '.join(ids())}")
    tokenizer: Tokenizer = registry.load(_PACKAGE, id).build(store if store is not None else open_store(None))
    return tokenizer
