"""What the command line itself costs, as ratios to ``python -c pass`` within one run.

    python benchmarks/bench_cli.py [--rounds N]

Rounds are interleaved; what is compared is the median of the whole process's user and system time, because the wall
clock of a shared machine says little. Limits: ``--version`` 2, a warm ``compile`` of one fixture of 20 sections 16.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SECTIONS = 20
LIMITS = {"--version": 2.0, "compile, warm, 20 sections": 16.0}


def write_project(root: Path) -> None:
    """One fixture whose request has 20 sections: a policy, fragments, evidence, the user's message."""
    (root / "templates").mkdir(parents=True)
    (root / "fragments").mkdir()
    (root / "tests/fixtures").mkdir(parents=True)
    text = "The model reads this rule and keeps to it whenever a customer asks about an order. " * 12
    fragments = SECTIONS - 7
    (root / "policy.md").write_text(text + "\n")
    entries = []
    for number in range(fragments):
        (root / f"fragments/{number:02}.md").write_text(f"Rule {number}. {text}\n")
        head = f"fragment_id: f.{number:02}, version: 1.0.0, path: '{number:02}.md'"
        entries.append(f"  - {{{head}, kind: task, load_mode: always}}\n")
    (root / "fragments/manifest.yaml").write_text("fragments:\n" + "".join(entries))
    (root / "templates/t.yaml").write_text(
        "template_id: t\nversion: 1.0.0\nprovider: openai\nmodel: gpt-4o\n"
        "budget: {output_reserve: 1000, safety_margin: 5%}\nsections:\n"
        "  - {id: policy, source: policy.md, required: true, cacheable: true}\n"
        "  - {id: fragments, kind: fragment, source: fragments, cacheable: true}\n"
        "  - {id: evidence, source: retrieval}\n  - {id: user, source: runtime, required: true}\n"
    )
    evidence = "".join(
        f"    - {{id: d{n}, source: 'doc://{n}', version: '1', locator: p, text: '{n} {text}'}}\n" for n in range(5)
    )
    (root / "tests/fixtures/f.yaml").write_text(
        f"fixture_id: f\ntemplate: t\nnow: 2026-01-01T00:00:00Z\ninputs:\n  user: {text}\n  evidence:\n{evidence}"
    )


def cost(command: list[str], folder: Path, environment: dict[str, str], *, check: bool = True) -> tuple[float, float]:
    """CPU and wall seconds of a process; with ``check`` its status must be 0."""
    before, start = children(), time.perf_counter()
    subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=check)
    return children() - before, time.perf_counter() - start


def children() -> float:
    """CPU seconds of all processes that ended so far; to the microsecond where the platform can say it."""
    try:
        import resource
    except ImportError:
        times = os.times()
        return times.children_user + times.children_system
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> int:
    """Print the table; the status is 1 where a limit is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    script = Path(sys.executable).with_name("ctxc")
    run = [str(script)] if script.exists() else [sys.executable, "-m", "ctxc"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_project(folder)
        # Python must be allowed to keep its compiled modules, as on any installation.
        environment = {
            k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE" and not k.startswith("CTXC_")
        }
        environment["CTXC_CACHE_DIR"] = str(folder / "cache")
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "--version": [*run, "--version"],
            "--help": [*run, "--help"],
            "compile, warm, 20 sections": [*run, "compile", "f"],
            "compile, warm, 20 sections, json": [*run, "compile", "f", "--format", "json"],
            "compile, no cache, 20 sections": [*run, "compile", "f", "--no-cache"],
            "explain, warm counts": [*run, "explain", "f"],
        }
        times: dict[str, list[tuple[float, float]]] = {label: [] for label in commands}
        for command in commands.values():
            cost(command, folder, environment)  # compiled modules and the cache are there from now on
        for _ in range(rounds):
            for label, command in commands.items():
                times[label].append(cost(command, folder, environment))
    floor_cpu, floor_wall = (statistics.median(column) for column in zip(*times["python -c pass"], strict=True))
    print(f"{'':36}{'CPU ms':>8}{'ratio':>7}{'wall ms':>9}{'ratio':>7}   limit")
    failed = False
    for label, pairs in times.items():
        cpu, wall = (statistics.median(column) for column in zip(*pairs, strict=True))
        limit = LIMITS.get(label)
        over = limit is not None and min(cpu / floor_cpu, wall / floor_wall) > limit
        failed |= over
        verdict = "" if limit is None else f"{limit:g}{'  EXCEEDED' if over else ''}"
        print(
            f"{label:36}{1000 * cpu:8.1f}{cpu / floor_cpu:7.1f}{1000 * wall:9.1f}{wall / floor_wall:7.1f}   {verdict}"
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
