"""Vocabulary files of a project: their forms, their identity, and what is wrong with one."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from ctxc import tokens
from ctxc.base.errors import MissingTokenizer
from ctxc.tokens.extras import TOKENIZERS, Extra

installed = pytest.mark.skipif(not TOKENIZERS.version, reason="needs the extra tokenizers")
PATTERN = r"[^\s]+|\s+"


def tekken(pairs: tuple[bytes, ...] = (b"ab", b"abc"), **changes: Any) -> bytes:
    """A table of all bytes and some pairs, in the form of Mistral's files, with two special places and one spare."""
    listed = [bytes([n]) for n in range(256)] + [*pairs, b"never used"]
    vocab = [{"rank": n, "token_bytes": base64.b64encode(t).decode(), "token_str": None} for n, t in enumerate(listed)]
    config = {
        "pattern": PATTERN,
        "num_vocab_tokens": len(listed),
        "default_vocab_size": 256 + len(pairs) + 2,
        "default_num_special_tokens": 2,
        "version": "v3",
    }
    return json.dumps({"config": {**config, **changes}, "vocab": vocab}).encode()


def tokenizer_json(**changes: Any) -> bytes:
    """A tokenizer of words in the form of Hugging Face's files; it cuts and pads, which a count must not do."""
    vocab = {w: n for n, w in enumerate(("[UNK]", "<end>", "the", "claim", "is", "open"))}
    value = {
        "version": "1.0",
        "truncation": {"direction": "Right", "max_length": 3, "strategy": "LongestFirst", "stride": 0},
        "padding": {
            "strategy": {"Fixed": 8}, "direction": "Right", "pad_to_multiple_of": None,
            "pad_id": 0, "pad_type_id": 0, "pad_token": "[UNK]",
        },
        "added_tokens": [
            {"id": 1, "content": "<end>", "single_word": False, "lstrip": False, "rstrip": False,
             "normalized": False, "special": True}
        ],
        "normalizer": None,
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "<end>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
            "special_tokens": {"<end>": {"id": "<end>", "ids": [1], "tokens": ["<end>"]}},
        },
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": vocab, "unk_token": "[UNK]"},
    }  # fmt: skip
    return json.dumps({**value, **changes}).encode()


# --- tekken.json ----------------------------------------------------------------------------------------------------


def test_a_table_of_byte_pairs_counts_without_any_extra() -> None:
    data = tekken()
    tokenizer = tokens.of_file("mistral", "vocabulary/tekken.json", data)
    assert tokenizer.id == "mistral"
    assert tokenizer.method == "exact"
    assert tokenizer.digest == hashlib.sha256(data).hexdigest()
    # "abc" is one token, "ab" is one, each other byte is one; the spare token behind the used ones never is.
    assert tokenizer.count_many(["", "abc", "abab", "abcd ab", "é", "never used"]) == [0, 1, 2, 4, 2, 10]


def test_only_the_places_that_are_in_use_count() -> None:
    short = tokens.of_file("m", "t.json", tekken(default_vocab_size=256 + 1 + 2))
    assert short.count_many(["ab", "abc"]) == [1, 2]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (tekken(pattern="("), "Opening parenthesis"),
        (tekken(default_vocab_size=900), "259 tokens where 898 were expected"),
        (tekken(default_vocab_size=100), "98 tokens where 256 were expected"),
        (tekken(pairs=(b"ab", b"ab")), "stands there twice"),
        (tekken().replace(b'"rank": 7,', b'"rank": 8,'), "place 7 is out of order"),
        (tekken().replace(b'"token_bytes": "AQ=="', b'"token_bytes": "?!"'), "cannot be used as a tekken.json"),
        (tekken()[:-20], "cannot be used as a tekken.json"),
        (b'{"vocab": [{"token_bytes": "AA=="}]}', "KeyError('config')"),
        (b'{"config": [], "vocab": [{"token_bytes": "AA=="}]}', "cannot be used as a tekken.json"),
    ],
)
def test_a_broken_table_is_refused_at_the_first_count(data: bytes, message: str) -> None:
    tokenizer = tokens.of_file("m", "vocabulary/t.json", data)
    with pytest.raises(MissingTokenizer) as caught:
        tokenizer.count("x")
    assert caught.value.message.startswith("'vocabulary/t.json'")
    assert message in caught.value.message
    assert caught.value.help


def test_another_size_than_the_one_that_is_meant_is_refused() -> None:
    assert tokens.of_file("m", "t.json", tekken(), size=258).count("abc") == 1
    with pytest.raises(MissingTokenizer, match=r"'t\.json' is another vocabulary: it has 258 tokens, .* 262,144"):
        tokens.of_file("gemma3", "t.json", tekken(), size=262_144).count("abc")


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b"\xff\xfe\x00", b"version https://x", b'{"vocab": {}}'])
def test_a_file_of_no_known_form_is_refused_at_once(data: bytes) -> None:
    with pytest.raises(MissingTokenizer) as caught:
        tokens.of_file("m", "vocabulary/t.json", data)
    assert caught.value.message == "'vocabulary/t.json' is no vocabulary file that is known here"
    assert "a tekken.json or a tokenizer.json is" in caught.value.help


def test_stored_counts_belong_to_the_bytes_of_the_file(tmp_path: Path) -> None:
    for data, count, misses in ((tekken(), 1, 1), (tekken(), 1, 0), (tekken((b"bc",)), 2, 1)):
        with tokens.open_store(tmp_path) as store:
            assert tokens.of_file("m", "t.json", data, store).count("abc") == count
            assert store.misses == misses


# --- tokenizer.json -------------------------------------------------------------------------------------------------


@pytest.mark.skipif(bool(TOKENIZERS.version), reason="the extra tokenizers is installed")
def test_without_the_extra_it_says_what_to_do() -> None:
    with pytest.raises(MissingTokenizer) as caught:
        tokens.of_file("gemma3", "vocabulary/g.json", tokenizer_json())
    assert "'vocabulary/g.json' counts with the package tokenizers, which is not installed" in caught.value.message
    assert "pip install 'ctxc-toolkit[tokenizers]'" in caught.value.help


@installed
def test_nothing_is_added_cut_padded_or_taken_for_a_special_token() -> None:
    data = tokenizer_json()
    tokenizer = tokens.of_file("own", "t.json", data)
    assert tokenizer.digest == hashlib.sha256(data).hexdigest()
    # Unknown words are one each; "<end>" as text is three: the sign, the word, the sign.
    assert tokenizer.count_many(["", "the claim is open", "the claim is open the claim", "<end>"]) == [0, 4, 6, 3]
    assert tokenizer.prefix("the claim is open", 2) in (9, 10)


@installed
@pytest.mark.parametrize(
    "data",
    [
        b'{"added_tokens": []}',
        tokenizer_json(model={"type": "Nothing"}),
        tokenizer_json(pre_tokenizer={"type": "Split", "pattern": {"Regex": "("}, "behavior": "Isolated",
                                      "invert": False}),
        tokenizer_json()[:-5],
    ],
)  # fmt: skip
def test_a_broken_file_is_refused_at_the_first_count(data: bytes) -> None:
    with pytest.raises(MissingTokenizer, match=r"'t\.json' cannot be used as a tokenizer\.json"):
        tokens.of_file("own", "t.json", data).count("x")


@installed
def test_a_word_outside_a_vocabulary_without_an_unknown_token_is_refused() -> None:
    data = tokenizer_json(model={"type": "WordLevel", "vocab": {"<end>": 1, "the": 2}, "unk_token": "[UNK]"})
    with pytest.raises(MissingTokenizer, match="cannot be used as a tokenizer"):
        tokens.of_file("own", "t.json", data).count("strange")


@installed
def test_the_size_of_a_vocabulary_is_checked_without_its_added_tokens() -> None:
    assert tokens.of_file("own", "t.json", tokenizer_json(), size=6).count("the") == 1
    with pytest.raises(MissingTokenizer, match="it has 6 tokens, and the one that is meant has 262,144"):
        tokens.of_file("gemma3", "t.json", tokenizer_json(), size=262_144).count("the")


@installed
def test_recorded_gemini_calls_with_the_vocabulary_of_gemma(shared: Path) -> None:
    """33 of 34 recorded calls are exact; the other was billed 41 tokens that stand nowhere in the request."""
    place = os.environ.get("CTXC_GEMMA3", "")
    if not place:
        pytest.skip("needs CTXC_GEMMA3, the path of a tokenizer.json of Gemma 3")
    from ctxc import providers
    from ctxc.app.tokenizers import tokenizers
    from ctxc.app.workspace import load_tree
    from ctxc.source.memory import MemoryTree

    files = {"ctxc.yaml": "tokenizers: {gemma3: v/g.json}\n", "v/g.json": Path(place).read_bytes()}
    project = load_tree(MemoryTree(files))
    make = tokenizers(project.sources, tokens.open_store(None))
    assert make(project.providers["gemini"].models[0].tokenizer).count("What is your name?") == 5
    rows = json.loads((shared / "goldens" / "curated_recorded.json").read_text(encoding="utf-8"))["rows"]
    found = {}
    for kind, name in (("gemini-studio", "gemini"), ("gemini-vertex", "gemini_vertex")):
        profile, deltas = project.providers[name], []
        for row in rows:
            if row["provider"] != kind or row.get("model_relabelled_after_recording"):
                continue
            model = providers.find_row(profile, row["model"])
            assert model is not None
            count = providers.count_raw(row["request"], profile.shape, make(model.tokenizer), model)
            assert count.method == "reproduced"
            deltas.append(row["expected"] - count.tokens)
        found[kind] = deltas
    assert {k: len(v) for k, v in found.items()} == {"gemini-studio": 26, "gemini-vertex": 8}
    assert sorted(d for v in found.values() for d in v if d) == [41]


def test_the_version_of_an_extra_is_that_of_its_package() -> None:
    """Read from the folder's name, because the standard library's own way costs more than a warm run has."""
    from importlib.metadata import version

    assert Extra(module="jsonschema", name="x", purpose="").version == version("jsonschema")
    assert Extra(module="no_such_package_here", name="x", purpose="").version == ""
