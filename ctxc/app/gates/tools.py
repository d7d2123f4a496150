"""Tool pins: definitions are those that somebody approved, and none that a policy does not allow."""

from __future__ import annotations

from ctxc.app.gates import Gate, Lint, Looked, counted
from ctxc.rules._ground import ground
from ctxc.rules._locks import TOOLS
from ctxc.rules._pinned import each_tool
from ctxc.rules.engine import Context


def look(context: Context, lint: Lint) -> Looked:
    """Tools, and how many of them the lock holds."""
    del lint
    tools = list(each_tool(context.project))
    lock = ground(context).tools
    pins = sum(map(len, lock.pins.values())) if lock is not None else 0
    note = f"{counted(pins, 'pin')} in {TOOLS}" if lock is not None else f"no {TOOLS}"
    return Looked(count=len(tools), what=counted(len(tools), "tool"), note=note, applies=bool(tools))


GATE = Gate(
    id="tools",
    order=12,
    title="Tool pins",
    rules=("tool-changed", "tool-widened", "tool-not-allowed", "unpinned-tool", "tool-pin-slack"),
    look=look,
)
