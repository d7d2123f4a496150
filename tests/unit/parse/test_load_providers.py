"""Provider profiles: shipped ones are parsed on demand, the project's may extend them or take their place."""

from __future__ import annotations

import pytest
from parse_world import TEXT_PROVIDER, BlobStore, Load, short

from ctxc import providers
from ctxc.base.errors import InternalFault
from ctxc.base.spans import Location, Span
from ctxc.model.project import Settings
from ctxc.parse.load import load_project
from ctxc.source.memory import MemoryTree

OWN = """\
provider_id: mine
version: 2.0.0
extends: text
default_model: small
models:
  - {pattern: "small*", window: 1000, max_output: 100, output_in_window: false,
     tokenizer: {id: cl100k_base, method: calibrated, factor_bp: 11000, error_high_bp: 500},
     cache: {mode: none}, capabilities: [tools], unverified: [window]}
"""


def test_every_shipped_profile_meets_the_schema() -> None:
    shipped = {n: providers.profile_text(n) for n in providers.profile_ids()}
    project = load_project(MemoryTree({"templates/x.txt": ""}), Settings(), builtin_providers=shipped)
    assert set(project.providers) == set(shipped)
    for name in shipped:
        profile = project.providers[name]
        assert profile.id == name
        assert profile.models
        assert profile.content_hash.startswith("sha256:")
        place = project.sources.locate(profile.models[0].origin)
        assert place.path == f"ctxc:providers/{name}.yaml"
        assert place.span is not None


def test_shipped_profiles_are_parsed_when_they_are_asked_for(store: BlobStore) -> None:
    tree = MemoryTree({"templates/t.yaml": "template_id: t\nprovider: text\nsections: [{id: task, source: runtime}]\n"})
    project = load_project(
        tree, Settings(), builtin_providers={"text": TEXT_PROVIDER, "bad": "provider_id: bad\n"}, store=store
    )
    assert short(project) == []
    assert project.providers["text"].models[0].window == 128000
    assert list(project.providers) == ["bad", "text"]
    assert "nothing" not in project.providers
    with pytest.raises(KeyError):
        project.providers["nothing"]
    with pytest.raises(InternalFault):
        project.providers["bad"]


def test_a_profile_of_the_project_extends_a_shipped_one(load: Load) -> None:
    project = load({"policies/p.yaml": OWN})
    assert short(project) == []
    mine, text = project.providers["mine"], project.providers["text"]
    assert (mine.version, mine.shape, mine.platform, mine.as_of, mine.default_model) == (
        "2.0.0", "text", "none", "2026-11-30", "small"
    )  # fmt: skip
    assert [r.pattern for r in mine.models] == ["small*", "*"]
    row = mine.models[0]
    assert (row.window, row.max_output, row.max_input, row.output_in_window) == (1000, 100, None, False)
    assert (row.tokenizer.method, row.tokenizer.factor_bp, row.tokenizer.error_high_bp) == ("calibrated", 11000, 500)
    assert row.capabilities == {"tools"}
    assert mine.models[1] == text.models[0]
    assert project.sources.locate(row.origin).span == Span(6, 5, 8, 71)
    assert project.sources.locate(mine.models[1].origin) == Location(
        "ctxc:providers/text.yaml", Span(8, 5, 8, 79), "/models/0"
    )


def test_a_profile_of_the_project_takes_the_place_of_a_shipped_one(load: Load) -> None:
    project = load({"policies/p.yaml": OWN.replace("provider_id: mine", "provider_id: text")})
    assert short(project) == []
    assert list(project.providers) == ["text"]
    assert [r.pattern for r in project.providers["text"].models] == ["small*", "*"]


CORRECTION = """\
provider_id: anthropic
extends: anthropic
version: 1.0.1
models:
  - pattern: "claude-opus-5*"
    tokenizer: {id: o200k_base, method: calibrated, factor_bp: 15000, error_low_bp: 900, error_high_bp: 900}
    framing: {frame: 8}
    cache: {min_tokens: 600}
    capabilities: [tools, history]
"""


def test_one_number_of_a_shipped_row_can_be_corrected() -> None:
    shipped = {n: providers.profile_text(n) for n in providers.profile_ids()}
    plain = load_project(MemoryTree({}), Settings(), builtin_providers=shipped).providers["anthropic"]
    tree = MemoryTree({"policies/ours.yaml": CORRECTION})
    project = load_project(tree, Settings(), builtin_providers=shipped)
    assert [f for f in project.findings if f.name != "empty-project"] == []
    ours = project.providers["anthropic"]
    assert (ours.version, ours.shape) == ("1.0.1", plain.shape)
    # In its place: a more specific row in front of it is still found first.
    assert [r.pattern for r in ours.models] == [r.pattern for r in plain.models]
    place = [r.pattern for r in plain.models].index("claude-opus-5*")
    assert "claude-opus-5-5*" in [r.pattern for r in plain.models[:place]]
    before, after = plain.models[place], ours.models[place]
    assert after.tokenizer.factor_bp == 15000
    assert after.framing == {**before.framing, "frame": 8}
    assert after.cache == {**before.cache, "min_tokens": 600}
    assert after.capabilities == {"tools", "history"}
    assert (after.window, after.prices, after.images) == (before.window, before.prices, before.images)
    assert project.sources.locate(after.origin) == Location("policies/ours.yaml", Span(5, 5, 9, 35), "/models/0")
    assert [r for n, r in enumerate(ours.models) if n != place] == [r for n, r in enumerate(plain.models) if n != place]


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("framing: {per_message: abc}", [(":8:29", 'expected a whole number, found "abc"')]),
        ("framing: {per_message: -5}", [(":8:29", "expected a number of at least 0, found -5")]),
        ("framing: {per_messag: 3}", [(":8:16", 'unknown key "per_messag"; did you mean "per_message"?')]),
        ("framing: {by_tokenizer: {x: {slack: y}}}", [(":8:42", 'expected a whole number, found "y"')]),
        ("prices: {input: -2, output: 8}", [(":8:22", '"-2" does not have the expected form')]),
        ("prices: {inptu: 2}", [(":8:15", 'unknown key "inptu"; did you mean "input"?')]),
        ("prices: {input: 2}", [(":8:14", 'the key "output" is missing')]),
        ("latency: {base: 300}", [(":8:16", 'unknown key "base"; did you mean "base_ms"?')]),
        (
            "images: {formula: tiles}",
            [(":8:24", '"tiles" is not one of the values that may stand here; did you mean "tiles768"?')],
        ),
        ("prices: {input: 0.125, output: 1e-1}", []),
    ],
)
def test_the_facts_of_a_row_are_checked_like_any_other_key(load: Load, said: str, found: list[tuple[str, str]]) -> None:
    text = OWN.replace("     cache: {mode: none}", f"     {said}")
    project = load({"policies/p.yaml": text})
    assert [(str(f.location).removeprefix("policies/p.yaml"), f.message) for f in project.findings] == found


def test_a_correction_of_nothing_names_the_row_that_may_be_meant() -> None:
    shipped = {n: providers.profile_text(n) for n in providers.profile_ids()}
    wrong = CORRECTION.replace('"claude-opus-5*"', '"claude-opus-5"')
    project = load_project(MemoryTree({"policies/ours.yaml": wrong}), Settings(), builtin_providers=shipped)
    (finding,) = (f for f in project.findings if f.name == "missing-key")
    assert 'the key "window" is missing' in finding.message
    assert 'did you mean "claude-opus-5*"?' in finding.help


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"p.yaml": OWN.replace("extends: text", "extends: txt")}, ["policies/p.yaml:3:10 unknown-reference"]),
        (
            {"p.yaml": OWN.replace("extends: text\n", "")},
            [*["policies/p.yaml:1:1 missing-key"] * 3],
        ),
        (
            {"a.yaml": "provider_id: a\nextends: b\n", "b.yaml": "provider_id: b\nextends: a\n"},
            ["policies/b.yaml:2:10 extends-cycle"],
        ),
        ({"a.yaml": OWN, "b.yaml": OWN}, ["policies/b.yaml:1:14 duplicate-id"]),
        ({"p.yaml": OWN.replace("window: 1000, ", "")}, ["policies/p.yaml:6:5 missing-key"]),
        ({"p.yaml": OWN.replace("calibrated", "guessed")}, ["policies/p.yaml:7:43 bad-value"]),
        ({"p.yaml": OWN.replace("cache:", "cash:")}, ["policies/p.yaml:8:6 unknown-key"]),
    ],
)
def test_faults(load: Load, files: dict[str, str], expected: list[str]) -> None:
    project = load({f"policies/{n}": text for n, text in files.items()})
    assert short(project) == expected
