"""Megabytes a second of every detector on one core, warm, over texts that are generated here.

    python benchmarks/bench_detect.py [--megabytes N] [--json] [--files FOLDER]

CPU time is measured, the best of three rounds, interleaved. Beside each figure stands its ratio to SHA-256 over the
same bytes in the same round, so that figures of different machines can be compared. Targets: secrets 30 MB/s of ASCII
text; what a forbidden-field gate runs (secrets, personal data, internal addresses, stack traces, each in decoded
values too) 20 MB/s of rendered text. ``--files`` adds the files of a folder, one text each.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from ctxc.detect.delimiters import find_delimiters  # noqa: E402
from ctxc.detect.fidelity import find_facts  # noqa: E402
from ctxc.detect.forbidden import find_forbidden  # noqa: E402
from ctxc.detect.injection import find_injections  # noqa: E402
from ctxc.detect.leaks import find_internal_urls, find_stack_traces  # noqa: E402
from ctxc.detect.pii import find_personal_data  # noqa: E402
from ctxc.detect.role_tokens import find_role_tokens  # noqa: E402
from ctxc.detect.secrets import find_secrets  # noqa: E402
from ctxc.detect.unicode import find_unicode  # noqa: E402
from ctxc.detect.volatile import find_volatile  # noqa: E402

KEY = b"benchmark"
TARGETS = {("secrets", "ascii prose"): 30.0, ("secrets", "ascii json"): 30.0, ("forbidden fields", "ascii prose"): 20.0}
PARTS = (
    "the claim concerns a rear bumper and the excess of this policy is paid by the customer",
    "when a garage has confirmed that repair is possible; see https://docs.example.com/claims?id=4",
    "for the token limit, the key terms and passwords that risk and task lists describe",
    "version 2.1.4 of 2026-10-31",
)


def prose(size: int, rng: random.Random) -> str:
    """ASCII sentences with headings, lists and addresses."""
    lines: list[str] = []
    length = 0
    while length < size:
        line = rng.choice(("", "", "# ", "- ")) + " ".join(rng.choices(PARTS, k=rng.randint(1, 3))) + "."
        lines.append(line)
        length += len(line) + 1
    return "\n".join(lines)


def json_lines(size: int, rng: random.Random) -> str:
    """A transcript: JSON messages whose contents are JSON again, full of escapes."""
    lines: list[str] = []
    length = 0
    while length < size:
        content = json.dumps({"path": "src/app.py", "text": prose(400, rng)}, indent=1)
        line = json.dumps({"role": "tool", "content": content, "tool_call_id": f"call_{length}"})
        lines.append(line)
        length += len(line) + 1
    return "\n".join(lines)


def mixed(size: int, rng: random.Random) -> str:
    """The prose with Chinese sentences, accents and emoji in between."""
    extra = ("理赔金额为三万元，须在三十天内报案。", "café naïve Zürich", "👩🏽‍💻 ✅ ⚠️", "Здравствуйте, мир")
    return "\n".join(line + " " + rng.choice(extra) for line in prose(size * 2 // 3, rng).split("\n"))


DETECTORS: dict[str, Callable[[str], object]] = {
    "secrets": lambda text: find_secrets(text, key=KEY),
    "secrets, not decoded": lambda text: find_secrets(text, key=KEY, decode=False),
    "personal data": lambda text: find_personal_data(text, key=KEY),
    "internal addresses": lambda text: find_internal_urls(text, key=KEY),
    "stack traces": lambda text: find_stack_traces(text, key=KEY),
    "forbidden fields": lambda text: find_forbidden(text, key=KEY, detect=("secret", "pii", "leak")),
    "unicode": find_unicode,
    "role tokens": find_role_tokens,
    "delimiters": find_delimiters,
    "injection heuristics": find_injections,
    "volatile values": find_volatile,
    "facts": find_facts,
}


def seconds(work: Callable[[str], object], texts: list[str]) -> float:
    """CPU seconds over all texts."""
    start = time.process_time()
    for text in texts:
        work(text)
    return time.process_time() - start


def main() -> int:
    """Print the table; the status is 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=2.0)
    parser.add_argument("--files", type=Path)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    size = int(options.megabytes * 1e6)
    rng = random.Random(7)
    sets = {
        "ascii prose": [prose(size, rng)],
        "ascii json": [json_lines(size, rng)],
        "small files": [prose(4_000, rng) for _ in range(size // 4_000)],
        "mixed scripts": [mixed(size, rng)],
    }
    if options.files:
        files = sorted(path for path in options.files.rglob("*") if path.is_file())
        sets[options.files.name] = [path.read_text(encoding="utf-8", errors="replace") for path in files]
    rows = []
    missed = False
    for name, texts in sets.items():
        megabytes = sum(len(text.encode()) for text in texts) / 1e6
        for detector, work in DETECTORS.items():
            seconds(work, texts)  # patterns compile and automata are built once a process
            times = []
            ratios = []
            for _ in range(3):
                yardstick = seconds(lambda text: hashlib.sha256(text.encode()).digest(), texts)
                times.append(seconds(work, texts))
                ratios.append(times[-1] / max(yardstick, 1e-6))
            speed = megabytes / max(min(times), 1e-6)
            target = TARGETS.get((detector, name))
            missed = missed or (target is not None and speed < target)
            rows.append(
                {"detector": detector, "text": name, "mb_s": speed, "times_sha256": min(ratios), "target": target}
            )
    if options.json:
        print(json.dumps(rows, indent=1))
    else:
        for row in rows:
            goal = f"sha256  target {row['target']:.0f}" if row["target"] else "sha256"
            print(
                f"{row['text']:<14} {row['detector']:<22} {row['mb_s']:8.1f} MB/s {row['times_sha256']:7.1f} x {goal}"
            )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
