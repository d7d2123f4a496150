"""Which tokenizer counts: what a project asks for, never what happens to be installed."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ctxc import providers, tokens
from ctxc.app.cache import assess_log
from ctxc.app.compiling import CompileOptions, Outcome, compile_fixtures
from ctxc.app.doctor import checks
from ctxc.app.listing import listing
from ctxc.app.selection import Selection
from ctxc.app.tokenizers import files_of, reference, tokenizers
from ctxc.app.tokens import count_input
from ctxc.app.workspace import Workspace, compiler_for, load_tree, open_workspace
from ctxc.base.errors import ConfigError, MissingTokenizer
from ctxc.compiler.stage import Options
from ctxc.model.project import Project
from ctxc.model.provider import ModelRow, TokenizerRef
from ctxc.rules._measuring import measure
from ctxc.rules.token_growth import comparable
from ctxc.source.memory import MemoryTree
from ctxc.tokens.extras import CTOK


def tekken(*pairs: bytes) -> bytes:
    """A vocabulary of all bytes and some pairs, in the form of Mistral's files: no extra is needed to count with it."""
    listed = [*(bytes([n]) for n in range(256)), *pairs]
    vocab = [{"rank": n, "token_bytes": base64.b64encode(t).decode()} for n, t in enumerate(listed)]
    config = {"pattern": r"\w+|\W", "default_vocab_size": len(listed), "default_num_special_tokens": 0}
    return json.dumps({"config": config, "vocab": vocab}).encode()


def project(choice: str = "", **files: bytes | str) -> Project:
    """A project in memory with a configuration of tokenizers."""
    config = f"tokenizers: {choice}\n" if choice else "provider: openai\n"
    named = {name.replace("__", "/") + ".json": data for name, data in files.items()}
    return load_tree(MemoryTree({"ctxc.yaml": config, **named}))


def row(made: Project, provider: str, model: str) -> ModelRow:
    found = providers.find_row(made.providers[provider], model)
    assert found is not None
    return found


CLAUDE = [("anthropic", "claude-opus-5"), ("bedrock", "anthropic.claude-sonnet-4-5-v1:0")]


# --- what is chosen -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("provider", "model"), CLAUDE)
def test_without_a_choice_an_estimate_counts_whatever_is_installed(provider: str, model: str) -> None:
    ref = row(project(), provider, model).tokenizer
    assert (ref.id, ref.method) == ("o200k_base", "calibrated")
    assert ref.factor_bp > 10_000 and ref.error_high_bp > 0


@pytest.mark.parametrize("choice", ["{ctok: false}", "{ctok_4_8: false}", "{}"])
def test_a_choice_that_is_off_changes_nothing(choice: str) -> None:
    assert project(choice).providers == project().providers


def test_a_family_takes_the_place_of_every_estimate_that_it_can_replace() -> None:
    made, plain = project("{ctok: true}"), project()
    found = {
        (p.id, r.pattern): r.tokenizer.id for p in made.providers.values() for r in p.models if r.tokenizer.id != ""
    }
    assert found["anthropic", "claude-sonnet-4-5*"] == "ctok_3_0"
    assert found["anthropic", "claude-opus-4-7*"] == "ctok_4_7"
    assert found["anthropic", "claude-opus-4-8*"] == "ctok_4_8"
    assert found["openrouter", "anthropic/claude-sonnet-4.6*"] == "ctok_3_0"
    changed = 0
    for name, profile in plain.providers.items():
        for before, after in zip(profile.models, made.providers[name].models, strict=True):
            if any(a.id.startswith("ctok") for a in before.alternatives):
                changed += 1
                # Exactly as far as recorded calls show it: of models without one the band stays wide.
                known = "tokenizer" not in before.unverified
                assert after.tokenizer.method == ("reproduced" if known else "calibrated")
                assert after.tokenizer.factor_bp == 10_000
                assert (after.tokenizer.error_high_bp == 0) is known
                assert after.alternatives[0] == before.tokenizer
                assert after.framing["by_tokenizer"]["o200k_base"]["estimate"] == before.framing["estimate"]
                assert "estimate" not in after.framing
            else:
                assert after == before
    assert changed >= 30
    assert row(made, "bedrock", "us.amazon.nova-lite-v1:0").tokenizer.id == "o200k_base"


@pytest.mark.parametrize("model", ["claude-opus-5", "claude-sonnet-5-5"])
def test_the_estimate_goes_with_the_tokenizer_that_it_was_made_for(model: str) -> None:
    """The same text by name: what the estimate adds is not added to a vocabulary that needs none."""
    texts = ["ALL CAPS AND 12345", "Überprüfung"]
    base, chosen = (row(project(choice), "anthropic", model) for choice in ("", "{ctok: true}"))
    o200k = tokens.get("o200k_base")
    counts = o200k.count_many(texts)
    estimated = providers.scaled_counts(texts, counts, o200k, base)
    assert providers.scaled_counts(texts, counts, o200k, chosen) == estimated != counts

    class Claude:
        id = "ctok_4_8"

    assert providers.scaled_counts(texts, counts, Claude(), chosen) == counts  # type: ignore[arg-type]


def test_one_generation_can_be_left_out_of_its_family() -> None:
    made = project("{ctok: true, ctok_4_8: false}")
    assert row(made, "anthropic", "claude-opus-5").tokenizer.id == "o200k_base"
    assert row(made, "anthropic", "claude-opus-4-7").tokenizer.id == "ctok_4_7"
    made = project("{ctok_4_8: true}")
    assert row(made, "anthropic", "claude-opus-5").tokenizer.id == "ctok_4_8"
    assert row(made, "anthropic", "claude-opus-4-7").tokenizer.id == "o200k_base"


def test_a_vocabulary_file_is_named_by_its_path() -> None:
    made = project("{gemma3: ./vocabulary/g.json}", vocabulary__g=b"")
    ref = row(made, "gemini", "gemini-2.5-pro").tokenizer
    assert ref == TokenizerRef(id="gemma3", method="reproduced", file="vocabulary/g.json", size=262_144)
    assert row(made, "gemini_vertex", "gemini-2.5-pro").tokenizer == ref
    assert row(made, "chat_template", "gemma-3-27b").tokenizer.method == "exact"
    assert files_of({"gemma3": "./vocabulary/g.json", "ctok": True, "x": "a.json"}) == ("a.json", "vocabulary/g.json")


@pytest.mark.parametrize(
    ("choice", "message", "help"),
    [
        ("{ctokk: true}", "`tokenizers` names 'ctokk', which no provider profile has", "did you mean ctok?"),
        ("{o200k_base: true}", "`tokenizers` names 'o200k_base'", "known: ctok, "),
        ("{gemma3: true}", "asks for 'gemma3' without its vocabulary file", "write `gemma3: PATH`"),
        ("{ctok: v.json}", "gives 'ctok' the file 'v.json', but it comes with a package", "write `ctok: true`"),
        ("{gemma3: ../v.json}", "ctxc.yaml:1:1: the file '../v.json' of `tokenizers`, 'gemma3',", "inside the project"),
        (
            "{gemma3: /etc/v.json}",
            "the file '/etc/v.json' of `tokenizers`, 'gemma3', is absolute",
            "inside the project",
        ),
        ("[ctok]", "", ""),
        ("{ctok: 3}", "", ""),
    ],
)
def test_a_choice_that_cannot_be_meant_ends_the_command(choice: str, message: str, help: str) -> None:
    with pytest.raises(ConfigError) as caught:
        project(choice)
    assert message in caught.value.message
    assert help in caught.value.help
    assert caught.value.exit_status == 2


# --- what is missing ------------------------------------------------------------------------------------------------


def make(made: Project) -> Callable[[TokenizerRef], Any]:
    return tokenizers(made.sources, tokens.open_store(None))


@pytest.mark.skipif(bool(CTOK.version), reason="the extra claude is installed")
def test_an_extra_that_is_asked_for_and_missing_is_no_silent_estimate() -> None:
    made = project("{ctok: true}")
    with pytest.raises(MissingTokenizer) as caught:
        make(made)(row(made, "anthropic", "claude-opus-5").tokenizer)
    assert caught.value.exit_status == 2
    assert "ctxc-toolkit[claude]" in caught.value.help
    # What does not need it still counts.
    assert make(made)(row(made, "openai", "gpt-5.6-sol").tokenizer).count("a b") == 2


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "the vocabulary file of mistral cannot be read: 'v/t.json'"),
        ({"v__t": b"{}"}, "'v/t.json' is no vocabulary file"),
        ({"v__t": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"}, "is a Git LFS pointer"),
    ],
)
def test_a_vocabulary_file_that_cannot_be_used_is_no_silent_estimate(files: dict[str, bytes], message: str) -> None:
    made = project("{mistral: v/t.json}", **files)
    with pytest.raises(MissingTokenizer) as caught:
        make(made)(row(made, "mistral", "mistral-large-4").tokenizer)
    assert message in caught.value.message
    assert caught.value.help
    assert caught.value.exit_status == 2


def test_a_profile_of_the_project_may_name_a_file_of_its_own() -> None:
    profile = (
        "provider_id: mine\nextends: vllm\nmodels:\n  - pattern: 'my-*'\n    window: 8000\n"
        "    tokenizer: {id: my_words, method: exact, file: v/t.json}\n"
    )
    files: dict[str, bytes | str] = {"templates/mine.yaml": profile, "v/t.json": tekken(b"ab")}
    made = load_tree(MemoryTree(files))
    assert [f for f in made.findings if f.name != "empty-project"] == []
    tokenizer = make(made)(row(made, "mine", "my-model").tokenizer)
    assert (tokenizer.id, tokenizer.count("abab")) == ("my_words", 2)
    assert tokenizer.digest == hashlib.sha256(tekken(b"ab")).hexdigest()


@pytest.mark.parametrize("name", ["o200k_base", "ctok_4_8"])
def test_a_file_may_not_go_by_the_name_of_another_tokenizer(name: str) -> None:
    files: dict[str, bytes | str] = {"v/t.json": tekken(b"ab")}
    made = load_tree(MemoryTree(files))
    with pytest.raises(ConfigError, match="which needs none"):
        make(made)(TokenizerRef(id=name, method="exact", file="v/t.json"))


def test_a_name_that_was_asked_for_means_what_the_row_says_of_it() -> None:
    own = row(project("{ctok: true}"), "anthropic", "claude-opus-5")
    assert reference(own, "") == own.tokenizer
    assert reference(own, "o200k_base").method == "calibrated"
    assert reference(own, "cl100k_base") == TokenizerRef(id="cl100k_base", method="heuristic")
    assert reference(own, "./v/t.json") == TokenizerRef(id="./v/t.json", method="heuristic", file="v/t.json")


# --- a project on disk ----------------------------------------------------------------------------------------------


@pytest.fixture
def choosing(starter: Path) -> Path:
    """The starter, compiled for Mistral and counted with a vocabulary of its own."""
    config = starter / "ctxc.yaml"
    text = config.read_text(encoding="utf-8").replace("provider: openai", "provider: mistral")
    text = text.replace("model: gpt-4.1", "model: mistral-large-4")
    config.write_text(text + "tokenizers: {mistral: vocabulary/t.json}\n", encoding="utf-8")
    manifest = starter / "fragments/manifest.yaml"
    manifest.write_text(re.sub(r"max_tokens: \d+", "max_tokens: 900", manifest.read_text(encoding="utf-8")))
    (starter / "vocabulary").mkdir()
    (starter / "vocabulary/t.json").write_bytes(tekken(b"er", b"re"))
    return starter


def opened(root: Path, cache: Path | None = None) -> Workspace:
    return open_workspace(
        root, flags={}, environment={}, cache_dir=str(cache) if cache else None, no_cache=cache is None
    )


def compiled(root: Path, cache: Path | None = None) -> Outcome:
    return compile_fixtures(opened(root, cache), Selection(), CompileOptions(with_packages=True))


def snapshots(outcome: Outcome) -> list[dict[str, Any]]:
    return [json.loads(c.package())["snapshot"] for c in outcome.run.compiled]


def test_the_snapshot_says_which_tokenizer_counted_and_how(choosing: Path) -> None:
    digest = hashlib.sha256((choosing / "vocabulary/t.json").read_bytes()).hexdigest()
    for snapshot in snapshots(compiled(choosing)):
        tokenizer = snapshot["tokenizer"]
        assert (tokenizer["id"], tokenizer["digest"], tokenizer["method"]) == ("mistral", digest, "calibrated")
        assert 0 < tokenizer["error_high_bp"] < 3000, "the framing is not certain; the vocabulary is"


@pytest.mark.skipif(not CTOK.version, reason="needs the extra claude (Python 3.12 or newer)")
def test_with_the_extra_the_snapshot_says_so(starter: Path) -> None:
    config = starter / "ctxc.yaml"
    found = {}
    for choice in ("", "tokenizers: {ctok: true}\n"):
        config.write_text(f"provider: anthropic\nmodel: claude-opus-5\n{choice}", encoding="utf-8")
        found[choice] = [s["tokenizer"] for s in snapshots(compiled(starter))]
    estimate, counted = found.values()
    assert {(t["id"], t["method"]) for t in estimate} == {("o200k_base", "calibrated")}
    assert {(t["id"], t["method"]) for t in counted} == {("ctok_4_8", "reproduced")}
    assert max(t["error_high_bp"] for t in counted) < 100 < min(t["error_high_bp"] for t in estimate)


def test_a_stored_package_is_taken_only_while_the_vocabulary_is_the_same(choosing: Path, tmp_path: Path) -> None:
    def run() -> tuple[str, list[dict[str, Any]]]:
        outcome = compiled(choosing, tmp_path / "cache")
        (note,) = (n for n in outcome.notes if " compiled, " in n)
        return note.split(" ")[0], snapshots(outcome)

    cold, first = run()
    warm, again = run()
    assert (cold, warm) == ("2", "0")
    assert again == first
    (choosing / "vocabulary/t.json").write_bytes(tekken(b"er"))
    changed, other = run()
    assert changed == "2"
    assert [s["tokenizer"]["digest"] for s in other] != [s["tokenizer"]["digest"] for s in first]
    assert [s["budget"]["used_input"] for s in other] > [s["budget"]["used_input"] for s in first]


def test_a_stored_package_is_taken_only_while_the_extra_is_the_same(
    choosing: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ctxc.app import store

    def run() -> str:
        store.identity.cache_clear()
        outcome = compiled(choosing, tmp_path / "cache")
        (note,) = (n for n in outcome.notes if " compiled, " in n)
        return note.split(" ")[0]

    try:
        assert [run(), run()] == ["2", "0"]
        monkeypatch.setattr("ctxc.tokens.installed", lambda: ("ctok 99.0",))
        assert [run(), run()] == ["2", "0"]
    finally:
        monkeypatch.undo()
        store.identity.cache_clear()


def test_a_vocabulary_that_went_away_ends_a_warm_run_too(choosing: Path, tmp_path: Path) -> None:
    compiled(choosing, tmp_path / "cache")
    (choosing / "vocabulary/t.json").unlink()
    with pytest.raises(MissingTokenizer, match="the vocabulary file of mistral cannot be read"):
        compiled(choosing, tmp_path / "cache")


def test_the_gate_tells_two_vocabularies_of_one_name_apart(choosing: Path) -> None:
    """Growth and the ratchet compare counts of one tokenizer only: another file under the same name is another."""
    seen = []
    for data in (tekken(b"er", b"re"), tekken(b"er")):
        (choosing / "vocabulary/t.json").write_bytes(data)
        made = opened(choosing).project
        compiler = compiler_for(made, Options())
        fixture = next(iter(made.fixtures.values()))
        measured = measure(compiler.compile(fixture), fixture, made, make(made))
        assert measured.tokenizer == f"mistral@{hashlib.sha256(data).hexdigest()[:12]}"
        seen.append(measured)
    assert not comparable(*seen)
    assert comparable(seen[0], seen[0])


def test_raw_requests_are_counted_with_the_choice_or_with_what_was_asked_for(choosing: Path) -> None:
    request = {"model": "mistral-large-4", "messages": [{"role": "user", "content": "over and over there"}]}
    data = json.dumps(request).encode()

    def count(tokenizer: str = "") -> tuple[str, str, int]:
        found = count_input(opened(choosing), "-", provider="mistral", tokenizer=tokenizer, stdin=data).count
        return found.tokenizer, found.method, found.tokens

    assert count()[:2] == ("mistral", "calibrated")
    assert count("o200k_base")[:2] == ("o200k_base", "calibrated")
    assert count("vocabulary/t.json") == ("mistral", "calibrated", count()[2])
    (choosing / "other.json").write_bytes(tekken())
    name, method, more = count("other.json")
    assert (name, method) == ("other.json", "heuristic")
    assert more > count()[2]


def test_the_cache_is_simulated_with_the_choice(choosing: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    request = {"model": "mistral-large-4", "messages": [{"role": "user", "content": "over and over " * 40}]}
    log.write_text("".join(json.dumps({"request": request}) + "\n" for _ in range(2)), encoding="utf-8")
    (found,) = assess_log(opened(choosing), str(log), provider="mistral")
    assert found.tokenizer == "mistral"


def test_listing_and_doctor_say_what_counts_and_what_is_missing(choosing: Path) -> None:
    listed = {item["id"]: item for item in listing(opened(choosing), "tokenizers")}
    own = listed["mistral"]
    digest = hashlib.sha256((choosing / "vocabulary/t.json").read_bytes()).hexdigest()
    assert (own["path"], own["method"], own["digest"]) == ("vocabulary/t.json", "exact", digest[:16])
    assert own["estimates_for"] == "mistral"
    assert listed["gemma3"]["needs"] == "a vocabulary file"
    assert "gemini" in listed["gemma3"]["could_count_for"]
    assert bool(listed["ctok_4_8"]["needs"]) is not bool(CTOK.version)
    found = checks(opened(choosing), encoding="utf-8", terminal="80 columns")
    assert [(c.status, c.message) for c in found if c.id == "tokenizer"] == [
        ("ok", f"mistral (vocabulary/t.json), {digest[:16]}, counts for chat_template, mistral")
    ]
    (choosing / "vocabulary/t.json").unlink()
    (broken,) = (c for c in checks(opened(choosing), encoding="utf-8", terminal="80 columns") if c.id == "tokenizer")
    assert broken.status == "error"
    assert "cannot be read" in broken.message and broken.remedy


@pytest.mark.skipif(bool(CTOK.version), reason="the extra claude is installed")
def test_doctor_names_every_extra_with_its_remedy(starter: Path) -> None:
    (starter / "ctxc.yaml").write_text("provider: anthropic\ntokenizers: {ctok: true}\n", encoding="utf-8")
    found = checks(opened(starter), encoding="utf-8", terminal="80 columns")
    missing = [c for c in found if c.id == "tokenizer"]
    assert [c.status for c in missing] == ["error"] * 3
    assert all("is asked for and needs the extra claude" in c.message and "[claude]" in c.remedy for c in missing)
    extras = {c.message.split(" ")[0]: c for c in found if c.id == "extra"}
    assert set(extras) == {"ctok", "tokenizers", "jinja2"}
    assert {c.status for c in extras.values()} == {"ok"}
    assert "ctxc-toolkit[claude]" in extras["ctok"].remedy
