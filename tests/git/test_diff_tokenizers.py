"""Counts of different tokenizers are never compared as if they were of one."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import jsonschema
import pytest
from diff_projects import basic, by_id, diff_of, differing, text_of
from repos import Repo

from ctxc.base.errors import MissingTokenizer

ROOT = Path(__file__).parents[2]


def tekken(*pairs: bytes) -> str:
    """A vocabulary of all bytes and some pairs, in the form of Mistral's files."""
    listed = [*(bytes([n]) for n in range(256)), *pairs]
    vocab = [{"rank": n, "token_bytes": base64.b64encode(t).decode()} for n, t in enumerate(listed)]
    config = {"pattern": r"\w+|\W", "default_vocab_size": len(listed), "default_num_special_tokens": 0}
    return json.dumps({"config": config, "vocab": vocab})


def project(**config: str) -> dict[str, str]:
    """The small project, compiled for Mistral by default."""
    lines = "".join(f"{k}: {v}\n" for k, v in {"provider": "mistral", **config}.items())
    files = {**basic(), "ctxc.yaml": lines, "vocabulary/v.json": tekken(b"er", b"Re")}
    files["templates/t.yaml"] = files["templates/t.yaml"].replace("provider: text\n", "")
    return files


WITH = "{mistral: vocabulary/v.json}"


def write(repo: Repo, files: dict[str, str]) -> None:
    """Write files into the work tree."""
    for path, text in files.items():
        repo.write(path, text)


@pytest.fixture
def base(repo: Repo) -> Repo:
    """The project without a choice, committed."""
    repo.commit("base", project())
    return repo


def test_another_tokenizer_is_said_and_nothing_is_subtracted(base: Repo) -> None:
    write(base, project(tokenizers=WITH))
    change = diff_of(base, base="HEAD")
    assert differing(change) == ["a", "b", "c"]
    assert [(s.name, s.base, s.head) for s in change.settings] == [
        ("tokenizers", "none", '{"mistral": "vocabulary/v.json"}')
    ]
    fixture = by_id(change)["a"]
    # What the model sees is the same: only who counts is another.
    assert fixture.facets == ("meta",)
    assert fixture.sections == ()
    assert [(f.name, f.base, f.head) for f in fixture.fields] == [("tokenizer", "o200k_base", "mistral")]
    assert fixture.tokens.base and fixture.tokens.head
    assert (fixture.tokens.comparable, fixture.tokens.delta) == (False, None)
    assert change.totals.delta_tokens is None
    text = text_of(change)
    assert "not comparable in 3 fixtures: another tokenizer counts (o200k_base → mistral)" in text
    value = json.loads(text_of(change, "json"))
    jsonschema.validate(value, json.loads((ROOT / "ctxc/report/schemas/diff.schema.json").read_text(encoding="utf-8")))
    tokens = value["fixtures"][0]["tokens"]
    assert (tokens["delta"], tokens["comparable"]) == (None, False)


def test_an_edit_beside_another_tokenizer_is_told_without_a_difference_in_tokens(base: Repo) -> None:
    files = project(tokenizers=WITH)
    files["policies/policy.md"] = files["policies/policy.md"].replace("30 days", "90 days")
    write(base, files)
    change = diff_of(base, base="HEAD")
    (section,) = by_id(change)["a"].sections
    assert section.section_id == "policy"
    assert "tokens" not in section.facets
    assert (section.comparable, section.delta) == (False, 0)
    (edit,) = change.edits
    assert (edit.least, edit.most) == (0, 0)
    assert f"{section.base_tokens:,} → {section.head_tokens:,}" in text_of(change)
    value = json.loads(text_of(change, "json"))["fixtures"][0]["sections"][0]["tokens"]
    assert (value["delta"], value["comparable"]) == (None, False)


@pytest.mark.parametrize("whole", [False, True])
def test_another_vocabulary_under_the_same_name_is_another_tokenizer(base: Repo, whole: bool) -> None:
    files = project(tokenizers=WITH)
    base.commit("with a vocabulary", files)
    assert differing(diff_of(base, base="HEAD", allow_same=True, whole=whole)) == []
    base.write("vocabulary/v.json", tekken(b"er"))
    change = diff_of(base, base="HEAD", whole=whole)
    assert differing(change) == ["a", "b", "c"]
    assert [s.path for s in change.sources] == ["vocabulary/v.json"]
    fixture = by_id(change)["b"]
    assert [f.name for f in fixture.fields] == ["vocabulary"]
    assert (fixture.tokens.comparable, fixture.facets) == (False, ("meta",))


def test_one_tokenizer_on_both_sides_is_compared(base: Repo) -> None:
    files = project(tokenizers=WITH)
    base.commit("with a vocabulary", files)
    files["policies/policy.md"] += "One more line.\n"
    write(base, files)
    change = diff_of(base, base="HEAD")
    fixture = by_id(change)["a"]
    assert fixture.tokens.comparable
    assert fixture.tokens.delta is not None and fixture.tokens.delta > 0
    assert "not comparable" not in text_of(change)


def test_two_models_with_tokenizers_of_their_own_are_told_apart(base: Repo) -> None:
    base.commit("with a vocabulary", project(tokenizers=WITH))
    change = diff_of(base, head="HEAD", base="HEAD", against_provider="openai", against_model="gpt-5.6-sol")
    fixture = by_id(change)["a"]
    assert not fixture.tokens.comparable
    assert {f.name for f in fixture.fields} >= {"tokenizer", "provider", "model"}


def test_a_base_whose_vocabulary_is_gone_is_no_silent_estimate(base: Repo) -> None:
    files = project(tokenizers=WITH)
    del files["vocabulary/v.json"]
    base.git("rm", "-q", "vocabulary/v.json")
    base.commit("broken", files)
    write(base, project(tokenizers=WITH))
    with pytest.raises(MissingTokenizer, match="the vocabulary file of mistral cannot be read") as caught:
        diff_of(base, base="HEAD")
    assert caught.value.exit_status == 2
