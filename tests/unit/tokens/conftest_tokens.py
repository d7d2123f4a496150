"""What the tests of counting share."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest
import tiktoken
import tiktoken_ext.openai_public as published

from ctxc.tokens.vocabulary import VOCABULARIES, load_ranks


def published_arguments(name: str) -> tuple[dict[str, Any], str]:
    """What the installed tiktoken builds an encoding from (with our ranks), and the hash that it checks them by."""
    hashes: list[str] = []

    def load(url: str, expected_hash: str | None = None) -> dict[bytes, int]:
        hashes.append(expected_hash or "")
        return load_ranks(VOCABULARIES[url.rpartition("/")[2].removesuffix(".tiktoken")])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(published, "load_tiktoken_bpe", load)
        arguments = getattr(published, name)()
    return arguments, hashes[0]


@pytest.fixture(scope="session")
def reference() -> Callable[[str], tiktoken.Encoding]:
    """tiktoken's own encoding of a name, built from its own constants."""
    built: dict[str, tiktoken.Encoding] = {}

    def get(name: str) -> tiktoken.Encoding:
        if name not in built:
            built[name] = tiktoken.Encoding(**published_arguments(name)[0])
        return built[name]

    return get


def rank_file(name: str) -> bytes:
    """The published ``.tiktoken`` file, rebuilt from the packed one."""
    ranks = load_ranks(VOCABULARIES[name])
    return b"".join(b"%s %d\n" % (base64.b64encode(token), rank) for token, rank in ranks.items())
