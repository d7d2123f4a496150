"""What ``ctxc compile`` costs, as ratios within one run: start-up, 2,000 sections, a large project, an edit, growth.

    python benchmarks/bench_compile.py [--rounds 5] [--only start ...] [--promptbudget PYTHON]

``--promptbudget`` names an interpreter that has promptbudget and tiktoken; without it that comparison is left out.
"Stored" runs return packages that were kept; "pipeline" runs find only counts and parses and compile everything. The
status is 1 where a limit is exceeded by CPU and by clock alike.
"""

from __future__ import annotations

import argparse
import base64
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable
from hashlib import sha1
from pathlib import Path

import bench_cli
import gen_project
import gen_sections
from processes import Cost, Limit, environment, measure, run, show

HERE = Path(__file__).parent
VOCABULARY_URL = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
FRAGMENT = "g003.f00333"
EDITED = "fragments/g003/f00333.md"


class Bench:
    """Commands in one temporary folder, each project with a cache of its own."""

    def __init__(self, folder: Path, rounds: int, promptbudget: str) -> None:
        self.folder = folder
        self.rounds = rounds
        self.promptbudget = promptbudget
        self.environment = environment(TIKTOKEN_CACHE_DIR=str(folder / "tiktoken"))
        self.floor = {"python -c pass": lambda: self.python("-c", "pass")}

    def python(self, *arguments: str) -> Cost:
        """One process of this interpreter."""
        return run([sys.executable, *arguments], self.folder, self.environment)

    def compile(self, project: str, *, cold: bool = False, forget: bool = False) -> Cost:
        """Compile a project; ``cold``: with an empty cache, ``forget``: with one that holds no package."""
        cache = self.folder / f"{project}.cache"
        if cold:
            shutil.rmtree(cache, ignore_errors=True)
        if forget:
            forget_packages(cache)
        # A larger project may hold fixtures that do not fit: that is an outcome, and it is compiled like the others.
        return self.python("-m", "ctxc", "-C", project, "--cache-dir", str(cache), "compile", "--fail-on", "never")

    def reference(self, project: str, *, cold: bool = False) -> Cost:
        """The least loop over the same project."""
        file = self.folder / f"{project}.counts"
        if cold:
            for part in self.folder.glob(f"{file.name}*"):
                part.unlink()
        return self.python(str(HERE / "reference_loop.py"), project, "--cache", str(file))

    def project(self, name: str, fragments: int, fixtures: int) -> None:
        """Write a project once."""
        if not (self.folder / name).exists():
            gen_project.write_project(self.folder / name, fragments=fragments, templates=20, fixtures=fixtures)


def forget_packages(cache: Path) -> None:
    """Remove stored packages, rows and records; counts and parses stay."""
    database = sqlite3.connect(cache / "ctxc-1.sqlite3")
    with database:
        database.execute("DELETE FROM blobs WHERE space IN ('app.record', 'app.row', 'app.package')")
    database.close()


def start(bench: Bench) -> bool:
    """Start-up, and one fixture of 20 sections."""
    bench_cli.write_project(bench.folder / "small")
    cases = bench.floor | {
        "--version": lambda: bench.python("-m", "ctxc", "--version"),
        "20 sections, stored": lambda: bench.compile("small"),
        "20 sections, pipeline": lambda: bench.compile("small", forget=True),
    }
    limits = {"--version": Limit(2, "python -c pass"), "20 sections, stored": Limit(16, "python -c pass")}
    return show("start-up", measure(cases, bench.rounds), "python -c pass", limits)


def sections(bench: Bench) -> bool:
    """2,000 sections, counted exactly and fitted; ours are rendered, verified and recorded as well."""
    made = gen_sections.make_sections(2_000)
    budget = gen_sections.budget_of(made)
    gen_sections.write_project(bench.folder / "pack", made, budget)
    gen_sections.write_list(bench.folder / "pack.json", made, budget)
    cases: dict[str, Callable[[], Cost]] = dict(bench.floor)
    limits: dict[str, Limit] = {}
    if bench.promptbudget:
        write_vocabulary(bench.folder / "tiktoken")
        command = [bench.promptbudget, str(HERE / "promptbudget_driver.py"), "pack.json"]
        cases["promptbudget"] = lambda: run(command, bench.folder, bench.environment)
        limits = {n: Limit(0.5, "promptbudget") for n in ("pipeline, warm counts", "stored packages")}
        limits["cold"] = Limit(1, "promptbudget")
    cases |= {
        "cold": lambda: bench.compile("pack", cold=True),
        "pipeline, warm counts": lambda: bench.compile("pack", forget=True),
        "stored packages": lambda: bench.compile("pack"),
    }
    return show("2,000 sections", measure(cases, bench.rounds), "python -c pass", limits)


def write_vocabulary(folder: Path) -> None:
    """The vocabulary where tiktoken looks for a downloaded one."""
    from ctxc.tokens.vocabulary import O200K, load_ranks

    folder.mkdir(exist_ok=True)
    lines = [b"%s %d\n" % (base64.b64encode(token), rank) for token, rank in load_ranks(O200K).items()]
    (folder / sha1(VOCABULARY_URL.encode()).hexdigest()).write_bytes(b"".join(lines))


def large(bench: Bench) -> bool:
    """1,000 fixtures over 1,000 fragments against the least loop."""
    bench.project("large", 1_000, 1_000)
    cases = bench.floor | {
        "loop, cold": lambda: bench.reference("large", cold=True),
        "cold": lambda: bench.compile("large", cold=True),
        "loop, warm": lambda: bench.reference("large"),
        "pipeline, warm counts and parses": lambda: bench.compile("large", forget=True),
        "stored packages": lambda: bench.compile("large"),
    }
    limits = {
        "cold": Limit(3, "loop, cold"),
        "pipeline, warm counts and parses": Limit(2, "loop, warm"),
        "stored packages": Limit(2, "loop, warm"),
    }
    costs = measure(cases, bench.rounds)
    held = show("1,000 fixtures, 1,000 fragments", costs, "python -c pass", limits)
    most = max(costs[name].megabytes for name in ("cold", "pipeline, warm counts and parses", "stored packages"))
    print(f"  memory {most:.0f} MB, limit 400 MB{'' if most < 400 else '  EXCEEDED'}")
    return held and most < 400


def edit(bench: Bench) -> bool:
    """One fragment of 1,000 edited; beside it a project that holds nothing but the fixtures that it reaches."""
    bench.project("large", 1_000, 1_000)
    bench.compile("large")
    copy_affected(bench.folder / "large", bench.folder / "affected")
    bench.compile("affected")
    edits = iter(range(1_000_000))

    def edited(project: str) -> Cost:
        place = bench.folder / project / EDITED
        place.write_bytes(place.read_bytes() + b"Edit %d.\n" % next(edits))
        return bench.compile(project)

    cases = bench.floor | {
        "affected fixtures alone": lambda: edited("affected"),
        "one fragment edited": lambda: edited("large"),
    }
    limits = {"one fragment edited": Limit(20, "python -c pass", "affected fixtures alone")}
    return show("an edit", measure(cases, bench.rounds), "python -c pass", limits)


def copy_affected(source: Path, target: Path) -> None:
    """The fixtures that name the edited fragment, with every template and only the fragments that they may need."""
    chosen = [p for p in sorted(source.glob("tests/fixtures/*/*.yaml")) if FRAGMENT in p.read_text(encoding="utf-8")]
    text = "".join(p.read_text(encoding="utf-8") for p in chosen)
    for path in sorted(source.rglob("*.*")):
        relative = path.relative_to(source)
        if relative.parts[0] == "tests" and path not in chosen:
            continue
        if relative.parts[0] == "fragments":
            name = f"{relative.parts[1]}.{path.stem}"
            always = "load_mode: always" in path.with_suffix(".yaml").read_text(encoding="utf-8")
            if name not in text and not always:
                continue
        (target / relative).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target / relative)


def growth(bench: Bench) -> bool:
    """Twice the fixtures, and twice the fragments."""
    bench.project("large", 1_000, 1_000)
    bench.project("more-fixtures", 1_000, 2_000)
    bench.project("more-fragments", 2_000, 1_000)
    cases = {
        name: lambda name=name: bench.compile(name, cold=True) for name in ("large", "more-fixtures", "more-fragments")
    }
    limits = {name: Limit(2.4, "large") for name in ("more-fixtures", "more-fragments")}
    return show("growth, cold", measure(cases, bench.rounds), "large", limits)


PARTS = {part.__name__: part for part in (start, sections, large, edit, growth)}


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=sorted(PARTS), default=list(PARTS))
    parser.add_argument("--promptbudget", metavar="PYTHON", default="")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(Path(name), arguments.rounds, arguments.promptbudget)
        held = [PARTS[part](bench) for part in arguments.only]
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
