"""The patterns in a vocabulary file of the project are judged before an engine that steps back applies one."""

from __future__ import annotations

import base64
import json

import pytest

from ctxc.base.errors import MissingTokenizer
from ctxc.tokens.formats import tekken, tokenizer_json

PUBLISHED = {
    "gpt2": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "llama3": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+",
    "deepseek": r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|"
    r" ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "bloom": r" ?[^(\s|[.,!?…。，、।۔،])]+",
}
HOSTILE = [r"(a+)+b", r"(?:\s*\S*)*x", r"(?:(?:\p{L}+)*)*!", "x" * 4_097]


def file_with(pattern: str) -> bytes:
    """A tokenizer.json whose pattern stands deep in a sequence."""
    splits = {"type": "Sequence", "pretokenizers": [{"type": "Split", "pattern": {"Regex": pattern}}]}
    return json.dumps({"added_tokens": [], "pre_tokenizer": splits, "model": {"vocab": {"Regex": 1}}}).encode()


def tekken_with(pattern: str) -> bytes:
    vocab = [{"rank": n, "token_bytes": base64.b64encode(bytes([n])).decode()} for n in range(256)]
    config = {"pattern": pattern, "default_vocab_size": 256, "default_num_special_tokens": 0}
    return json.dumps({"config": config, "vocab": vocab}).encode()


@pytest.mark.parametrize("name", PUBLISHED)
def test_patterns_of_published_vocabularies_pass(name: str) -> None:
    found = tokenizer_json._patterns("t.json", file_with(PUBLISHED[name]))
    assert found == [PUBLISHED[name]]
    tokenizer_json.check_patterns("t.json", found)
    assert tekken.counter("t.json", tekken_with(PUBLISHED["gpt2"]), 0)("Hi there") == 8


@pytest.mark.parametrize("pattern", HOSTILE)
def test_a_pattern_that_could_explode_is_refused_before_anything_is_counted(pattern: str) -> None:
    with pytest.raises(MissingTokenizer, match=r"'t\.json' is not used: its pattern '.*' (could take exp|is too long)"):
        tokenizer_json.check_patterns("t.json", tokenizer_json._patterns("t.json", file_with(pattern)))
    with pytest.raises(MissingTokenizer, match=r"'t\.json' is not used"):
        tekken.counter("t.json", tekken_with(pattern), 0)


@pytest.mark.parametrize("data", [b'{"added_tokens": ', b'{"added_tokens": ' + b"[" * 100_000])
def test_a_broken_file_is_refused(data: bytes) -> None:
    with pytest.raises(MissingTokenizer, match=r"cannot be used as a tokenizer\.json"):
        tokenizer_json._patterns("t.json", data)
