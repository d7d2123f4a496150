"""What ``ctxc gate`` costs, as ratios within one run: the example library, one change among 1,000 fixtures, two steps.

    python benchmarks/bench_gate.py [--rounds 5] [--only library ...] [--fixtures 1000]

``library``: whole processes, without the step ``injection``, against the previous commit, with a warm cache: what was
asked before, and a commit that nobody asked about before. ``large``: one fragment that five fixtures load changes; the
gate (the payloads into those five) beside ``ctxc diff`` of the same, both asked for the first time. ``injection`` and
``forbidden`` are measured inside of one process. The status is 1 where a limit is exceeded, by CPU and by clock alike.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from bench_diff import reaching
from bench_lint import copy_library
from gen_project import write_project
from processes import Cost, Limit, environment, measure, run, show

import ctxc
from ctxc.app.gates import gate_ids

ROOT = Path(__file__).resolve().parent.parent
LIBRARY_LIMIT, DIFF_LIMIT = 25, 3
INJECTION_SECONDS, FORBIDDEN_MEGABYTES = 2.0, 20.0
PAYLOADS, FIXTURES, RENDERERS = 252, 4, 2
FRAGMENT = "fragments/claimant_v7/task/intake.md"
POLICY = """\
policy_id: shop
version: 1.0.0
gates:
  budget: {ceilings: [{max_input_tokens: 6000}], growth: {max_percent: 50}}
  forbidden:
    - {id: S-1, title: no credentials, forbid: {detect: [secret], keys: [password]}}
    - {id: S-2, title: no contact data, where: {zone: [system, tools, data]}, forbid: {detect: [pii.email, pii.phone]}}
  citations: {must_exist: true, require: [locator]}
  cost: {ceilings: [{max_usd_per_1000_requests: 100}]}
  latency: {ceilings: [{max_ms: 60000}]}
"""


class Bench:
    """Repositories in one temporary folder, each with a cache of its own."""

    def __init__(self, folder: Path, rounds: int, fixtures: int) -> None:
        self.folder = folder
        self.fixtures = fixtures
        self.rounds = rounds
        self.environment = environment(
            GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_NOSYSTEM="1", HOME=str(folder),
            **{f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER")
               for what, value in (("NAME", "b"), ("EMAIL", "b@example.invalid"), ("DATE", "2026-01-01T00:00:00Z"))},
        )  # fmt: skip
        for name in ("CI", "GITHUB_ACTIONS"):
            self.environment.pop(name, None)

    def commit(self, project: str, message: str) -> None:
        """Commit everything; the folder becomes a repository with the first one."""
        folder = self.folder / project
        steps = [["add", "-A"], ["commit", "-q", "-m", message]]
        if not (folder / ".git").exists():
            steps.insert(0, ["init", "-q", "-b", "main"])
        for step in steps:
            subprocess.run(["git", "-c", "gc.auto=0", *step], cwd=folder, env=self.environment, check=True)

    def python(self, *arguments: str) -> Cost:
        """One process of this interpreter."""
        # A large project may hold fixtures that do not fit: that is an outcome, and status 1.
        return run([sys.executable, *arguments], self.folder, self.environment, allowed=(0, 1))

    def ctxc(self, project: str, *arguments: str, cache: str = "") -> Cost:
        """A command of this checkout, started as the installed script starts it."""
        kept = ["--cache-dir", str(self.folder / f"{cache or project}.cache")]
        return self.python("-c", "from ctxc.__main__ import run; run()", "-C", project, *kept, *arguments)

    def gate(self, project: str, *arguments: str) -> Cost:
        """A gate against the previous commit, whatever it finds."""
        return self.ctxc(project, "gate", "--against", "HEAD~1", "--fail-on", "never", *arguments)


def library(bench: Bench) -> bool:
    """The example library against its previous commit, without the step ``injection``."""
    copy_library(bench.folder / "library")
    bench.commit("library", "base")
    number = 0

    def change() -> Cost:
        nonlocal number
        number += 1
        place = bench.folder / "library" / FRAGMENT
        place.write_text(f"{place.read_text(encoding='utf-8')}Mind rule {number} of the desk.\n", encoding="utf-8")
        bench.commit("library", f"edit {number}")
        return bench.gate("library", *_others())

    cases = {
        "python -c pass": lambda: bench.python("-c", "pass"),
        "a new commit": change,
        "asked again": lambda: bench.gate("library", *_others()),
    }
    limits = {"asked again": Limit(LIBRARY_LIMIT, "python -c pass")}
    return show("gate of the example library", measure(cases, bench.rounds), "python -c pass", limits)


def large(bench: Bench) -> bool:
    """One fragment of a thousand changes in the work tree; gate and diff look at it, each with a cache of its own."""
    folder, fixtures = bench.folder / "large", bench.fixtures
    write_project(folder, fragments=fixtures, templates=20, fixtures=fixtures)
    (folder / "policies/gates.yaml").write_text(POLICY, encoding="utf-8")
    fragment, _ = reaching(folder, 5)
    bench.commit("large", "base")
    number = 0

    def change() -> None:
        nonlocal number
        number += 1
        place = folder / fragment
        place.write_text(f"{place.read_text(encoding='utf-8')}Edit {number} says one thing more.\n", encoding="utf-8")

    def diff() -> Cost:
        change()
        return bench.ctxc("large", "diff", "HEAD", cache="diff")

    def gate(cache: str, *arguments: str) -> Cost:
        return bench.ctxc("large", "gate", "--against", "HEAD", "--fail-on", "never", *arguments, cache=cache)

    cases: dict[str, Callable[[], Cost]] = {
        "diff": diff,
        "gate without injection": lambda: gate("others", *_others()),
        "gate": lambda: gate("all"),
        "diff, asked again": lambda: bench.ctxc("large", "diff", "HEAD", cache="diff"),
        "gate, asked again": lambda: gate("all"),
    }
    limits = {"gate without injection": Limit(DIFF_LIMIT, "diff")}
    return show(f"one fragment of {fixtures:,} changed", measure(cases, bench.rounds), "diff", limits)


def _others() -> list[str]:
    return [argument for name in gate_ids() if name != "injection" for argument in ("--only", name)]


def injection(bench: Bench) -> bool:
    """Every shipped payload in every untrusted place of four fixtures in two renderers: seconds of CPU."""
    from ctxc import providers, tokens
    from ctxc.app.workspace import compiler_for
    from ctxc.compiler.memo import Memo
    from ctxc.compiler.resolve import resolve
    from ctxc.compiler.stage import Options
    from ctxc.detect.injection import payloads
    from ctxc.rules._containment import Trial

    project = ctxc.load(ROOT)
    compiler = compiler_for(project, Options())
    rows = payloads()
    assert len(rows) >= PAYLOADS
    names = ("q3_cross_check", "rear_damage_report.3", "forged_closing_tag", "refund_same_candidates_with_contract")
    packages = {name: compiler.compile(project.fixtures[name]) for name in names}

    def once() -> float:
        tried, seen, start = 0, set(), time.process_time()
        for name in names:
            request = resolve(
                project, project.fixtures[name], tokenizers=lambda ref: tokens.get(ref.id), shapes=providers.shape,
                options=Options(), memo=Memo(),
            )  # fmt: skip
            for renderer in ("chat_messages_v3", "xml_v1"):
                trial = Trial(request, packages[name], renderer=renderer, witnesses=seen)
                broken = list(trial.baseline())
                for text in (*(t for _, t in trial.own_payloads()), *(r.text for r in rows)):
                    broken += trial.breaks(text)
                    tried += 1
                assert not broken, broken
        assert tried >= PAYLOADS * FIXTURES * RENDERERS
        return time.process_time() - start

    seconds = median(once() for _ in range(bench.rounds))
    what = f"{len(rows)} payloads and the renderer's own, {FIXTURES} fixtures, {RENDERERS} renderers"
    return _told(f"injection: {what}", f"{seconds:.2f} s of CPU", seconds <= INJECTION_SECONDS, "at most 2 s")


def forbidden(bench: Bench) -> bool:
    """Every rule of the example library over the requests of all its fixtures: megabytes of rendered text a second."""
    from ctxc.app.workspace import compiler_for
    from ctxc.compiler.stage import Options
    from ctxc.rules._forbidden import ForbiddenRule, rules_of
    from ctxc.rules._scanner import Scanner

    project = ctxc.load(ROOT)
    compiler = compiler_for(project, Options())
    packages = [compiler.compile(fixture) for fixture in project.fixtures.values()]
    texts = [segment.text for package in packages for segment in package.segments]
    once_each = list(dict.fromkeys(texts))
    rules = rules_of([versions[0] for versions in project.policies.values()])

    def speed(chosen: Sequence[ForbiddenRule], searched: Sequence[str]) -> float:
        taken = []
        for number in range(bench.rounds + 1):
            scanner = Scanner(chosen, key=b"bench")
            start = time.process_time()
            for text in searched:
                scanner.scan(text, is_json=True)
            if number:
                taken.append(time.process_time() - start)
        return sum(len(text.encode()) for text in searched) / 1e6 / median(taken)

    found, apart, together = speed(rules, texts), speed(rules, once_each), speed(rules, ["\n".join(once_each)])
    searched = [rule for rule in rules if rule.detect or rule.keys or rule.patterns]
    singles = sorted(speed([rule], once_each) for rule in searched)
    detail = (
        f"at least {FORBIDDEN_MEGABYTES:g}; {apart:.0f} where no text comes twice, {together:.0f} as one text, "
        f"single rules {singles[0]:.0f} to {singles[-1]:.0f}"
    )
    title = f"forbidden: {len(rules)} rules over {sum(map(len, texts)):,} characters"
    return _told(title, f"{found:.0f} MB/s", found >= FORBIDDEN_MEGABYTES, detail)


def _told(title: str, figure: str, held: bool, limit: str) -> bool:
    print(f"\n{title}\n  {figure}   ({limit}){'' if held else '  EXCEEDED'}")
    return held


TABLES: dict[str, Callable[[Bench], bool]] = {
    "library": library,
    "large": large,
    "injection": injection,
    "forbidden": forbidden,
}


def main() -> int:
    """Build everything in a temporary folder and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=list(TABLES), default=list(TABLES))
    parser.add_argument("--fixtures", type=int, default=1000)
    given = parser.parse_args()
    held = True
    with tempfile.TemporaryDirectory(prefix="bench-gate-") as folder:
        bench = Bench(Path(folder), given.rounds, given.fixtures)
        for name in given.only:
            held = TABLES[name](bench) and held
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
