"""Tokenizers by name. A tokenizer is one file in ``tokenizers/``; its module's name is its id. Others are made of a
vocabulary file that a project brings along; which forms of file there are is in ``formats/``.

Nothing here loads a vocabulary: that happens when a text must be counted that no store knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxc.base import registry
from ctxc.base.errors import MissingTokenizer
from ctxc.tokens.cache import CountStore, clear, open_store
from ctxc.tokens.extras import CTOK, installed

if TYPE_CHECKING:
    from ctxc.model.counting import Tokenizer

__all__ = ["CountStore", "clear", "get", "ids", "installed", "of_file", "open_store", "ships"]

_PACKAGE = "ctxc.tokens.tokenizers"


def ids() -> tuple[str, ...]:
    """Ids of all tokenizers that need no file, sorted; some need an extra, which says so when they are got."""
    return registry.names(_PACKAGE)


def ships(id: str) -> bool:
    """Whether a tokenizer is part of this package, so that its name alone says which one it is."""
    return id in ids() and not id.startswith(f"{CTOK.module}_")


def get(id: str, store: CountStore | None = None) -> Tokenizer:
    """The tokenizer of an id, counting through ``store`` (None: a memory of its own).

    Raises MissingTokenizer for an id that is not there, or whose extra is not installed. Cheap: the vocabulary is
    loaded at the first count.
    """
    if id not in ids():
        from difflib import get_close_matches

        near = get_close_matches(id, ids(), n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise MissingTokenizer(
            f"there is no tokenizer {id!r}",
            help=f"{hint}known: {', '.join(ids())}; a vocabulary file is named in `tokenizers` of the configuration",
        )
    tokenizer: Tokenizer = registry.load(_PACKAGE, id).build(store if store is not None else open_store(None))
    return tokenizer


def of_file(id: str, path: str, data: bytes, store: CountStore | None = None, *, size: int = 0) -> Tokenizer:
    """A tokenizer under a name of one's own, from the bytes of a vocabulary file (``path`` is for messages).

    Its digest is the SHA-256 of the bytes. ``size``: how many tokens the vocabulary has to have, 0 for any. Raises
    MissingTokenizer for a file of no known form, for a missing package, and at the first count for a broken file.
    """
    from ctxc.tokens.files import of_file as made

    return made(id, path, data, store if store is not None else open_store(None), size=size)
