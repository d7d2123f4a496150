"""What whole processes cost: CPU, wall clock and memory, in interleaved rounds, as ratios within one run."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple


class Cost(NamedTuple):
    """Seconds of CPU and of the clock, and the largest resident size in megabytes (0 where the platform has none)."""

    cpu: float
    wall: float
    megabytes: float


class Limit(NamedTuple):
    """At most so many times another case of the same run, and so many seconds of CPU more."""

    times: float
    of: str
    more: str = ""


def run(command: Sequence[str], folder: Path, environment: Mapping[str, str], *, allowed: Sequence[int] = (0,)) -> Cost:
    """Run one process to its end; its output is not looked at. Raises RuntimeError for a status that is not allowed."""
    start = time.perf_counter()
    nothing = subprocess.DEVNULL
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdin=nothing, stdout=nothing, stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    told = process.stderr.read()
    if hasattr(os, "wait4"):
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        cost = Cost(usage.ru_utime + usage.ru_stime, time.perf_counter() - start, usage.ru_maxrss / 1024)
    else:
        process.wait()
        wall = time.perf_counter() - start
        cost = Cost(wall, wall, 0.0)
    process.stderr.close()
    if process.returncode not in allowed:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}: {told.decode('utf-8', 'replace')}")
    return cost


def environment(**more: str) -> dict[str, str]:
    """The process's own, in which Python may keep its compiled modules, as on any installation."""
    own = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE" and not k.startswith("CTXC_")}
    return own | more


def measure(cases: Mapping[str, Callable[[], Cost]], rounds: int) -> dict[str, Cost]:
    """Medians of each case; the cases of a round follow each other, so that a busy moment meets all of them.

    A case may depend on what the one before it left behind. One round more than asked runs first and is not counted.
    """
    found: dict[str, list[Cost]] = {name: [] for name in cases}
    for number in range(rounds + 1):
        for name, case in cases.items():
            cost = case()
            if number:
                found[name].append(cost)
    return {
        name: Cost(median(c.cpu for c in costs), median(c.wall for c in costs), max(c.megabytes for c in costs))
        for name, costs in found.items()
    }


def show(title: str, costs: Mapping[str, Cost], base: str, limits: Mapping[str, Limit]) -> bool:
    """Print a table; whether every limit holds. A limit counts as held where CPU or clock keeps to it."""
    print(f"\n{title:46}{'CPU ms':>9}{'ratio':>8}{'wall ms':>9}{'ratio':>8}{'MB':>6}   limit")
    held = True
    for name, cost in costs.items():
        limit = limits.get(name)
        against = costs[limit.of if limit else base]
        verdict = ""
        if limit is not None:
            more = costs[limit.more] if limit.more else Cost(0, 0, 0)
            by_cpu = cost.cpu <= limit.times * against.cpu + more.cpu
            fits = by_cpu or cost.wall <= limit.times * against.wall + more.wall
            held = held and fits
            verdict = f"{limit.times:g} x {limit.of}" + (f" + {limit.more}" if limit.more else "")
            verdict += "" if fits else "  EXCEEDED"
        print(
            f"  {name:44}{1000 * cost.cpu:9.1f}{cost.cpu / against.cpu:8.2f}{1000 * cost.wall:9.1f}"
            f"{cost.wall / against.wall:8.2f}{cost.megabytes:6.0f}   {verdict}"
        )
    return held
