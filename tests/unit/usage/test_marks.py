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


def test_gaps_that_are_wider_than_the_lookback(who: Any, lay: Any) -> None:
    rules = rules_of(who, *OPUS)

    def with_marks(*at: int) -> Layout:
        layout: Layout = lay(*OPUS, request(*(text(3, f"b{n}_", MARK if n in at else None) for n in range(40))))
        return layout

    assert marks.wide_gaps(with_marks(0, 19), rules) == ()
    ((mark, distance),) = marks.wide_gaps(with_marks(0, 20), rules)
    assert (mark.block.index, distance) == (20, 20)
    # From one turn to the next: an entry at 14 is found from 33, not from 34.
    assert marks.out_of_reach(with_marks(14), with_marks(33), rules) is None
    assert marks.out_of_reach(with_marks(14), with_marks(34), rules) == 20


def test_prefixes_under_the_minimum_with_a_margin(who: Any, lay: Any) -> None:
    rules = rules_of(who, *OPUS)
    assert rules.min_tokens == 512

    def short(count: int) -> list[tuple[int, int]]:
        layout = lay(*OPUS, request(text(3, "u"), system=[text(count, "p", MARK)]))
        # Words are counted without a band; the margin alone decides.
        exact = replace(layout, error_low_bp=0)
        return [(m.block.end, wanted) for m, wanted in marks.short_prefixes(exact, rules)]

    assert short(614) == [(614, 615)]
    assert short(615) == []


def test_a_static_part_without_a_mark(who: Any, lay: Any) -> None:
    claude, gpt = rules_of(who, *OPUS), rules_of(who, "openai", "gpt-5.6")
    system = [text(700, "p"), text(100, "q")]
    layout = as_stable(lay(*OPUS, request(text(3, "u"), system=system)), "system/0", "system/1")
    found = marks.unmarked_static(layout, claude)
    assert found is not None and found.id == "system/1"
    assert marks.static_end(layout) == found
    assert marks.static_tokens(layout) == 800
    marked = as_stable(
        lay(*OPUS, request(text(3, "u"), system=[text(700, "p"), text(100, "q", MARK)])), "system/0", "system/1"
    )
    assert marks.unmarked_static(marked, claude) is None
    early = as_stable(
        lay(*OPUS, request(text(3, "u"), system=[text(700, "p", MARK), text(100, "q")])), "system/0", "system/1"
    )
    assert marks.unmarked_static(early, claude) is not None
    # Too short to be cached: there is nothing to mark.
    short = as_stable(lay(*OPUS, request(text(3, "u"), system=[text(100, "p")])), "system/0")
    assert marks.unmarked_static(short, claude) is None
    chat = {"model": "m", "messages": [{"role": "developer", "content": words(2000)}, {"role": "user", "content": "a"}]}
    trap = as_stable(lay("openai", "gpt-5.6", chat), "messages/0/content")
    assert marks.unmarked_static(trap, gpt) is not None
    assert marks.unmarked_static(trap, rules_of(who, "openai", "gpt-4o")) is None


def test_marks_that_are_never_read(who: Any, lay: Any) -> None:
    rules = rules_of(who, *OPUS)
    one = lay(*OPUS, request(text(3, "u", MARK), system=[text(600, "p", MARK)]))
    two = lay(*OPUS, request(text(3, "v", MARK), system=[text(600, "p", MARK)]))
    assert [m.block.id for m in marks.marks_on_varying([one, two], rules)] == ["messages/0/content/0"]
    assert marks.marks_on_varying([one], rules) == ()


def test_marks_that_a_renderer_lost(lay: Any) -> None:
    layout = lay(*OPUS, request(text(3, "u"), system=[text(9, "p", MARK), text(9, "q")]))
    assert marks.lost_marks(["system/0", "system/1"], layout) == ("system/1",)


def test_times_to_live() -> None:
    assert [seconds(t) for t in ("5m", "1h", "30m", "12h", "3600s", "24h")] == [300, 3600, 1800, 43200, 3600, 86400]
    assert seconds("in_memory") == 300
    assert seconds("soon") == 0


def test_rules_of_a_profile_that_says_nonsense() -> None:
    rules = cache_rules({"mode": "telepathy", "min_tokens": -4, "granularity": "16", "placements": "tools"})
    assert (rules.mode, rules.min_tokens, rules.granularity, rules.placements) == ("none", 0, 16, ())
