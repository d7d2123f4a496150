r"""Exact counts by byte-pair encoding: the only module that imports tiktoken, and only when something must be encoded.

The vocabulary comes from this package, never from the network, and ``Encoding.encode_ordinary`` encodes, so that the
literal text of a special token is ordinary text.

Long runs of whitespace: tiktoken (0.14, measured) ends in a Rust panic at a run of about 996,000 whitespace characters,
because its pattern engine gives up after a million steps back. A text with a run of 500,000 or more is therefore cut
into blocks at places where no token can cross (after a line feed, before anything but whitespace and "/"); blocks
without such a run are encoded as ever, and in the others the pattern is applied by the ``regex`` module and each piece
encoded by itself. That is the same result, except for characters that one of the two engines does not know yet
because its Unicode tables are older (17,560 code points, all unassigned in Unicode 14.0; tiktoken 0.14, regex
2026.11), and only inside such a block.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING

from ctxc.base.canonical import canonical
from ctxc.base.errors import InternalFault, MissingTokenizer
from ctxc.base.text import utf8
from ctxc.tokens.cache import CountStore
from ctxc.tokens.vocabulary import FOLDER, Vocabulary, is_western, load_ranks

if TYPE_CHECKING:
    from pathlib import Path

    import tiktoken

ENCODER = "tiktoken.encode_ordinary/1"
"""Identity of the way in which text is encoded; a new one makes every stored count void."""

LONG_RUN = 500_000
"""Whitespace characters in a row from which on tiktoken's own splitting is not used."""

_LONG_RUN = re.compile(rf"(?<!\s)\s{{{LONG_RUN}}}")  # looking behind keeps the search linear in a shorter run
_SAFE_PLACE = re.compile(r"(?<=\n)(?=[^\s/])")

_RECENT_CHARACTERS = 4_000_000  # of the texts whose counts are remembered by the text itself

_encodings: dict[tuple[tuple[str, str, str], bool], tiktoken.Encoding] = {}  # True: of western tokens alone
_loading = Lock()


_BLOCKS = re.compile(r"(?<=\n\n)(?=[\[<])")
_BLANK_LINE = "\n\n"
_SPLIT_FROM = 200  # characters: a shorter text is not worth splitting


def _apart(text: str) -> list[str]:
    """The blocks of a text, where one begins with a bracket after a blank line.

    Both patterns end a token at a line feed that something else than white space or a slash follows, so the tokens of
    the whole are the sum of the tokens of the blocks (a property test). What a request is joined from is counted once.
    """
    if len(text) < _SPLIT_FROM or ("\n\n[" not in text and "\n\n<" not in text):
        return [text]
    if "\n\n<" in text:
        return _BLOCKS.split(text)
    first, *others, last = text.split("\n\n[")  # by far the most common, and twenty times as fast as a pattern
    return [f"{first}\n\n", *(f"[{other}\n\n" for other in others), f"[{last}"]


def _closed(piece: str) -> str:
    """The bracket that ends a block after a letter; empty where a text does not end so, or is not worth it.

    Both patterns split between the two, and take the bracket together with the line feeds that follow it. So a block
    that nothing follows has the tokens of the same block with a blank line, but for those of this last piece.
    """
    if len(piece) < _SPLIT_FROM or piece[-1] not in "]>" or not (piece[-2].isascii() and piece[-2].isalpha()):
        return ""
    return piece[-1]


class BytePair:
    """A tokenizer of byte pairs; counts through a store, loads its vocabulary when the store does not know.

    ``digest`` is of the published rank file, the pattern and ``ENCODER``, so it is known without loading anything.
    ``special_tokens`` are the ids that a provider's own framing uses; no text that is counted here becomes one.
    """

    method = "exact"

    def __init__(
        self,
        *,
        id: str,
        vocabulary: Vocabulary,
        pattern: str,
        special_tokens: Mapping[str, int],
        store: CountStore,
        folder: Path = FOLDER,
    ) -> None:
        self.id = id
        self.digest = sha256(canonical([vocabulary.ranks_sha256, pattern, ENCODER]).encode()).hexdigest()
        self._owner = bytes.fromhex(self.digest)
        self._vocabulary = vocabulary
        self._pattern = pattern
        self.special_tokens = special_tokens
        self._store = store
        self._folder = folder
        self._key = (vocabulary.name, pattern, str(folder))
        self._recent: dict[str, int] = {"": 0}
        self._recent_characters = 0

    def count(self, text: str) -> int:
        """Tokens of a text. Raises UnreadableSource for a lone surrogate, MissingTokenizer without a vocabulary."""
        if not text:
            return 0
        return self.count_many([text])[0]

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text: one look-up for all, each unknown text encoded once. Raises as ``count``."""
        found = list(map(self._recent.get, texts))
        if None not in found:
            return found  # type: ignore[return-value]  # there is no None in it
        known = {text: tokens for text, tokens in zip(texts, found, strict=True) if tokens is not None}
        known |= self._count_by_blocks(list(dict.fromkeys(text for text in texts if text not in known)))
        return [known[text] for text in texts]

    def _count_by_blocks(self, texts: Sequence[str]) -> dict[str, int]:
        """Tokens of texts, each the sum of its blocks; what several texts are joined from is encoded once."""
        blocks = {text: _apart(text) for text in texts}
        ends = {text: end for text, parts in blocks.items() if (end := _closed(parts[-1]))}
        for text in ends:
            blocks[text][-1] += _BLANK_LINE
        counts = self._count_each([block for parts in blocks.values() for block in parts])
        joined = {
            text: sum(counts[block] for block in parts) + (self._less(ends[text]) if text in ends else 0)
            for text, parts in blocks.items()
            if len(parts) > 1 or text in ends
        }
        # A text of many blocks is most of a request, which is counted once.
        self._remember({text: tokens for text, tokens in joined.items() if len(blocks[text]) == 1})
        return counts | joined

    def _less(self, bracket: str) -> int:
        """What a bracket has more tokens, or fewer, when no blank line follows it."""
        counts = self._count_each([bracket, bracket + _BLANK_LINE])
        return counts[bracket] - counts[bracket + _BLANK_LINE]

    def _count_each(self, texts: Sequence[str]) -> dict[str, int]:
        recent = self._recent
        counts = {text: known for text in texts if (known := recent.get(text)) is not None}
        if unknown := [text for text in texts if text not in counts]:
            fresh = self._look_up(unknown)
            counts |= fresh
            self._remember(fresh)
        return counts

    def _remember(self, counts: Mapping[str, int]) -> None:
        """A request is counted soon after its parts: finding a text again is cheaper than hashing its bytes again."""
        size = sum(map(len, counts))
        if self._recent_characters + size > _RECENT_CHARACTERS:
            self._recent, self._recent_characters = {"": 0}, 0
        if size <= _RECENT_CHARACTERS:
            self._recent.update(counts)
            self._recent_characters += size

    def _look_up(self, texts: Sequence[str]) -> dict[str, int]:
        order = {text: utf8(text) for text in texts}
        found = self._store.get_many(self._owner, list(order.values()))
        counts = {text: known for text, known in zip(order, found, strict=True) if known is not None}
        if unknown := [text for text in order if text not in counts]:
            fresh = dict(zip(unknown, self._count_fresh(unknown), strict=True))
            self._store.put_many(self._owner, [(order[text], tokens) for text, tokens in fresh.items()])
            counts |= fresh
        return counts

    def prefix(self, text: str, limit: int) -> int:
        """Length in code points of a longest prefix found whose own count is at most ``limit`` tokens.

        Encodes a window from the start that is widened until it holds more than ``limit`` tokens, cuts the tokens,
        and counts what is left again. Neither this nor a search by halves finds the longest in all cases, because
        counts do not grow evenly; this one is never over. May split a grapheme, never a code point.
        """
        return self._end(text, limit, front=True)

    def suffix(self, text: str, limit: int) -> int:
        """Length in code points of a longest suffix found whose own count is at most ``limit``; as ``prefix``."""
        return self._end(text, limit, front=False)

    def encode(self, text: str) -> list[int]:
        """Token ids of a text, not cached. Raises UnreadableSource for a lone surrogate."""
        utf8(text)
        return self._encode(text)

    # -- prefix and suffix -----------------------------------------------------------------------------------------

    def _end(self, text: str, limit: int, *, front: bool) -> int:
        if limit <= 0 or not text:
            return 0
        data = utf8(text)
        if len(data) <= limit:  # a token is at least one byte
            return len(text)
        owner = sha256(self._owner + (b"prefix " if front else b"suffix ") + str(limit).encode()).digest()
        known = self._store.get_many(owner, [data])[0]
        if known is not None and known <= len(text) and self.count(_piece(text, known, front=front)) <= limit:
            return known
        length = self._find_end(text, limit, front=front)
        if length:
            self._store.put_many(owner, [(data, length)])
        return length

    def _find_end(self, text: str, limit: int, *, front: bool) -> int:
        window = max(256, 6 * limit)
        while True:
            ids = self._encode(_piece(text, min(window, len(text)), front=front))
            if window >= len(text):
                if len(ids) <= limit:
                    return len(text)
                break
            if len(ids) > limit + 16:  # the tokens next to the window's edge are not those of the whole text
                break
            window *= 2
        encoding, keep = self._encoding(is_western(text)), limit
        while keep > 0:
            data = encoding.decode_bytes(ids[:keep] if front else ids[-keep:])
            if not front:
                data = data.lstrip(_CONTINUATION)
            length = len(data.decode("utf-8", "ignore"))
            over = self.count(_piece(text, length, front=front)) - limit
            if over <= 0:
                return length
            keep -= over
        return 0

    # -- encoding --------------------------------------------------------------------------------------------------

    def _count_fresh(self, texts: list[str]) -> list[int]:
        # All at once: a part of the table would be loaded for nothing where another text needs the whole.
        # One after the other: texts of this size spend as much on taking turns in threads as they gain (measured).
        encoding = self._encoding(all(map(is_western, texts)))
        return [len(_encoded(encoding, self._pattern, self.id, text)) for text in texts]

    def _encode(self, text: str) -> list[int]:
        return _encoded(self._encoding(is_western(text)), self._pattern, self.id, text)

    def _encoding(self, western: bool) -> tiktoken.Encoding:
        """The encoder; for western texts one of western tokens alone, which is loaded in two thirds of the time.

        The pattern splits a text without regard to tokens, and a piece is put together from tokens that stand in it.
        """
        encoding = _encodings.get((self._key, False)) or _encodings.get((self._key, western))
        if encoding is None:
            with _loading:
                encoding = _encodings.get((self._key, False)) or _encodings.get((self._key, western))
                if encoding is None:
                    ranks = load_ranks(self._vocabulary, self._folder, western=western)
                    encoding = _encodings[self._key, western] = _made(self.id, self._pattern, ranks)
        return encoding


def encoder(id: str, pattern: str, ranks: dict[bytes, int]) -> Callable[[str], list[int]]:
    """Token ids of a text by a table and a pattern from elsewhere, under the name ``id``; not cached.

    Raises ValueError for a pattern or a table that cannot be used; the function raises InternalFault as every count.
    """
    encoding = _made(id, pattern, ranks)
    return lambda text: _encoded(encoding, pattern, id, text)


def _made(id: str, pattern: str, ranks: dict[bytes, int]) -> tiktoken.Encoding:
    try:
        import tiktoken
    except ImportError as error:
        raise MissingTokenizer(f"counting with {id} needs the package tiktoken", help="pip install tiktoken") from error
    # No special tokens: none is ever encoded as such.
    return tiktoken.Encoding(id, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})


def _encoded(encoding: tiktoken.Encoding, pattern: str, id: str, text: str) -> list[int]:
    try:
        if len(text) < LONG_RUN or not _LONG_RUN.search(text):
            return encoding.encode_ordinary(text)
        ids: list[int] = []
        for block, long_run in _blocks(text):
            ids += _by_pieces(encoding, pattern, block) if long_run else encoding.encode_ordinary(block)
        return ids
    except BaseException as error:
        # A Rust panic is no Exception and its class cannot be imported.
        if type(error).__name__ != "PanicException":
            raise
        raise InternalFault(
            f"the encoder {id} gave up on a text of {len(text):,} characters",
            help="report the text; until then shorten its longest run of one kind of character",
        ) from error


def _by_pieces(encoding: tiktoken.Encoding, pattern: str, block: str) -> list[int]:
    import regex

    ids: list[int] = []
    for match in regex.finditer(pattern, block):
        ids += encoding._encode_single_piece(match.group())
    return ids


_CONTINUATION = bytes(range(0x80, 0xC0))


def _piece(text: str, length: int, *, front: bool) -> str:
    return text[:length] if front else text[len(text) - length :]


def _blocks(text: str) -> Iterator[tuple[str, bool]]:
    """A text in blocks that encode independently, each with whether it holds a long run of whitespace."""
    start = 0
    for run in _LONG_RUN.finditer(text):
        if run.start() < start:
            continue
        before = max((place.start() for place in _SAFE_PLACE.finditer(text, start, run.start())), default=start)
        if before > start:
            yield text[start:before], False
        after = _SAFE_PLACE.search(text, run.end())
        end = after.start() if after else len(text)
        yield text[before:end], True
        start = end
    if start < len(text):
        yield text[start:], False
