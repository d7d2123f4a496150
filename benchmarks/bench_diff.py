"""What ``ctxc diff`` costs, as ratios within one run. Whole processes are measured, start-up included.

    python benchmarks/bench_diff.py [--rounds 7] [--ctxdiff BIN] [--fixtures 1000]

1. Two contexts of 200 sections (three edited, one removed, one added, one moved), asked again. With ``--ctxdiff``, the
   folder of a virtual environment in which ctxdiff is installed, its ``diff`` of the same two contexts is in the run.
2. A project of 1,000 fragments and 1,000 fixtures in which one fragment changes that reaches five fixtures, against a
   project that has these five fixtures alone: asked again, and for a change that nobody asked for before.
3. Two equal revisions of that project, against ``git diff --quiet`` between them and the start-up of the command.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from gen_project import write_project

HERE = Path(__file__).parent
_WORDS = """
refund policy customer order delivery window agent must never reveal internal notes escalate manager approval
invoice shipping address warranty product return exchange coupon account verify identity evidence citation source
trust boundary schema tool call result json field budget section prefix stable
"""
WORDS = _WORDS.split()


class Bench:
    """Commands in one environment, measured round by round so that a busy moment meets all of them."""

    def __init__(self, root: Path, rounds: int) -> None:
        self.root = root
        self.rounds = rounds
        self.environ = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "CTXC_", "CI"))},
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "CTXC_CACHE_DIR": str(root / "cache"),
            "HOME": str(root),
            **{f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER")
               for what, value in (("NAME", "b"), ("EMAIL", "b@example.invalid"), ("DATE", "2026-01-01T00:00:00Z"))},
        }  # fmt: skip

    def git(self, folder: Path, *arguments: str) -> None:
        """Run git in a folder."""
        command = ["git", "-C", str(folder), "-c", "gc.auto=0", *arguments]
        subprocess.run(command, env=self.environ, check=True, stdout=subprocess.DEVNULL)

    def commit(self, folder: Path, message: str) -> None:
        """Commit everything; the folder becomes a repository with the first one."""
        if not (folder / ".git").exists():
            self.git(folder, "init", "-q", "-b", "main")
        self.git(folder, "add", "-A")
        self.git(folder, "commit", "-q", "--allow-empty", "-m", message)

    def run(self, command: list[str], folder: Path) -> float:
        """Wall seconds of a command that has to succeed."""
        start = time.perf_counter()
        done = subprocess.run(command, cwd=folder, env=self.environ, capture_output=True, check=False)
        taken = time.perf_counter() - start
        if done.returncode not in (0, 1):
            sys.exit(f"{command}: {done.stderr.decode()}")
        return taken

    def measure(self, works: Mapping[str, Callable[[], float]]) -> dict[str, float]:
        """Median seconds of each work."""
        taken: dict[str, list[float]] = {name: [] for name in works}
        for _ in range(self.rounds):
            for name, work in works.items():
                taken[name].append(work())
        return {name: statistics.median(values) for name, values in taken.items()}


def ctxc(*arguments: str) -> list[str]:
    """The command line of this checkout, started as the installed script starts it."""
    return [sys.executable, "-c", "from ctxc.__main__ import run; run()", *arguments]


def told(name: str, value: float, limit: float, detail: str) -> None:
    """One figure beside what it must reach."""
    print(f"{'ok ' if value <= limit else 'MISS'}  {name:58} {value:6.2f}  (at most {limit:g})   {detail}")


# --- 1: two contexts of 200 sections ----------------------------------------------------------------------------------


def two_contexts(count: int = 200) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Sections by name and text, and the same with three edited, one removed, one added, one moved."""
    rng = random.Random(20261130)
    base = [
        (f"s{n:04d}", f"## Section {n}\n" + " ".join(rng.choice(WORDS) for _ in range(60 + n * 37 % 80)))
        for n in range(count)
    ]
    base[0] = (base[0][0], "Refund window is 30 days from delivery. Never reveal internal notes.\n" + base[0][1])
    head = list(base)
    head[0] = (head[0][0], head[0][1].replace("30 days", "90 days"))
    head[count // 3] = (head[count // 3][0], head[count // 3][1] + "\nAlways answer in French.")
    head[count // 2] = (head[count // 2][0], head[count // 2][1].replace("never", "always", 1) + " Changed.")
    head.pop(2 * count // 3)
    head.insert(count // 4, ("added", "## New\nEscalate every refund above 500 EUR to a manager."))
    head.insert(2, head.pop(5))
    return base, head


def write_sections(folder: Path, sections: list[tuple[str, str]]) -> None:
    """A project of one template with these sections."""
    for place in ("policies", "templates"):
        shutil.rmtree(folder / place, ignore_errors=True)
        (folder / place).mkdir(parents=True)
    (folder / "tests/fixtures").mkdir(parents=True, exist_ok=True)
    listed = []
    for name, text in sections:
        (folder / f"policies/{name}.md").write_text(text + "\n")
        listed.append(
            f"  - {{id: {name}, kind: policy, source: policies/{name}.md, required: true, cacheable: true}}\n"
        )
    (folder / "templates/t.yaml").write_text(
        "template_id: t\nversion: 1\nprovider: openai\nmodel: gpt-4o\nbudget: {window: 1000000}\nsections:\n"
        f"{''.join(listed)}  - {{id: user, source: runtime, required: true}}\n"
    )
    (folder / "tests/fixtures/a.yaml").write_text(
        "fixture_id: a\ntemplate: t\ninputs: {user: Can I get a refund after 45 days?}\n"
    )


def trace(bench: Bench, binaries: Path, sections: list[list[tuple[str, str]]]) -> Path:
    """The two contexts as ctxdiff records them, through a client that answers nothing."""
    target = bench.root / "ab.ctrace"
    bodies = [
        {"model": "gpt-4o", "messages": [{"role": "system", "content": text} for _, text in each]} for each in sections
    ]
    (bench.root / "bodies.json").write_text(json.dumps(bodies))
    script = (
        "import json, sys\nfrom ctxdiff import trace\n"
        "class U: prompt_tokens = completion_tokens = total_tokens = 1\nclass R: usage = U()\n"
        "class C:\n    def create(self, **k): return R()\nclass H: completions = C()\n"
        "class L:\n    __module__ = 'openai'\n    def __init__(self): self.chat = H()\n"
        "t = trace.init('bench', path=sys.argv[2]); c = t.wrap(L())\n"
        "for b in json.load(open(sys.argv[1])): c.chat.completions.create(**b)\nt.close()\n"
    )
    command = [str(binaries / "python"), "-c", script, str(bench.root / "bodies.json"), str(target)]
    subprocess.run(command, env=bench.environ, check=True, capture_output=True)
    return target


def sections(bench: Bench, binaries: Path | None) -> None:
    """Figure 1."""
    folder = bench.root / "sections"
    base, head = two_contexts()
    write_sections(folder, base)
    bench.commit(folder, "base")
    write_sections(folder, head)
    bench.commit(folder, "head")
    command = ctxc("diff", "HEAD~1", "HEAD")
    cold = bench.run(command, folder)
    works = {
        "ctxc": lambda: bench.run(command, folder),
        "python": lambda: bench.run([sys.executable, "-c", ""], folder),
    }
    if binaries is not None:
        recorded = trace(bench, binaries, [base, head])
        peer = [str(binaries / "ctxdiff"), "diff", "--project", str(recorded), "--turn", "1", "--turn", "2"]
        works["ctxdiff"] = lambda: bench.run(peer, folder)
    found = bench.measure(works)
    detail = (
        ", ".join(f"{name} {1000 * value:.0f} ms" for name, value in found.items()) + f", cold {1000 * cold:.0f} ms"
    )
    if binaries is None:
        print(f"–     diff of 200 sections, asked again: {detail}; no ctxdiff to compare with (--ctxdiff)")
    else:
        told("diff of 200 sections, asked again, to ctxdiff", found["ctxc"] / found["ctxdiff"], 1, detail)


# --- 2 and 3: one fragment of a thousand ------------------------------------------------------------------------------


def reaching(folder: Path, wanted: int) -> tuple[str, list[str]]:
    """The text of a fragment that so many fixtures load, and the files of these fixtures."""
    import ctxc as package
    from ctxc.app.diff_index import index_of

    index = index_of(package.load(folder))
    users: dict[str, list[str]] = {}
    for known in index.fixtures.values():
        for path in known.files:
            if path.startswith("fragments/") and path.endswith(".md"):
                users.setdefault(path, []).append(known.path)
    path = min(p for p, fixtures in users.items() if len(fixtures) == wanted)
    return path, users[path]


def projects(bench: Bench, fixtures: int) -> None:
    """Figures 2 and 3."""
    large, small = bench.root / "large", bench.root / "small"
    write_project(large, fragments=fixtures, templates=20, fixtures=fixtures)
    fragment, kept = reaching(large, 5)
    shutil.copytree(large, small)
    for path in small.glob("tests/fixtures/*/*.yaml"):
        if path.relative_to(small).as_posix() not in kept:
            path.unlink()
    used = _used(small)
    for path in sorted(small.glob("fragments/*/*")):
        if path.relative_to(small).as_posix() not in used:
            path.unlink()
    for folder in (large, small):
        bench.commit(folder, "base")
    command = ctxc("diff", "HEAD~1", "HEAD")
    _edit(large, small, fragment, 0, bench)
    for folder in (large, small):
        first, again = bench.run(command, folder), bench.run(command, folder)
        print(f"      {folder.name}: first {first:.2f} s, again {again:.2f} s")
    found = bench.measure({f.name: (lambda f=f: bench.run(command, f)) for f in (large, small)})
    detail = f"{1000 * found['large']:.0f} ms to {1000 * found['small']:.0f} ms"
    told("one fragment of many, five fixtures: asked again", found["large"] / found["small"], 2, detail)
    taken: dict[str, list[float]] = {"large": [], "small": []}
    for number in range(1, bench.rounds + 1):
        _edit(large, small, fragment, number, bench)
        for folder in (large, small):
            taken[folder.name].append(bench.run(command, folder))
    new = {name: statistics.median(values) for name, values in taken.items()}
    detail = f"{1000 * new['large']:.0f} ms to {1000 * new['small']:.0f} ms"
    told("one fragment of many, five fixtures: a new change", new["large"] / new["small"], 2, detail)
    _equal(bench, large)


def _used(folder: Path) -> set[str]:
    import ctxc as package
    from ctxc.app.diff_index import index_of

    return {p for known in index_of(package.load(folder)).fixtures.values() for p in known.files}


def _edit(large: Path, small: Path, fragment: str, number: int, bench: Bench) -> None:
    for folder in (large, small):
        place = folder / fragment
        # Another text in each: they share a cache, and what one has counted the other would not have to count.
        place.write_text(place.read_text() + f"Edit number {number} says one more thing of the {folder.name} shop.\n")
        bench.commit(folder, f"edit {number}")


def _equal(bench: Bench, folder: Path) -> None:
    bench.commit(folder, "nothing")
    found = bench.measure(
        {
            "ctxc": lambda: bench.run(ctxc("diff", "HEAD~1", "HEAD"), folder),
            "git": lambda: bench.run(["git", "diff", "--quiet", "HEAD~1", "HEAD"], folder),
            "start": lambda: bench.run(ctxc("diff", "--help"), folder),
        }
    )
    allowed = 8 * found["git"] + found["start"]
    detail = ", ".join(f"{name} {1000 * value:.1f} ms" for name, value in found.items())
    told("two equal revisions, to 8 git diffs and the start-up", found["ctxc"] / allowed, 1, detail)


def main() -> None:
    """Build everything in a temporary folder and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--fixtures", type=int, default=1000)
    parser.add_argument("--ctxdiff", type=Path, help="bin folder of an environment in which ctxdiff is installed")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-diff-") as root:
        bench = Bench(Path(root), given.rounds)
        sections(bench, given.ctxdiff)
        projects(bench, given.fixtures)


if __name__ == "__main__":
    main()
