"""One writer for everything that is hashed.

Snapshots hold only strings, integers, booleans, null, lists and objects with ASCII keys, so compact sorted JSON
of the standard library is RFC 8785 (a test compares); floats are refused because their text differs by writer.
"""

from __future__ import annotations

import json
from hashlib import sha256

_ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def canonical(value: object) -> str:
    """The canonical JSON text of a value; raises ``ValueError`` for NaN and ``TypeError`` for foreign types."""
    return _ENCODER.encode(value)


def digest_text(text: str) -> str:
    """``sha256:`` and the hex digest of the text's UTF-8 bytes."""
    return "sha256:" + sha256(text.encode("utf-8")).hexdigest()


def digest_bytes(data: bytes) -> str:
    """``sha256:`` and the hex digest of the bytes."""
    return "sha256:" + sha256(data).hexdigest()


def digest_json(value: object) -> str:
    """``sha256:`` and the hex digest of the value's canonical JSON."""
    return digest_text(canonical(value))
