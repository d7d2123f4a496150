"""The rank tables of byte-pair vocabularies, as they ship with the package, and what they must hash to."""

from __future__ import annotations

import re
from pathlib import Path

from ctxc.base.errors import MissingTokenizer
from ctxc.base.values import dataclass

FOLDER = Path(__file__).parent / "vocab"
SEPARATOR = b"\xff"

# The bytes of ASCII, of U+0080 to U+00FF and of U+2000 to U+2FFF, where the marks of typography stand (and those that
# ctxc itself puts where it cuts): a text of these characters needs no token that holds any other byte.
_WESTERN_BYTES = bytes(range(0xC0)) + b"\xc2\xc3\xe2"
_NOT_WESTERN = re.compile("[^\x00-\xff\u2000-\u2fff]")

_REMEDY = "install ctxc-toolkit again (pip install --force-reinstall ctxc-toolkit): its vocabularies ship inside it"
_MAX_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """One rank table.

    ``ranks_sha256`` is that of the published ``.tiktoken`` file (the constant in tiktoken's ``openai_public.py``, read
    2026-11). ``table_sha256`` is that of the packed table after decompression: all tokens in the order of their ranks,
    with the byte 0xFF between them, which stands in no other token than the one that is this byte; that one is empty.
    """

    name: str
    size: int  # ranks
    ranks_sha256: str
    table_sha256: str


CL100K = Vocabulary(
    name="cl100k_base",
    size=100_256,
    ranks_sha256="223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    table_sha256="bd4318815e7f3812511bd1e8edbba1d503cfdd3d714e5f7cdc52496b1a166df3",
)
O200K = Vocabulary(
    name="o200k_base",
    size=199_998,
    ranks_sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    table_sha256="75a984bf59dfb77b03d00f651cb144e88345efa853f75797f4fdb2eb674a1c7e",
)
VOCABULARIES = {vocabulary.name: vocabulary for vocabulary in (CL100K, O200K)}


def is_western(text: str) -> bool:
    """Whether a text is written in ASCII, Latin-1 and the marks of typography."""
    return text.isascii() or not _NOT_WESTERN.search(text)


def load_ranks(vocabulary: Vocabulary, folder: Path = FOLDER, *, western: bool = False) -> dict[bytes, int]:
    """Token bytes to rank, in the order of ranks. Raises MissingTokenizer when the file is absent or not the one.

    ``western``: only the tokens that a text can hold of which ``is_western`` is true.
    """
    import zlib
    from hashlib import sha256

    path = folder / f"{vocabulary.name}.bin"
    try:
        table = zlib.decompressobj().decompress(path.read_bytes(), _MAX_BYTES)
    except OSError as error:
        reason = error.strerror or str(error)
        raise MissingTokenizer(f"the vocabulary {vocabulary.name} cannot be read: {reason}", help=_REMEDY) from error
    except zlib.error as error:
        raise MissingTokenizer(f"the vocabulary {vocabulary.name} is damaged: {error}", help=_REMEDY) from error
    found = sha256(table).hexdigest()
    if found != vocabulary.table_sha256:
        raise MissingTokenizer(
            f"the vocabulary {vocabulary.name} is not the published one: sha256 {found}, "
            f"expected {vocabulary.table_sha256}",
            help=_REMEDY,
        )
    tokens = table.split(SEPARATOR)
    tokens[tokens.index(b"")] = SEPARATOR
    if western:
        return {
            token: rank
            for rank, token in enumerate(tokens)
            if token.isascii() or not token.translate(None, _WESTERN_BYTES)
        }
    return dict(zip(tokens, range(len(tokens)), strict=True))
