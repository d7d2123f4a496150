"""Prompt fragments and their manifests (docs/formats.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum

from ctxc.base.spans import NOWHERE, Origin
from ctxc.base.values import dataclass


class LoadMode(StrEnum):
    """What may cause a fragment to be loaded."""

    ALWAYS = "always"
    ROUTE_MATCH = "route_match"
    AUTO_CANDIDATE = "auto_candidate"
    EXPLICIT = "explicit"
    REFERENCE = "reference"
    COMPACTED = "compacted"
    ISOLATED = "isolated"


GROUPS = ("core", "family", "task", "capability")
"""The fixed order of fragment kinds in a prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fragment:
    """A fragment's contract. ``text_path`` is the resolved path of its body, ``body_line`` the line of that file on
    which it starts, behind any front matter."""

    id: str
    version: str
    kind: str  # one of GROUPS
    load_mode: LoadMode
    text_path: str
    text_hash: str = ""
    body_line: int = 1
    applies_when: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    requires: tuple[str, ...] = ()
    conflicts_with: tuple[str, ...] = ()
    priority: int = 50
    max_tokens: int | None = None
    owner: str = ""
    summary: str = ""
    deprecated: str = ""
    source_range: str = ""  # of a compacted fragment: what it summarises
    operations: tuple[str, ...] = ()  # of a reference: the ways to read its body
    origin: Origin = NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class LostFragment:
    """An entry of a manifest that cannot be used, with what of it could be read.

    ``id`` is empty where nobody knows which fragments a file defines; ``load_mode`` and ``applies_when`` are None where
    nobody knows which routes the entry is meant for. ``text_paths``: the files that may hold its text.
    """

    id: str = ""
    load_mode: LoadMode | None = None
    applies_when: Mapping[str, tuple[str, ...]] | None = None
    text_paths: tuple[str, ...] = ()
    origin: Origin = NOWHERE
