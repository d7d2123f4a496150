"""What is wrong with marks before anything is sent: one function a question, asked in words that add up by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from usage_samples import words

from ctxc.model.usage import Layout
from ctxc.usage import marks
from ctxc.usage.cache_rules import CacheRules, cache_rules, seconds

MARK = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}
OPUS = ("anthropic", "claude-opus-5")


def rules_of(who: Any, provider: str, model: str) -> CacheRules:
    return cache_rules(who(provider, model)[1].cache)


def text(count: int, word: str, mark: dict[str, str] | None = None) -> dict[str, Any]:
    return {"type": "text", "text": words(count, word), **({"cache_control": mark} if mark else {})}


def request(*content: dict[str, Any], system: list[dict[str, Any]] | None = None, **more: Any) -> dict[str, Any]:
    value: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": list(content)}], **more}
    if system:
        value["system"] = system
    return value


def as_stable(layout: Layout, *ids: str) -> Layout:
    return replace(layout, blocks=tuple(replace(b, stable=b.id in ids) for b in layout.blocks))


def test_more_marks_than_are_allowed(who: Any, lay: Any) -> None:
    rules = rules_of(who, *OPUS)
    five = lay(*OPUS, request(*(text(9, f"b{n}_", MARK) for n in range(5))))
    (fault,) = marks.too_many_marks(five, rules)
    assert (fault.kind, fault.block.pointer, fault.refused) == ("too_many", "/messages/0/content/4", True)
    assert fault.message == "5 cache marks, 4 are allowed"
    four = lay(*OPUS, request(*(text(9, f"b{n}_", MARK) for n in range(4))))
    assert marks.too_many_marks(four, rules) == ()
    # The automatic mark is one of the four, unless the last block has its own.
    loose = request(*(text(9, f"b{n}_", MARK) for n in range(4)), text(9, "end"), cache_control=MARK)
    assert len(marks.too_many_marks(lay(*OPUS, loose), rules)) == 1


def test_gpt_5_6_ignores_the_earliest_instead(who: Any, lay: Any) -> None:
    part = {"prompt_cache_breakpoint": {"mode": "explicit"}}
    content = [{"type": "text", "text": f"t{n}", **part} for n in range(6)]
    layout = lay("openai", "gpt-5.6", {"model": "m", "messages": [{"role": "user", "content": content}]})
    faults = marks.too_many_marks(layout, rules_of(who, "openai", "gpt-5.6"))
    assert [(f.block.index, f.refused) for f in faults] == [(0, False), (1, False)]


def test_a_long_mark_behind_a_short_one(who: Any, lay: Any) -> None:
    rules = rules_of(who, *OPUS)
    wrong = lay(*OPUS, request(text(9, "a", MARK), text(9, "b", HOUR)))
    assert [f.block.index for f in marks.unordered_marks(wrong, rules)] == [1]
    assert marks.unordered_marks(lay(*OPUS, request(text(9, "a", HOUR), text(9, "b", MARK))), rules) == ()


def test_marks_on_blocks_that_take_none(who: Any, lay: Any) -> None:
    rules = rules_of(who, *OPUS)
    empty = {"type": "text", "text": " ", "cache_control": MARK}
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s", "cache_control": MARK}
    value = {
        "model": "m",
        "messages": [{"role": "user", "content": [empty]}, {"role": "assistant", "content": [thinking]}],
    }
    faults = marks.ineligible_marks(lay(*OPUS, value), rules)
    assert [f.message for f in faults] == ["a mark on an empty text block", "a mark on a block of type thinking"]


def test_a_mark_where_the_model_takes_none(who: Any, lay: Any) -> None:
    nova = ("bedrock", "us.amazon.nova-lite-v1:0")
    value = {
        "messages": [{"role": "user", "content": [{"text": "go"}]}],
        "toolConfig": {
            "tools": [{"toolSpec": {"name": "f", "inputSchema": {"json": {}}}}, {"cachePoint": {"type": "default"}}]
        },
    }
    (fault,) = marks.misplaced_marks(lay(*nova, value), rules_of(who, *nova))
    assert (fault.kind, fault.block.pointer) == ("placement", "/toolConfig/tools/0")
    claude = ("bedrock", "us.anthropic.claude-opus-4-6-v1")
    assert marks.misplaced_marks(lay(*claude, value), rules_of(who, *claude)) == ()


def test_times_to_live() -> None:
    assert [seconds(t) for t in ("5m", "1h", "30m", "12h", "3600s", "24h")] == [300, 3600, 1800, 43200, 3600, 86400]
    assert seconds("in_memory") == 300
    assert seconds("soon") == 0


def test_rules_of_a_profile_that_says_nonsense() -> None:
    rules = cache_rules({"mode": "telepathy", "min_tokens": -4, "granularity": "16", "placements": "tools"})
    assert (rules.mode, rules.min_tokens, rules.granularity, rules.placements) == ("none", 0, 16, ())
