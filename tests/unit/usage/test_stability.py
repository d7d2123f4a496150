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


def stable(layout: Layout) -> Layout:
    return replace(layout, blocks=tuple(replace(b, stable=b.zone != "messages") for b in layout.blocks))


def test_bytes_are_counted_not_characters() -> None:
    assert common_bytes("naïve a", "naïve b") == 7
    assert common_bytes("日本x", "日本y") == 6


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
