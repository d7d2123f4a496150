"""Recorded calls, played again: what was written and read of each, exact where the count is, else within its band.

A sequence whose first call already read from the cache was recorded on a warm cache: the same request came before it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ctxc import providers, tokens
from ctxc.model.provider import ProviderProfile
from ctxc.model.usage import Call, Sent
from ctxc.usage.layout import lay_out
from ctxc.usage.recognise import model_of, profile_at, stores_prefix
from ctxc.usage.recorded import read_usage
from ctxc.usage.simulate import simulate

NOT_MODELLED = {
    "test_anthropic_code_execution_files_cache_prefix_stable": (
        "code execution: the tool's definition, the uploaded file and marks that the server sets itself do not stand in "
        "the request"
    ),
    "test_anthropic_compaction_usage_with_cache": "the server compacts the context while it answers",
    "test_request_usage_with_cached_tokens": "no profile of Cohere",
}
"""Sequences that no static tool can model, or for which there is no profile, with the reason."""


def sequences(shared: Path) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = json.loads(
        (shared / "goldens/recorded_cache_sequences.json").read_text(encoding="utf-8")
    )["sequences"]
    return found


def played(
    calls: list[dict[str, Any]], profiles: Mapping[str, ProviderProfile], tokenizer: Any = None
) -> tuple[Call, ...]:
    profile = profiles[profile_at(calls[0]["url"])]
    sent = []
    for number, call in enumerate(calls):
        model = model_of(call["request"], call["url"])
        row = providers.find_row(profile, model) or providers.find_row(profile, model.rpartition("/")[2])
        assert row is not None
        counts = tokenizer(row) if tokenizer else tokens.get(row.tokenizer.id)
        sent.append(
            Sent(
                id=str(number),
                layout=lay_out(call["request"], providers.shape(profile.shape), row, counts),
                recorded=read_usage(call["usage"]),
                creates=stores_prefix(call["request"], call["url"]),
                ttl=call["request"].get("ttl", ""),
            )
        )
    first = sent[0].recorded
    assert first is not None
    warm = sent[:1] if first.read and not first.written else []
    return simulate(sent, profile, row, counts, warm=warm).calls


def is_left_out(name: str) -> bool:
    return any(key in name for key in NOT_MODELLED)


def within(call: Call, name: str) -> bool:
    tokens_, real = getattr(call, name), getattr(call.recorded, name)
    low = -(-tokens_ * call.error_low_bp // 10_000)
    high = -(-tokens_ * call.error_high_bp // 10_000)
    return tokens_ - low <= real <= tokens_ + high


def test_every_sequence_is_played_or_listed_with_its_reason(
    shared: Path, profiles: Mapping[str, ProviderProfile]
) -> None:
    done, left = 0, []
    for name, calls in sequences(shared).items():
        if is_left_out(name):
            left.append(name)
            continue
        for number, call in enumerate(played(calls, profiles)):
            for what in ("read", "written"):
                assert within(call, what), (name, number, what, getattr(call, what), call.recorded)
            # Whether anything was read or written at all is not a matter of counting.
            assert call.recorded is not None
            assert (call.read > 0, call.written > 0) == (call.recorded.read > 0, call.recorded.written > 0), name
        done += 1
    assert (done, len(left)) == (33, 3)
    assert {key for key in NOT_MODELLED if any(key in name for name in left)} == set(NOT_MODELLED)


@pytest.mark.parametrize("interface", ["chat", "responses"])
def test_the_breakpoint_of_gpt_5_6_is_exact(
    shared: Path, profiles: Mapping[str, ProviderProfile], interface: str
) -> None:
    names = [n for n in sequences(shared) if f"test_openai_{interface}_prompt_cache_e2e" in n]
    assert len(names) == 1
    first, second = played(sequences(shared)[names[0]], profiles)
    assert (first.input, first.read, first.written, first.reason) == (4020, 0, 4012, "first_request")
    assert (second.input, second.read, second.written, second.reason) == (4020, 4012, 0, "cache_hit")


def test_claudes_boundaries_are_exact_with_its_own_vocabulary(
    shared: Path, profiles: Mapping[str, ProviderProfile]
) -> None:
    pytest.importorskip("ctok", reason="needs the extra `claude` (Python 3.12)")
    claude = tokens.get("ctok_3_0")

    def numbers(name: str) -> list[tuple[int, int]]:
        key = next(n for n in sequences(shared) if name in n)
        return [(c.read, c.written) for c in played(sequences(shared)[key], profiles, lambda row: claude)]

    assert numbers("test_anthropic_cache_real_api") == [(1111, 0), (1111, 418)]
    assert numbers("test_anthropic_cache_count_tokens") == [(1111, 0)]
    assert numbers("test_bedrock_single_tool_choice_preserves_cache[anthropic]") == [(2752, 0)] * 4
