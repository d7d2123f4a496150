"""Fixtures of the tests of loading."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from parse_world import TEXT_PROVIDER, BlobStore, Load

from ctxc.model.project import Project, Settings
from ctxc.parse.load import load_project
from ctxc.source.memory import MemoryTree


@pytest.fixture
def store() -> BlobStore:
    """An empty store."""
    return BlobStore()


@pytest.fixture
def load() -> Load:
    """Load files given as ``{path: text or bytes}``; a provider profile ``text`` is shipped."""

    def loader(
        files: Mapping[str, str | bytes],
        *,
        settings: Settings | None = None,
        store: BlobStore | None = None,
        links: Mapping[str, str] | None = None,
    ) -> Project:
        tree = MemoryTree(files, links=links)
        shipped = {"text": TEXT_PROVIDER}
        return load_project(tree, settings or Settings(), builtin_providers=shipped, store=store)

    return loader
