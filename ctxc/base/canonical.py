"""One writer for everything that is hashed.

Snapshots hold only strings, integers, booleans, null, lists and objects with ASCII keys, so compact sorted JSON
of the standard library is RFC 8785 (a test compares); floats are refused because their text differs by writer.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from typing import Any


def json_writer(
    *, sort_keys: bool = False, allow_nan: bool = True, default: Callable[[Any], Any] | None = None
) -> Callable[[object], str]:
    """A writer of compact JSON on one line: that of the standard library, which it would set up anew for every value.

    A value that holds itself is a ``RecursionError``: it is not looked for. Other options as in ``json.dumps``.
    """
    plain = json.JSONEncoder(
        ensure_ascii=False, sort_keys=sort_keys, separators=(",", ":"), allow_nan=allow_nan, default=default
    )
    make = json.encoder.c_make_encoder  # type: ignore[attr-defined]  # None where there is no compiled one
    if make is None:
        return plain.encode
    encode = make(None, plain.default, json_string, None, ":", ",", sort_keys, False, allow_nan)

    def write(value: object) -> str:
        return "".join(encode(value, 0))

    return write


json_string: Callable[[str], str] = json.encoder.encode_basestring
"""The canonical JSON text of a string."""

_CANONICAL = json_writer(sort_keys=True, allow_nan=False)


def canonical(value: object) -> str:
    """The canonical JSON text of a value; raises ``ValueError`` for NaN and ``TypeError`` for foreign types."""
    return _CANONICAL(value)


def digest_text(text: str) -> str:
    """``sha256:`` and the hex digest of the text's UTF-8 bytes."""
    return "sha256:" + sha256(text.encode("utf-8")).hexdigest()


def digest_bytes(data: bytes) -> str:
    """``sha256:`` and the hex digest of the bytes."""
    return "sha256:" + sha256(data).hexdigest()


def digest_json(value: object) -> str:
    """``sha256:`` and the hex digest of the value's canonical JSON."""
    return digest_text(canonical(value))
