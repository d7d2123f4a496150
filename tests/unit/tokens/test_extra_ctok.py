"""Claude's rebuilt vocabularies, against recorded counts (where the extra ``claude`` is, which needs Python 3.12)."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from ctxc import providers, tokens
from ctxc.app.tokenizers import tokenizers
from ctxc.app.workspace import load_tree
from ctxc.base.errors import MissingTokenizer
from ctxc.model.counting import Count, Tokenizer
from ctxc.model.provider import ModelRow
from ctxc.source.memory import MemoryTree
from ctxc.tokens.extras import CTOK

IDS = ("ctok_3_0", "ctok_4_7", "ctok_4_8")
installed = pytest.mark.skipif(not CTOK.version, reason="needs the extra claude (Python 3.12 or newer)")


@pytest.mark.skipif(bool(CTOK.version), reason="the extra claude is installed")
@pytest.mark.parametrize("name", IDS)
def test_without_the_extra_it_says_what_to_do(name: str) -> None:
    with pytest.raises(MissingTokenizer) as caught:
        tokens.get(name)
    assert f"{name} counts with the package ctok" in caught.value.message
    assert "pip install 'ctxc-toolkit[claude]'" in caught.value.help
    assert ("run ctxc on Python 3.12" in caught.value.help) is (sys.version_info < (3, 12))


@installed
def test_each_generation_has_an_identity_of_its_own() -> None:
    digests = {name: tokens.get(name).digest for name in IDS}
    assert len(set(digests.values())) == 3
    for name in IDS:
        tokenizer = tokens.get(name)
        assert (tokenizer.id, tokenizer.method, len(bytes.fromhex(tokenizer.digest))) == (name, "exact", 32)


@installed
@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("ctok_3_0", [0, 1, 1, 2, 3, 2]),
        ("ctok_4_7", [0, 1, 1, 2, 3, 3]),
        # The last generation does not begin a text with a token of its own, and a line feed at its end is free.
        ("ctok_4_8", [0, 0, 1, 1, 2, 3]),
    ],
)
def test_a_text_alone_is_counted_without_the_frame_of_a_message(name: str, counts: list[int]) -> None:
    assert tokens.get(name).count_many(["", "\n", "a", "1", "漢", "hello world"]) == counts


@installed
def test_stored_counts_are_those_of_the_vocabulary(tmp_path: Path) -> None:
    texts = ["", "\n", "1", "The excess is 250 EUR.", "⟨pad⟩ as text"]
    with tokens.open_store(tmp_path) as store:
        cold = tokens.get("ctok_4_8", store).count_many(texts)
    with tokens.open_store(tmp_path) as store:
        assert tokens.get("ctok_4_8", store).count_many(texts) == cold
        assert store.misses == 0
    assert cold[-1] > 3


@installed
@pytest.mark.parametrize("name", IDS)
def test_a_cut_counts_at_most_its_limit(name: str) -> None:
    tokenizer = tokens.get(name)
    text = "Die Selbstbeteiligung beträgt 250 EUR. THE EXCESS IS 250 EUR.\n" * 60
    for limit in (1, 10, 300):
        front, back = tokenizer.prefix(text, limit), tokenizer.suffix(text, limit)
        assert limit - limit // 20 - 2 <= tokenizer.count(text[:front]) <= limit
        assert limit - limit // 20 - 2 <= tokenizer.count(text[len(text) - back :]) <= limit


class Counter:
    """Counts requests as a project with ``tokenizers: {ctok: true}`` does."""

    def __init__(self, provider: str) -> None:
        project = load_tree(MemoryTree({"ctxc.yaml": "tokenizers: {ctok: true}\n"}))
        self.profile = project.providers[provider]
        self._make = tokenizers(project.sources, tokens.open_store(None))

    def row(self, model: str) -> ModelRow:
        row = providers.find_row(self.profile, model)
        assert row is not None
        return row

    def tokenizer(self, model: str) -> Tokenizer:
        return self._make(self.row(model).tokenizer)

    def count(self, model: str, request: dict[str, Any]) -> Count:
        return providers.count_raw(request, self.profile.shape, self.tokenizer(model), self.row(model))


@installed
@pytest.mark.parametrize(
    ("model", "family", "name"),
    [
        ("claude-sonnet-4-5", "v3", "ctok_3_0"),
        ("claude-opus-4-7", "v4.7", "ctok_4_7"),
        ("claude-opus-5", "v5", "ctok_4_8"),
    ],
)
def test_recorded_programs_are_exact(shared: Path, model: str, family: str, name: str) -> None:
    """22 programs that ctok was not made from, as the service counted them."""
    folder = shared / "goldens"
    recorded = json.loads((folder / "claude_multipl_e_counts.json").read_text(encoding="utf-8"))[family]["counts"]
    counter = Counter("anthropic")
    assert counter.tokenizer(model).id == name
    with gzip.open(folder / "claude_multipl_e.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    found = {}
    for row in rows:
        request = {"model": model, "max_tokens": 1, "messages": [{"role": "user", "content": row["text"]}]}
        found[row["lang"]] = counter.count(model, request).tokens
    assert {lang: found[lang] for lang in recorded} == recorded
    assert len(recorded) == 22


@installed
def test_recorded_calls_are_exact_or_inside_the_printed_band(shared: Path) -> None:
    rows = json.loads((shared / "goldens" / "curated_recorded.json").read_text(encoding="utf-8"))["rows"]
    rows = [r for r in rows if r["provider"] == "anthropic" and not r.get("model_relabelled_after_recording")]
    counter = Counter("anthropic")
    wrong, outside, others = [], [], 0
    for row in rows:
        count = counter.count(row["model"], row["request"])
        assert count.method == "reproduced"
        if row["delta"] == 0 and count.tokens != row["expected"]:
            wrong.append((row["model"], row["expected"], count.tokens))
        if row["delta"] != 0:
            others += 1
            low = count.tokens - count.tokens * count.error_low_bp // 10_000
            if not low <= row["expected"] <= count.upper:
                outside.append((row["model"], row["expected"], count.tokens))
    assert (len(rows), others) == (26, 3)
    assert wrong == []
    assert outside == []
