"""A tokenizer made of a function that counts one text: how vocabularies that do not ship with this package count.

Counts go through the store, as those of byte pairs do. A count may be nothing (some vocabularies drop a character) or
more than the bytes of its text (some begin each text with a token of their own), which the store takes for damage;
so what is kept is the count and one, under the text with some bytes behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256

from ctxc.base.canonical import canonical
from ctxc.base.text import utf8
from ctxc.tokens.cache import CountStore

_PAD = b"\0" * 16
_PIECE = 2_000  # code points that are counted at a time while the place of a cut is looked for


class Measured:
    """Counts with ``measure``, tokens of one text that is not empty; asks it for what the store does not know.

    ``digest`` is the identity of the vocabulary and goes into snapshots; ``engine`` that of the code that counts, and
    only keeps apart what is stored.
    """

    def __init__(
        self,
        *,
        id: str,
        digest: str,
        engine: str,
        store: CountStore,
        measure: Callable[[str], int],
        method: str = "exact",
    ) -> None:
        self.id = id
        self.digest = digest
        self.method = method
        self._owner = sha256(canonical([digest, engine]).encode()).digest()
        self._store = store
        self._measure = measure

    def count(self, text: str) -> int:
        """Tokens of a text. Raises UnreadableSource for a lone surrogate, MissingTokenizer without a vocabulary."""
        return self.count_many([text])[0]

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text: one look-up for all, each unknown text counted once. Raises as ``count``."""
        keys = {text: utf8(text) + _PAD for text in texts if text}
        found = self._store.get_many(self._owner, list(keys.values()))
        counts = {text: known - 1 for text, known in zip(keys, found, strict=True) if known is not None}
        fresh = {text: self._measure(text) for text in keys if text not in counts}
        self._store.put_many(self._owner, [(keys[t], n + 1) for t, n in fresh.items() if n < len(keys[t])])
        counts |= fresh
        return [counts[text] if text else 0 for text in texts]

    def prefix(self, text: str, limit: int) -> int:
        """Length in code points of a longest prefix found whose own count is at most ``limit`` tokens.

        Adds up pieces, cuts the one that is too much, and counts what is left again: it is never over, and may be a
        little shorter than possible, because pieces alone can count more than together.
        """
        return self._end(text, limit, front=True)

    def suffix(self, text: str, limit: int) -> int:
        """Length in code points of a longest suffix found whose own count is at most ``limit``; as ``prefix``."""
        return self._end(text, limit, front=False)

    def _end(self, text: str, limit: int, *, front: bool) -> int:
        if limit <= 0 or not text:
            return 0
        key = utf8(text) + _PAD
        owner = sha256(self._owner + (b"prefix " if front else b"suffix ") + str(limit).encode()).digest()
        known = self._store.get_many(owner, [key])[0]
        if known is not None and known - 1 <= len(text) and self.count(_piece(text, known - 1, front)) <= limit:
            return known - 1
        length = self._find_end(text, limit, front)
        self._store.put_many(owner, [(key, length + 1)])
        return length

    def _find_end(self, text: str, limit: int, front: bool) -> int:
        # Pieces add up to a little more than the whole, so the whole gets its chance somewhat above the limit.
        lengths, sums, enough = [0], [0], limit + limit // 10 + 16
        for length in _ends(text, front):
            tokens = self._measure(_between(text, lengths[-1], length, front))
            lengths.append(length)
            sums.append(sums[-1] + tokens)
            if sums[-1] > enough:
                break
        else:
            if self.count(text) <= limit:
                return len(text)
        allowed = limit
        while allowed > 0:
            number = max(n for n, total in enumerate(sums) if total <= allowed)
            length = lengths[number]
            if number + 1 < len(lengths):
                length = self._cut(text, length, lengths[number + 1], allowed - sums[number], front)
            over = self.count(_piece(text, length, front)) - limit
            if over <= 0:
                return length
            allowed -= over
        return 0

    def _cut(self, text: str, low: int, high: int, room: int, front: bool) -> int:
        """Where the piece between two lengths has at most ``room`` tokens, by halves."""
        start = low
        while low < high:
            middle = (low + high + 1) // 2
            if self._measure(_between(text, start, middle, front)) <= room:
                low = middle
            else:
                high = middle - 1
        return low


def _piece(text: str, length: int, front: bool) -> str:
    return text[:length] if front else text[len(text) - length :]


def _between(text: str, low: int, high: int, front: bool) -> str:
    return text[low:high] if front else text[len(text) - high : len(text) - low]


def _ends(text: str, front: bool) -> Iterator[int]:
    """Lengths of longer and longer ends of a text: pieces end behind a line feed or a space where there is one."""
    length, whole = 0, len(text)
    while whole - length > _PIECE:
        piece = _between(text, length, length + _PIECE, front)
        if front:
            place = max(piece.rfind("\n"), piece.rfind(" ")) + 1
        else:
            places = [p for p in (piece.find("\n"), piece.find(" ")) if p >= 0]
            place = len(piece) - min(places) - 1 if places else 0
        length += place if place > _PIECE // 2 else _PIECE
        yield length
    yield whole
