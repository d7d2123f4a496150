"""Reported faults of other counters, as this one meets them (``tests/cases``; long inputs are made here)."""

from __future__ import annotations

import socket
import time
from pathlib import Path

import pytest

from ctxc import tokens
from ctxc.tokens import bytepair

BOTH = pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])


@BOTH
def test_tk_001_special_token_literals_are_ordinary_text(root: Path, name: str) -> None:
    tokenizer = tokens.get(name)
    text = (root / "tests/cases/tk-001/prompt.md").read_text(encoding="utf-8")
    assert tokenizer.count(text) > 25
    for literal in ("<|endoftext|>", "<|endofprompt|>", "<|im_start|>", "<|im_end|>"):
        assert literal in text
        assert tokenizer.count(literal) > 1


@BOTH
@pytest.mark.parametrize(
    ("case", "text", "fewest"),
    [
        ("tk-003", "a" * 1_000_000, 100_000),
        ("tk-004", "^" * 1_200_000, 100_000),
        ("tk-005", "_" * 480_000 + "\n" + " " * 480_000, 5_000),
    ],
)
def test_tk_003_to_005_long_runs_end_soon(name: str, case: str, text: str, fewest: int) -> None:
    start = time.process_time()
    assert tokens.get(name).count(text) >= fewest, case
    assert time.process_time() - start < 10  # the case's own limit; it takes about half a second


def test_tk_007_nothing_is_downloaded(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(bytepair, "_encodings", {})
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "/nonexistent")
    text = (root / "tests/cases/tk-007/prompt.md").read_text(encoding="utf-8")
    assert tokens.get("o200k_base").count(text) == 6
    assert tokens.get("cl100k_base").count(text) == 6
