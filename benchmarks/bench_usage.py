"""What a simulation costs beside the counting that it needs anyway. Prints ratios within one run.

    python benchmarks/bench_usage.py [--rounds 5] [--calls 200]

A conversation of so many turns is counted (warm: every text is known), laid out, played and advised on.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from ctxc import providers, tokens
from ctxc.app.workspace import load_tree
from ctxc.model.usage import Sent
from ctxc.source.memory import MemoryTree
from ctxc.usage.layout import lay_out
from ctxc.usage.placement import advise
from ctxc.usage.price import read_prices
from ctxc.usage.simulate import simulate

MODELS = (("anthropic", "claude-opus-5"), ("openai", "gpt-5.6-sol"), ("openai", "gpt-4o"), ("vllm", "gpt-oss-20b"))


def main() -> None:
    """Run everything and print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=200)
    options = parser.parse_args()
    print(f"{options.calls} calls; counting them warm is 1.00\n")
    print(f"{'model':<16}{'count ms':>10}{'lay out':>9}{'play':>7}{'advise':>8}")
    profiles = load_tree(MemoryTree({})).providers
    for provider, model in MODELS:
        measure(profiles[provider], model, options.calls, options.rounds)
    processes(options.rounds)


def conversation(turns: int) -> list[dict[str, Any]]:
    """Requests of a conversation that grows by one turn each, with a system text of some thousand tokens."""
    system = " ".join(f"rule {n}: answer from the evidence only." for n in range(300))
    messages: list[dict[str, Any]] = []
    found = []
    for number in range(turns):
        messages.append({"role": "user", "content": [{"type": "text", "text": f"Question {number} of the customer?"}]})
        found.append({"model": "m", "messages": [{"role": "user", "content": system}, *messages]})
        messages.append(
            {"role": "assistant", "content": [{"type": "text", "text": f"Answer {number}, in some words."}]}
        )
    return found


def measure(profile: Any, model: str, calls: int, rounds: int) -> None:
    """One row of the table."""
    row = providers.find_row(profile, model)
    assert row is not None
    tokenizer, shape = tokens.get(row.tokenizer.id), providers.shape(profile.shape)
    requests = conversation(calls)
    counts = [shape.count(r, tokenizer, row) for r in requests]
    sent = [
        Sent(id=str(n), layout=lay_out(r, shape, row, tokenizer, count=c))
        for n, (r, c) in enumerate(zip(requests, counts, strict=True))
    ]
    prices = read_prices(providers.prices_of(row, model))
    times = {
        "count": took(lambda: [shape.count(r, tokenizer, row) for r in requests], rounds),
        "lay": took(
            lambda: [lay_out(r, shape, row, tokenizer, count=c) for r, c in zip(requests, counts, strict=True)], rounds
        ),
        "play": took(lambda: simulate(sent, profile, row, tokenizer), rounds),
        "advise": took(lambda: advise(sent, profile, row, tokenizer, prices), rounds),
    }
    base = times["count"]
    ratios = [times[k] / base for k in ("lay", "play", "advise")]
    print(f"{model:<16}{base * 1000:>10.0f}{ratios[0]:>9.2f}{ratios[1]:>7.2f}{ratios[2]:>8.2f}")


def processes(rounds: int) -> None:
    """Whole commands beside the start of the interpreter."""
    root = Path(__file__).resolve().parent.parent
    with tempfile.TemporaryDirectory() as folder:
        request = Path(folder) / "r.json"
        request.write_text('{"model":"gpt-4o","messages":[{"role":"user","content":"How many tokens?"}]}')
        cache = ["--cache-dir", str(Path(folder) / "cache")]
        commands = {
            "python -c pass": ["-c", "pass"],
            "ctxc tokens r.json": ["-m", "ctxc", "tokens", str(request), *cache],
            "ctxc cache CONVERSATION": ["-m", "ctxc", "cache", "rear_damage_report", *cache],
        }
        times = {name: took(lambda c=command: run(c, root), rounds) for name, command in commands.items()}  # type: ignore[misc]
    base = times["python -c pass"]
    print()
    for name, seconds in times.items():
        print(f"{name:<26}{seconds * 1000:>6.0f} ms{seconds / base:>7.1f}")


def run(command: list[str], root: Path) -> None:
    """A process that has to succeed."""
    subprocess.run([sys.executable, *command], cwd=root, check=True, stdout=subprocess.DEVNULL)


def took(work: Callable[[], object], rounds: int) -> float:
    """Median seconds, after one run that does not count."""
    work()
    found = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return median(found)


if __name__ == "__main__":
    main()
