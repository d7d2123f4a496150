"""Shipped profiles: they load, they say where their facts come from, and their numbers are of the right kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from ctxc import tokens
from ctxc.app.workspace import load_tree
from ctxc.providers import profile_ids, shape, shape_ids
from ctxc.source.memory import MemoryTree

MODES = {"explicit", "implicit_interval", "implicit_latest_message", "resource", "block", "none"}
CAPABILITIES = {
    "tools",
    "json_schema",
    "cache_marks",
    "history",
    "images",
    "developer_role",
    "reasoning",
    "prefill",
    "top_level_cache_control",
    "mid_conversation_system",
    "strict_tools",
}


@pytest.mark.parametrize("profile_id", profile_ids())
def test_profile(profile_id: str, get_profile: Any) -> None:
    profile = get_profile(profile_id)
    assert profile.id == profile_id
    assert profile.shape in shape_ids()
    assert profile.as_of >= "2026-11-30"
    assert profile.sources
    assert profile.models
    assert {row["change"] for row in profile.invalidation} >= {"model", "tools", "system", "messages"}
    for row in profile.models:
        assert row.window > 0
        assert row.cache["mode"] in MODES, row.pattern
        assert row.capabilities <= CAPABILITIES, row.pattern
        assert row.tokenizer.id in tokens.ids(), row.pattern
        if row.tokenizer.method in ("exact", "reproduced"):
            assert row.tokenizer.factor_bp == 10_000, row.pattern
        if row.tokenizer.method in ("calibrated", "heuristic"):
            assert row.tokenizer.error_high_bp > 0, row.pattern
        if "cache_marks" in row.capabilities:
            assert row.cache["placements"] and row.cache["max_breakpoints"] == 4, row.pattern
        assert list(_floats(row.framing)) == list(_floats(row.cache)) == []


@pytest.mark.parametrize("profile_id", profile_ids())
def test_profile_loads_as_a_project_loads_it(profile_id: str, get_profile: Any) -> None:
    project = load_tree(MemoryTree({"ctxc.yaml": "provider: openai\n"}))
    loaded, plain = project.providers[profile_id], get_profile(profile_id)
    assert [r.pattern for r in loaded.models][: len(plain.models)] == [r.pattern for r in plain.models]
    assert [dict(r.framing) for r in loaded.models] == [dict(r.framing) for r in plain.models]
    assert [dict(r.cache) for r in loaded.models] == [dict(r.cache) for r in plain.models]
    assert [(r.window, r.tokenizer, r.capabilities) for r in loaded.models] == [
        (r.window, r.tokenizer, r.capabilities) for r in plain.models
    ]
    assert dict(loaded.limits) == dict(plain.limits)


def _floats(value: Any) -> Iterator[float]:
    if isinstance(value, float):
        yield value
    elif isinstance(value, Mapping):
        for child in value.values():
            yield from _floats(child)


def test_every_shape_has_a_profile(get_profile: Any) -> None:
    assert {get_profile(p).shape for p in profile_ids()} == set(shape_ids())


def test_more_specific_patterns_stand_first(get_profile: Any) -> None:
    """No row is hidden behind an earlier one whose pattern matches the later pattern itself."""
    from fnmatch import fnmatchcase

    for profile_id in profile_ids():
        rows = get_profile(profile_id).models
        seen = [r.pattern for r in rows]
        if profile_id in ("openai_responses", "gemini_vertex"):
            continue  # rows of the profile that is taken over are meant to be hidden
        for number, pattern in enumerate(seen):
            plain = pattern.replace("*", "x").replace("[45]", "4").replace("[15]", "1").replace("[134]", "1")
            hidden = [p for p in seen[:number] if fnmatchcase(plain.replace("[12].[05]", "1.5"), p)]
            assert hidden == [], (profile_id, pattern)


@pytest.mark.parametrize(
    ("model", "minimum"),
    [("claude-opus-4-7", 2048), ("claude-opus-4-8", 1024), ("claude-opus-5-5", 512), ("claude-haiku-4-5", 4096)],
)
def test_minimums_of_the_first_party(model: str, minimum: int, get_profile: Any, get_row: Any) -> None:
    assert get_row(get_profile("anthropic"), model).cache["min_tokens"] == minimum


def test_minimums_are_keyed_by_platform(get_profile: Any, get_row: Any) -> None:
    row = get_row(get_profile("bedrock"), "us.anthropic.claude-opus-4-7-v1:0")
    assert row.cache["min_tokens"] == 4096


def test_nova_takes_no_mark_in_tools(make_plan: Any) -> None:
    plan = make_plan("bedrock", "us.amazon.nova-lite-v1:0", tools_mark="default")
    request = shape("bedrock_converse").render(plan).request
    assert [list(t) for t in request["toolConfig"]["tools"]] == [["toolSpec"]]
