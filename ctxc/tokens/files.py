"""A tokenizer from a vocabulary file of the project. Nothing of the file is read before a text must be counted."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256

from ctxc.base import registry
from ctxc.base.errors import MissingTokenizer
from ctxc.tokens.cache import CountStore
from ctxc.tokens.measured import Measured

_PACKAGE = "ctxc.tokens.formats"


def of_file(id: str, path: str, data: bytes, store: CountStore, *, size: int = 0) -> Measured:
    """The tokenizer of a file: its digest is the SHA-256 of the bytes, as ``sha256sum`` prints it.

    ``size`` is how many tokens the vocabulary has to have (0: any number). Raises MissingTokenizer for a file of no
    known form and where the package that its form needs is not installed; at the first count also for a broken file.
    """
    modules = [registry.load(_PACKAGE, name) for name in registry.names(_PACKAGE)]
    form = next((m for m in modules if m.recognises(data)), None)
    if form is None:
        raise MissingTokenizer(
            f"'{path}' is no vocabulary file that is known here",
            help=f"a {' or a '.join(m.NAME for m in modules)} is; other forms can be converted to a tokenizer.json",
        )
    digest = sha256(data).hexdigest()
    engine = form.ready(f"the vocabulary '{path}'")

    def measure(text: str) -> int:
        key = (digest, size)
        if key not in _counters:
            _counters[key] = form.counter(path, data, size)
        return _counters[key](text)

    return Measured(id=id, digest=digest, engine=engine, store=store, measure=measure)


_counters: dict[tuple[str, int], Callable[[str], int]] = {}
