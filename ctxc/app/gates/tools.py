"""Tool pins: definitions are those that somebody approved, and none that a policy does not allow."""

from __future__ import annotations

from ctxc.app.gates import Gate, Lint, Looked, counted
from ctxc.rules._ground import ground, settings
from ctxc.rules._locks import TOOLS
from ctxc.rules._pinned import each_tool, named
from ctxc.rules.engine import Context


def look(context: Context, lint: Lint) -> Looked:
    """Tools, and how many of them the lock holds. Where it holds none, no list names any and there is no base, nothing
    was asked of them."""
    del lint
    tools = list(each_tool(context.project))
    known = ground(context)
    lock = known.tools
    pins = lock.pins if lock is not None else {}
    asked = [t for _, t in settings(context, "tools")]
    every = known.base is not None or any("allow" in t or t.get("deny") or t.get("pins") == "require" for t in asked)
    count = len(tools) if every else sum((named(s), t.name) in pins for s, t in tools)
    note = f"{counted(sum(map(len, pins.values())), 'pin')} in {TOOLS}" if lock is not None else f"no {TOOLS}"
    return Looked(count=count, what=counted(len(tools), "tool"), note=note, applies=bool(tools))


GATE = Gate(
    id="tools",
    order=12,
    title="Tool pins",
    rules=("tool-changed", "tool-widened", "tool-not-allowed", "unpinned-tool", "tool-pin-slack"),
    look=look,
)
