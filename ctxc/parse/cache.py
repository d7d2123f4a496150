"""What a parse gave, kept by content: a warm load reads JSON and imports no YAML. A cache is untrusted input.

The key is the hash of the bytes; schemas and version are the namespace, so an upgrade never meets an old entry. Only
files without any finding are kept, so that a cached file never hides one. An entry that does not fit is passed over.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, NamedTuple, Protocol

import ctxc
from ctxc.base.canonical import json_writer
from ctxc.base.spans import Span
from ctxc.parse.schemas import digest

_WRITE = json_writer()

FORMAT = 1
"""Number of the entries' own form."""


class Store(Protocol):
    """A persistent store of small blobs by content."""

    def get_blobs(self, namespace: str, keys: Iterable[str]) -> Mapping[str, bytes]:
        """The blobs of those keys that are there."""

    def put_blobs(self, namespace: str, blobs: Mapping[str, bytes]) -> None:
        """Keep blobs; what is there may be replaced."""


class WriteOnly:
    """A store that gives nothing back: what it held was damaged and is written anew."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get_blobs(self, namespace: str, keys: Iterable[str]) -> Mapping[str, bytes]:
        """Nothing."""
        return {}

    def put_blobs(self, namespace: str, blobs: Mapping[str, bytes]) -> None:
        """Keep blobs."""
        self._store.put_blobs(namespace, blobs)


class Entry(NamedTuple):
    """A parsed definition: its kind (empty: none) and its coerced value.

    ``inputs`` is set for a fixture that gave no finding and names no recorded file: the JSON text of its inputs, which
    the value then does not hold (but for ``fragments``, to which references are checked).
    """

    kind: str
    value: Any = None
    inputs: bytes | None = None


def namespace(what: str) -> str:
    """The namespace of one sort of entry (``parse`` or ``places``)."""
    return f"{what}/{FORMAT}/{ctxc.__version__}/{digest()[:16]}"


def key_of(syntax: str, data: bytes) -> str:
    """The key of a file's bytes read in a syntax."""
    return f"{syntax}-{sha256(data).hexdigest()}"


def encode(entry: Entry) -> bytes:
    """An entry as bytes."""
    head = to_json([entry.kind, entry.value])
    return head if entry.inputs is None else head + b"\n" + entry.inputs


def to_json(value: Any) -> bytes:
    """Compact JSON on one line, keys in the order of the file."""
    return _WRITE(value).encode("utf-8")


def decode(blob: bytes) -> Entry | None:
    """The entry in a blob, or None where it is not one."""
    try:
        head, line_end, inputs = blob.partition(b"\n")
        kind, value = json.loads(head)
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None
    return Entry(kind, value, inputs if line_end else None) if isinstance(kind, str) else None


def encode_places(places: Mapping[str, tuple[Span, Span | None]]) -> bytes:
    """Spans of values and keys by pointer, as bytes."""
    table = {k: [*value, *(key or ())] for k, (value, key) in places.items()}
    return to_json(table)


def decode_places(blob: bytes) -> dict[str, tuple[Span, Span | None]] | None:
    """The spans in a blob, or None where they are not."""
    try:
        table = json.loads(blob)
        return {k: (Span(*v[:4]), Span(*v[4:8]) if len(v) > 4 else None) for k, v in table.items()}
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None
