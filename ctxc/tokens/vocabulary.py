"""The rank tables of byte-pair vocabularies, as they ship with the package, and what they must hash to."""

from __future__ import annotations

from pathlib import Path

from ctxc.base.errors import MissingTokenizer
from ctxc.base.values import dataclass

FOLDER = Path(__file__).parent / "vocab"

_REMEDY = "install ctxc-toolkit again (pip install --force-reinstall ctxc-toolkit): its vocabularies ship inside it"
_MAX_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """One rank table.

    ``ranks_sha256`` is that of the published ``.tiktoken`` file (the constant in tiktoken's ``openai_public.py``, read
    2026-11). ``table_sha256`` is that of the packed table after decompression: one length byte per rank, then the
    bytes of all tokens in the order of their ranks.
    """

    name: str
    size: int  # ranks
    ranks_sha256: str
    table_sha256: str


CL100K = Vocabulary(
    name="cl100k_base",
    size=100_256,
    ranks_sha256="223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    table_sha256="18288f996f452d44e0e65996176591a4b712a3eb1b42afd6f0511e735c099480",
)
O200K = Vocabulary(
    name="o200k_base",
    size=199_998,
    ranks_sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    table_sha256="440741350e7cfa1c0f4869ce742d1b043550adbda5187adcac9e787edac6fba9",
)
VOCABULARIES = {vocabulary.name: vocabulary for vocabulary in (CL100K, O200K)}


def load_ranks(vocabulary: Vocabulary, folder: Path = FOLDER) -> dict[bytes, int]:
    """Token bytes to rank, in the order of ranks. Raises MissingTokenizer when the file is absent or not the one."""
    import zlib
    from hashlib import sha256
    from itertools import accumulate, pairwise

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
    size = vocabulary.size
    ends = accumulate(table[:size], initial=size)
    return {table[start:end]: rank for rank, (start, end) in enumerate(pairwise(ends))}
