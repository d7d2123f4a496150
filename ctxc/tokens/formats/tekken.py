"""``tekken.json`` of Mistral: a table of byte pairs with the pattern that splits a text before it.

Form as in mistral-common 1.13.1: of the listed tokens the first ``default_vocab_size`` less
``default_num_special_tokens`` are in use, each with its rank as its place.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable
from hashlib import sha256
from typing import Any

from ctxc.base.errors import MissingTokenizer
from ctxc.tokens.bytepair import ENCODER, encoder
from ctxc.tokens.formats.tokenizer_json import check_patterns, check_size

NAME = "tekken.json"

_BYTES = 256  # every byte is a token: whatever is in a text can be told


def recognises(data: bytes) -> bool:
    """Whether the bytes look like such a file."""
    return data[:64].lstrip()[:1] == b"{" and b'"token_bytes"' in data[: 1 << 16]


def ready(subject: str) -> str:
    """Identity of the code that counts; byte pairs need no extra."""
    del subject
    return f"tekken/1 {ENCODER}"


def counter(path: str, data: bytes, size: int) -> Callable[[str], int]:
    """Tokens of a text; raises MissingTokenizer for a file that cannot be used or has another size."""
    try:
        value = json.loads(data)
        config = value["config"]
        used = config["default_vocab_size"] - config["default_num_special_tokens"]
        ranks = _ranks(value["vocab"][:used])
        if len(ranks) != used or used < _BYTES:
            raise ValueError(f"{len(ranks):,} tokens where {max(used, _BYTES):,} were expected")
        check_size(path, used, size)
        check_patterns(path, [config["pattern"]])
        encode = encoder(sha256(data).hexdigest(), config["pattern"], ranks)
    except MissingTokenizer:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise MissingTokenizer(
            f"'{path}' cannot be used as a {NAME}: {error!r}"[:300],
            help="fetch the file again from where the model is published",
        ) from error
    return lambda text: len(encode(text))


def _ranks(rows: list[Any]) -> dict[bytes, int]:
    ranks: dict[bytes, int] = {}
    for place, row in enumerate(rows):
        token = b64decode(row["token_bytes"], validate=True)
        if row["rank"] != place or token in ranks or (place < _BYTES and token != bytes([place])):
            raise ValueError(f"the token at place {place} is out of order or stands there twice")
        ranks[token] = place
    return ranks
