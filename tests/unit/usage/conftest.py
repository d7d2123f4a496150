"""Profiles, tokenizers and requests for tests of caches and money."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from usage_samples import WordTokenizer

from ctxc import providers, tokens
from ctxc.app.workspace import load_tree
from ctxc.model.provider import ModelRow, ProviderProfile
from ctxc.model.usage import Layout, Sent
from ctxc.source.memory import MemoryTree
from ctxc.usage.layout import lay_out


@pytest.fixture(scope="session")
def profiles() -> Mapping[str, ProviderProfile]:
    """Every shipped profile, as a project without files of its own sees them."""
    return load_tree(MemoryTree({})).providers


@pytest.fixture(scope="session")
def who(profiles: Mapping[str, ProviderProfile]) -> Callable[[str, str], tuple[ProviderProfile, ModelRow]]:
    """A profile and the row of a model in it."""

    def find(provider: str, model: str) -> tuple[ProviderProfile, ModelRow]:
        row = providers.find_row(profiles[provider], model)
        assert row is not None
        return profiles[provider], row

    return find


@pytest.fixture(scope="session")
def lay(who: Callable[[str, str], tuple[ProviderProfile, ModelRow]]) -> Callable[..., Layout]:
    """The layout of a request, counted in words unless a tokenizer is given."""

    def make(provider: str, model: str, request: Mapping[str, Any], tokenizer: Any = None) -> Layout:
        profile, row = who(provider, model)
        counts = tokenizer or WordTokenizer("words")
        return lay_out(request, providers.shape(profile.shape), row, counts)

    return make


@pytest.fixture(scope="session")
def play(who: Any, lay: Any) -> Callable[..., list[Any]]:
    """The calls of some requests in order; ``at`` gives their times."""
    from ctxc.usage.simulate import simulate

    def run(provider: str, model: str, *requests: Mapping[str, Any], at: Sequence[int] = (), **more: Any) -> list[Any]:
        profile, row = who(provider, model)
        counts = WordTokenizer("words")
        sent = [
            Sent(id=str(n), layout=lay(provider, model, r, counts), at=at[n] if at else None)
            for n, r in enumerate(requests)
        ]
        return list(simulate(sent, profile, row, counts, **more).calls)

    return run


@pytest.fixture(scope="session")
def o200k() -> Any:
    """The vocabulary of GPT-4o and later."""
    return tokens.get("o200k_base")


@pytest.fixture(scope="session")
def words_only() -> WordTokenizer:
    """A tokenizer that counts words."""
    return WordTokenizer("words")
