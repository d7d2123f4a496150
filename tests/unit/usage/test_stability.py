"""What must not vary between requests that ought to share a prefix."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ctxc.model.usage import Layout
from ctxc.usage import stability
from ctxc.usage.difference import common_bytes

OPUS = ("anthropic", "claude-opus-5")


def tool(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "description": name, "input_schema": {"type": "object"}, **more}


def request(*tools: dict[str, Any], system: str = "policy", user: str = "u", **more: Any) -> dict[str, Any]:
    value = {"model": "m", "system": [{"type": "text", "text": system}], **more}
    value["tools"] = list(tools)
    value["messages"] = [{"role": "user", "content": user}]
    return value


def test_tools_by_name_value_order_and_bytes(lay: Any) -> None:
    before = lay(*OPUS, request(tool("a"), tool("b"), tool("c")))
    assert stability.tool_change(before, before).is_stable
    after = lay(*OPUS, request(tool("c"), tool("b", description="other"), tool("d")))
    change = stability.tool_change(before, after)
    assert (change.added, change.removed, change.changed, change.reordered) == (("d",), ("a",), ("b",), True)
    swapped = {"input_schema": {"type": "object"}, "description": "a", "name": "a"}
    change = stability.tool_change(before, lay(*OPUS, request(swapped, tool("b"), tool("c"))))
    assert (change.reserialized, change.changed, change.reordered, change.is_stable) == (("a",), (), False, False)


def test_a_tool_that_stands_twice(lay: Any) -> None:
    assert stability.duplicate_tools(lay(*OPUS, request(tool("a"), tool("b"), tool("a")))) == ("a",)


def test_a_key_of_its_own_for_every_request() -> None:
    one, two = {"prompt_cache_key": "s1"}, {"prompt_cache_key": "s2"}
    assert stability.unique_keys([one, two]) == ("prompt_cache_key",)
    assert stability.unique_keys([one, one]) == ()
    assert stability.unique_keys([one, two, {}]) == ()
    assert stability.unique_keys([one]) == ()


def test_settings_that_drift(lay: Any, who: Any) -> None:
    profile, _ = who(*OPUS)
    layouts = [lay(*OPUS, request(**more)) for more in ({}, {"tool_choice": {"type": "any"}}, {"speed": "fast"})]
    drifts = {d.change: d for d in stability.settings_drift(layouts, profile)}
    assert set(drifts) == {"speed", "tool_choice"}
    assert drifts["speed"].loses == ("system", "messages")
    assert (drifts["tool_choice"].loses, drifts["tool_choice"].reason) == (("messages",), "messages_changed")
    assert drifts["tool_choice"].certain
    thinking = [lay(*OPUS, request(thinking={"type": "enabled", "budget_tokens": n})) for n in (1024, 2048)]
    (drift,) = stability.settings_drift(thinking, profile)
    assert (drift.change, drift.certain) == ("thinking", False)


def stable(layout: Layout) -> Layout:
    return replace(layout, blocks=tuple(replace(b, stable=b.zone != "messages") for b in layout.blocks))


def test_static_blocks_that_vary_show_where(lay: Any) -> None:
    one = stable(lay(*OPUS, request(system="Now it is 10:31:07, be brief.")))
    two = stable(lay(*OPUS, request(system="Now it is 10:32:44, be brief.")))
    (found,) = stability.varying_static(one, two)
    assert (found.id, found.byte, found.same_value) == ("system/0", len("Now it is 10:3"), False)
    assert (found.before[:4], found.after[:4]) == ("1:07", "2:44")
    assert stability.varying_static(one, one) == ()
    first = stable(lay(*OPUS, request(tool("a", input_schema={"type": "object", "properties": {"x": {}, "y": {}}}))))
    other = stable(lay(*OPUS, request(tool("a", input_schema={"properties": {"y": {}, "x": {}}, "type": "object"}))))
    (found,) = stability.varying_static(first, other)
    assert found.same_value


def test_bytes_are_counted_not_characters() -> None:
    assert common_bytes("naïve a", "naïve b") == 7
    assert common_bytes("日本x", "日本y") == 6


def test_dynamic_text_in_front_of_static(lay: Any) -> None:
    layout = lay(*OPUS, request(tool("a")))
    mixed = replace(layout, blocks=tuple(replace(b, stable=b.zone == "system") for b in layout.blocks))
    assert stability.dynamic_before_stable(mixed) == (("system/0", "tools/0"),)
    assert stability.dynamic_before_stable(stable(layout)) == ()


def turns(*texts: str) -> dict[str, Any]:
    roles = ("user", "assistant")
    return {
        "model": "m",
        "messages": [{"role": roles[n % 2], "content": [{"type": "text", "text": t}]} for n, t in enumerate(texts)],
    }


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (("a",), ("a", "b", "c"), None),
        (("a", "b"), ("a", "x", "c"), ("messages_changed", "messages/1/content/0", "messages/1/content/0")),
        (("a", "b", "c"), ("a",), ("messages_changed", "", "messages/1/content/0")),
    ],
)
def test_append_only(lay: Any, who: Any, before: Any, after: Any, expected: Any) -> None:
    profile, _ = who(*OPUS)
    found = stability.appended(lay(*OPUS, turns(*before)), lay(*OPUS, turns(*after)), profile)
    assert (None if found is None else (found.reason, found.id, found.other)) == expected
