"""The JSON Schemas (2020-12) of every file kind. They are committed, stand alone, and serve editors as well."""

from __future__ import annotations

import json
from functools import cache, lru_cache
from hashlib import sha256
from typing import Any

_KINDS = (
    "template",
    "fragment",
    "contract",
    "toolset",
    "profile",
    "policy",
    "provider",
    "fixture",
    "conversation",
    "config",
)


def kinds() -> tuple[str, ...]:
    """Names of the file kinds that have a schema."""
    return _KINDS


def schema_text(kind: str) -> str:
    """The schema of a kind, as it is committed; raises KeyError for a kind that does not exist."""
    if kind not in _KINDS:
        raise KeyError(kind)
    with open(f"{__file__.removesuffix('__init__.py')}{kind}.schema.json", encoding="utf-8") as file:  # noqa: PTH123
        return file.read()


@cache
def schema(kind: str) -> dict[str, Any]:
    """The schema of a kind as data; not to be changed."""
    loaded: dict[str, Any] = json.loads(schema_text(kind))
    return loaded


@lru_cache(maxsize=1)
def digest() -> str:
    """Identity (hex) of all schemas: part of the key of every cached parse."""
    texts = "\0".join(schema_text(k) for k in _KINDS)
    return sha256(texts.encode("utf-8")).hexdigest()
