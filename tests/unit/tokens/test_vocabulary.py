"""The vocabularies are the published ones, and nothing else is accepted."""

from __future__ import annotations

import importlib
import zlib
from hashlib import sha256
from pathlib import Path

import pytest
from conftest_tokens import published_arguments, rank_file

from ctxc.base.errors import MissingTokenizer
from ctxc.tokens import open_store
from ctxc.tokens.bytepair import BytePair
from ctxc.tokens.vocabulary import CL100K, FOLDER, O200K, VOCABULARIES, is_western, load_ranks


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
def test_the_published_file_comes_back_byte_for_byte(name: str) -> None:
    ranks = load_ranks(VOCABULARIES[name])
    assert list(ranks.values()) == list(range(VOCABULARIES[name].size))
    assert sha256(rank_file(name)).hexdigest() == VOCABULARIES[name].ranks_sha256


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
def test_the_western_tokens_are_the_whole_of_what_a_western_text_can_hold(name: str) -> None:
    ranks, western = load_ranks(VOCABULARIES[name]), load_ranks(VOCABULARIES[name], western=True)
    characters = [c for c in map(chr, range(0x3100)) if is_western(c)]
    assert characters == [*map(chr, range(0x100)), *map(chr, range(0x2000, 0x3000))]
    written = {byte for c in characters for byte in c.encode()}
    assert western == {token: rank for token, rank in ranks.items() if written.issuperset(token)}
    assert len(western) < 0.75 * len(ranks) or name == "cl100k_base"


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base", "o200k_harmony"])
def test_pattern_special_tokens_and_hash_are_those_of_the_installed_tiktoken(name: str) -> None:
    arguments, expected_hash = published_arguments(name)
    module = importlib.import_module(f"ctxc.tokens.tokenizers.{name}")
    assert arguments["pat_str"] == module.PATTERN
    assert arguments["special_tokens"] == module.SPECIAL_TOKENS
    vocabulary = O200K if name.startswith("o200k") else CL100K
    assert vocabulary.ranks_sha256 == expected_hash


def test_both_vocabularies_together_are_under_one_and_a_half_megabytes() -> None:
    sizes = {path.name: path.stat().st_size for path in FOLDER.iterdir()}
    assert set(sizes) == {"o200k_base.bin", "cl100k_base.bin"}
    assert sum(sizes.values()) < 1_500_000


def counter(folder: Path) -> BytePair:
    return BytePair(
        id="o200k_base", vocabulary=O200K, pattern="x", special_tokens={}, store=open_store(None), folder=folder
    )


def test_a_missing_file_is_named_with_its_remedy(tmp_path: Path) -> None:
    with pytest.raises(MissingTokenizer, match="o200k_base cannot be read: No such file") as caught:
        counter(tmp_path).count("a")
    assert "ctxc-toolkit" in caught.value.help
    assert caught.value.exit_status == 2


def test_one_changed_bit_is_refused(tmp_path: Path) -> None:
    table = bytearray(zlib.decompress((FOLDER / "o200k_base.bin").read_bytes()))
    table[-1] ^= 1
    (tmp_path / "o200k_base.bin").write_bytes(zlib.compress(bytes(table)))
    with pytest.raises(MissingTokenizer, match=r"is not the published one: sha256 [0-9a-f]{64}, expected 75a984bf"):
        counter(tmp_path).count("a")


@pytest.mark.parametrize("data", [b"", b"not zlib at all", zlib.compress(b"\0" * 50_000_000)])
def test_damage_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "o200k_base.bin").write_bytes(data)
    with pytest.raises(MissingTokenizer, match=r"damaged|not the published one"):
        counter(tmp_path).count("a")


def test_the_attribution_carries_both_hashes(root: Path) -> None:
    notice = (root / "NOTICE").read_text(encoding="utf-8")
    for vocabulary in VOCABULARIES.values():
        assert vocabulary.ranks_sha256 in notice
    assert "Copyright (c) 2022 OpenAI, Shantanu Jain" in notice
