"""Claude's vocabularies, as the package ``ctok`` rebuilt them from counts that were asked of the service.

They are not published: ctok is unofficial, needs Python 3.12, and is used only where a project asks for it. It counts a
text as the one message of a user; what a tokenizer here counts is the text alone, so the tokens of that frame, which
ctok lists first as padding, are taken off. Measured with ctok 1.3.0 (November 2026): 65 to 95 kB a second.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from hashlib import sha256

from ctxc.base.canonical import canonical
from ctxc.tokens.cache import CountStore
from ctxc.tokens.extras import CTOK
from ctxc.tokens.measured import Measured

_FRAME = "⟨pad⟩"
_WAY = "tokenize less its frame/1"


def claude(id: str, version: str, store: CountStore) -> Measured:
    """The tokenizer of a generation (``3.0``, ``4.7``, ``4.8``). Raises MissingTokenizer where ctok is not there."""
    import unicodedata

    package = CTOK.require(f"the tokenizer {id}")
    return Measured(
        id=id,
        digest=sha256(canonical(["ctok", package, version]).encode()).hexdigest(),
        # ctok composes characters and sorts them into classes by Python's own tables.
        engine=f"{_WAY} unicode {unicodedata.unidata_version}",
        store=store,
        measure=lambda text: _counter(version)(text),  # noqa: PLW0108  # the package is imported at the first count
    )


@cache
def _counter(version: str) -> Callable[[str], int]:
    import ctok

    frame: int = sum(token == _FRAME for token in ctok.tokenize("", version))

    def count(text: str) -> int:
        tokens: int = ctok.token_count(text, version)
        return max(0, tokens - frame)

    return count
