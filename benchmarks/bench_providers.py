"""Requests of 20 sections rendered on one core, for each request shape: requests a minute, warm.

    python benchmarks/bench_providers.py [--requests N] [--json]

The target is 10,000 requests a minute for each. A request has a system part of 8 sections, a history of 8 turns with a
finished tool call, 3 data sections and the user's turn, about 12,000 characters, and 4 tools. The whole of
``Shape.render`` is timed; counting a warm request (every text already counted once) is timed beside it, and a
``json.dumps`` of the same request, so that the machine is seen too.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "unit" / "providers")]

from conftest import profile_of  # noqa: E402

from ctxc import tokens  # noqa: E402
from ctxc.model.contract import Contract  # noqa: E402
from ctxc.model.request import Part, RenderPlan, Turn  # noqa: E402
from ctxc.model.section import Tool, ToolCall  # noqa: E402
from ctxc.providers import profile_ids, shape  # noqa: E402

TARGET = 10_000
TEXT = (
    "The claim of 2026-10-31 concerns a rear bumper; the excess is 250, and the garage in Utrecht has confirmed it. "
    * 5
)


def plan_of(profile_id: str) -> RenderPlan:
    """A plan of 20 sections for a profile's default model."""
    profile = profile_of(profile_id)
    model = profile.default_model or profile.models[0].pattern.strip("*")
    row = next(r for r in profile.models if fnmatchcase(model, r.pattern))
    system = tuple(
        Part(section_id=f"system.{i}", text=f"# Rule {i}\n{TEXT}", stable=True, mark="default" if i == 7 else "")
        for i in range(8)
    )
    turns: list[Turn] = []
    for i in range(8):
        name = f"history.{i}"
        if i == 3:
            call = ToolCall(id="call_1", name="find_service", arguments='{"city": "Utrecht", "radius": 10}')
            turns.append(Turn(role="assistant", tool_calls=(call,), section_id=name))
            part = Part(section_id=name, text='{"found": 3}')
            turns.append(Turn(role="tool", tool_call_id="call_1", parts=(part,), section_id=name))
        else:
            role = "user" if i % 2 == 0 else "assistant"
            turns.append(Turn(role=role, parts=(Part(section_id=name, text=TEXT),), section_id=name))
    data = tuple(Part(section_id=f"data.{i}", text=json.dumps({"text": TEXT}), safe=True) for i in range(3))
    turns.append(Turn(role="user", parts=(*data, Part(section_id="user", text="What now?")), section_id="user"))
    schema = {"type": "object", "properties": {"city": {"type": "string"}, "radius": {"type": "integer"}}}
    can = shape(profile.shape).capabilities & row.capabilities
    return RenderPlan(
        profile=profile,
        row=row,
        model=model,
        system=system,
        turns=tuple(turns),
        tools=tuple(
            Tool(name=n, description="Find it.", input_schema=schema)
            for n in ("find_service", "open_claim", "read_claim", "send_note")
        )
        if "tools" in can
        else (),
        tools_section="tools",
        contract=Contract(id="answer", version="1", schema=schema) if "json_schema" in can else None,
        contract_section="contract",
        output_reserve=1024,
    )


def rate(call: Callable[[], Any], times: int) -> float:
    """Calls a minute, the best of three runs."""
    call()
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        for _ in range(times):
            call()
        best = min(best, time.perf_counter() - start)
    return 60 * times / best


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=500)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found: dict[str, dict[str, float]] = {}
    for profile_id in profile_ids():
        plan = plan_of(profile_id)
        made = shape(plan.profile.shape)
        request = made.render(plan).request
        tokenizer = tokens.get(plan.row.tokenizer.id)
        few = max(options.requests // 5, 1)
        found[profile_id] = {
            "render": rate(partial(made.render, plan), options.requests),
            "count": rate(partial(made.count, request, tokenizer, plan.row), few),
            "check": rate(partial(made.check, request, plan.profile, plan.row), few),
            "dumps": rate(partial(json.dumps, request), options.requests),
        }
    if options.json:
        print(json.dumps({k: {n: round(v) for n, v in r.items()} for k, r in found.items()}, indent=1))
        return
    print(f"{'profile':<18}{'render/min':>12}{'x target':>10}{'count/min':>12}{'check/min':>12}{'dumps/min':>12}")
    for profile_id, row in found.items():
        print(
            f"{profile_id:<18}{row['render']:>12,.0f}{row['render'] / TARGET:>10.1f}"
            f"{row['count']:>12,.0f}{row['check']:>12,.0f}{row['dumps']:>12,.0f}"
        )
    slow = [p for p, row in found.items() if row["render"] < TARGET]
    if slow:
        raise SystemExit(f"under {TARGET:,} a minute: {', '.join(slow)}")


if __name__ == "__main__":
    main()
