"""What ``ctxc lint`` costs: the example library again and again, and projects of thousands of files.

    python benchmarks/bench_lint.py [--rounds N] [--peers FOLDER]

Commands are run in turns; what is compared is the median of a whole process's CPU time (or of its wall clock, whichever
is kinder to a shared machine; only the wall clock with other linters), as a ratio to something else of the same run.
Limits: a warm lint of the example library 12 times ``python -c pass``; 4,000 files 2.2 times 2,000; 2,000 files less
than what other linters take for the same texts as skills, where agent-config-score or agnix are found in FOLDER or on
the PATH.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench_cli import cost

ROOT = Path(__file__).resolve().parent.parent
LIBRARY = ("templates", "fragments", "policies", "tools", "tests/fixtures", "ctxc.yaml", "pyproject.toml")
PEERS = ("agent-config-score", "agnix")
WARM_LIMIT, GROWTH_LIMIT = 12.0, 2.2
WORDS = """
claim policy owner evidence source answer request number date order limit notice report damage cover vehicle building
contents estimate repair invoice amount customer contract clause region language summary question check never always
before after only when every must may should keep state write cite name confirm refuse explain the a of to and in for
with on by from each one two three first last known open
"""


def copy_library(to: Path) -> Path:
    """The example library of this checkout in a repository of its own."""
    for name in LIBRARY:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, to / name, ignore=shutil.ignore_patterns("__pycache__", "*.py"))
        elif source.exists():
            (to / name).write_bytes(source.read_bytes())
    subprocess.run(["git", "init", "-q", str(to)], check=True)
    return to


def paragraphs(count: int) -> list[str]:
    """So many texts of 60 words, no two alike."""
    r = random.Random(20261130)
    words = WORDS.split()
    return [" ".join(r.choice(words) for _ in range(60)).capitalize() + "." for _ in range(count)]


def write_fragments(root: Path, count: int) -> Path:
    """A project of a template and so many fragments."""
    (root / "templates").mkdir(parents=True)
    (root / "fragments").mkdir()
    (root / "templates/t.yaml").write_text(
        "template_id: t\nversion: 1.0.0\nprovider: openai\nmodel: gpt-4.1\nroute: [task]\n"
        "budget: {output_reserve: 1000}\nsections:\n"
        "  - {id: fragments, source: fragments, cacheable: true}\n  - {id: user, source: runtime}\n"
    )
    for number, text in enumerate(paragraphs(count)):
        (root / f"fragments/{number:05}.md").write_text(
            f"---\nfragment_id: task.f{number:05}\nversion: 1.0.0\nkind: task\nload_mode: route_match\n"
            f"applies_when: {{task: [t{number}]}}\nmax_tokens: 120\n---\n# Fragment {number}\n\n{text}\n"
        )
    return root


def write_skills(root: Path, count: int) -> Path:
    """The same texts where other linters look for them."""
    for number, text in enumerate(paragraphs(count)):
        folder = root / f".claude/skills/skill-{number:05}"
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(
            f"---\nname: skill-{number:05}\ndescription: Use when the task is t{number}.\n---\n"
            f"# Fragment {number}\n\n{text}\n"
        )
    return root


def find_peers(folder: str | None) -> dict[str, str]:
    """Linters of others that are installed, by name."""
    path = os.pathsep.join(filter(None, [folder, os.environ.get("PATH", "")]))
    return {name: found for name in PEERS if (found := shutil.which(name, path=path))}


def in_turns(
    commands: dict[str, tuple[Sequence[str], Path]], environment: dict[str, str], rounds: int
) -> dict[str, tuple[float, float]]:
    """Median CPU and wall seconds of each command; one run of each goes before the first round."""
    times: dict[str, list[tuple[float, float]]] = {label: [] for label in commands}
    for number in range(rounds + 1):
        for label, (command, folder) in commands.items():
            taken = cost(list(command), folder, environment, check=False)
            if number:
                times[label].append(taken)
    return {
        label: (statistics.median(c for c, _ in t), statistics.median(w for _, w in t)) for label, t in times.items()
    }


def ratio(a: tuple[float, float], b: tuple[float, float]) -> float:
    """The kinder of the ratios of CPU and of wall clock."""
    return min(a[0] / b[0], a[1] / b[1])


def main() -> int:
    """Print the tables; the status is 1 where a limit is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--peers", metavar="FOLDER", help="where agent-config-score and agnix are installed")
    arguments = parser.parse_args()
    script = Path(sys.executable).with_name("ctxc")
    lint = [*([str(script)] if script.exists() else [sys.executable, "-m", "ctxc"]), "lint"]
    peers = find_peers(arguments.peers)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        library = copy_library(folder / "library")
        two, four = write_fragments(folder / "two", 2000), write_fragments(folder / "four", 4000)
        skills = write_skills(folder / "skills", 2000)
        environment = {
            k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE" and not k.startswith("CTXC_")
        } | {"CTXC_CACHE_DIR": str(folder / "cache"), "CTXC_NOW": "2026-11-30"}
        small = in_turns(
            {
                "python -c pass": ([sys.executable, "-c", "pass"], folder),
                "example library, warm": (lint, library),
                "example library, no cache": ([*lint, "--no-cache"], library),
            },
            environment,
            arguments.rounds,
        )
        large = in_turns(
            {
                "2,000 files, no cache": ([*lint, "--no-cache"], two),
                "4,000 files, no cache": ([*lint, "--no-cache"], four),
                "2,000 files, warm": (lint, two),
                **{f"2,000 skills, {peer}": ([path, str(skills)], skills) for peer, path in peers.items()},
            },
            environment,
            max(3, arguments.rounds // 5),
        )
    floor = small["python -c pass"]
    print(f"{'':36}{'CPU ms':>9}{'wall ms':>9}{'ratio':>8}   to python -c pass")
    for label, taken in {**small, **large}.items():
        print(f"{label:36}{1000 * taken[0]:9.1f}{1000 * taken[1]:9.1f}{ratio(taken, floor):8.1f}")
    ours = large["2,000 files, no cache"]
    checks = [
        ("warm lint of the library / python -c pass", ratio(small["example library, warm"], floor), WARM_LIMIT),
        ("4,000 files / 2,000 files", ratio(large["4,000 files, no cache"], ours), GROWTH_LIMIT),
        *((f"2,000 files / {peer}, wall clock", ours[1] / large[f"2,000 skills, {peer}"][1], 1.0) for peer in peers),
    ]
    print()
    for label, found, limit in checks:
        print(f"{label:46}{found:8.2f}   limit {limit:g}{'  EXCEEDED' if found > limit else ''}")
    for peer in PEERS:
        if peer not in peers:
            print(f"{peer} is not here: not compared")
    return 1 if any(found > limit for _, found, limit in checks) else 0


if __name__ == "__main__":
    sys.exit(main())
