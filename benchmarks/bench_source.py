"""Reading: 2,000 blobs of a revision against ``git cat-file --batch`` alone, and 3,000 files from disk.

Prints ratios within one run: ``python benchmarks/bench_source.py [--rounds N]``. It builds its own repository in a
temporary folder. ``git cat-file`` is measured twice: into a pipe whose other end is read, and into nothing.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from ctxc.source.changes import changed_paths
from ctxc.source.commits import CommitTree
from ctxc.source.git import Repository
from ctxc.source.opening import open_work_tree
from ctxc.source.worktree import WorkTree

BLOBS = 2_000
FILES = 3_000
BYTES = 2_200  # the median prompt file of the corpora


def build(root: Path, *, packed: bool) -> None:
    """A repository of 3,000 files in 30 folders and two commits, the second with one file edited."""
    environ = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}

    def git(*arguments: str) -> None:
        names = ["-c", "user.name=b", "-c", "user.email=b@example.invalid", "-c", "gc.auto=0"]
        subprocess.run(["git", *names, *arguments], cwd=root, env=environ, check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    for number in range(FILES):
        place = root / f"fragments/g{number % 30}/f{number}.md"
        place.parent.mkdir(parents=True, exist_ok=True)
        line = f"Rule {number}: say what is known, and name the source.\n"
        place.write_text((line * (BYTES // len(line) + 1))[:BYTES])
    git("add", "-A")
    git("commit", "-qm", "one")
    (root / "fragments/g7/f7.md").write_text("changed\n")
    git("commit", "-qam", "two")
    if packed:
        git("repack", "-adq")


def seconds(work: Callable[[], object]) -> float:
    """Wall time of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure(rounds: int, works: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Median of each work, the works interleaved so that a busy moment meets all of them."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            times[name].append(seconds(work))
    return {name: statistics.median(values) for name, values in times.items()}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    for packed in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            build(root, packed=packed)
            print(f"{'packed' if packed else 'loose'} objects, {rounds} rounds, medians")
            report(root, rounds)


def report(root: Path, rounds: int) -> None:
    """One repository's figures."""
    environ = dict(os.environ)
    with Repository.discover(root, environ=environ) or sys.exit("no repository") as repository:
        base, head = repository.resolve("HEAD~1"), repository.resolve("HEAD")
        tree = CommitTree(repository, base)
        paths = tree.list_paths()[:BLOBS]
        request = "".join(tree.blob_id(path).removeprefix("git:") + "\n" for path in paths).encode()

    def cat_file() -> None:
        subprocess.run(["git", "cat-file", "--batch"], cwd=root, input=request, stdout=subprocess.PIPE, check=True)

    asked = root / "asked"
    asked.write_bytes(request)

    def cat_file_into_nothing() -> None:
        with asked.open("rb") as handle:
            subprocess.run(
                ["git", "cat-file", "--batch"], cwd=root, stdin=handle, stdout=subprocess.DEVNULL, check=True
            )

    def read_blobs() -> None:
        with Repository.discover(root, environ=environ) or sys.exit() as found:
            CommitTree(found, base).read_many(paths)

    def list_and_read() -> None:
        with Repository.discover(root, environ=environ) or sys.exit() as found:
            listed = CommitTree(found, found.resolve("HEAD~1"))
            listed.read_many(listed.list_paths(["fragments"])[:BLOBS])

    def compare() -> None:
        with Repository.discover(root, environ=environ) or sys.exit() as found:
            (change,) = changed_paths(CommitTree(found, base), CommitTree(found, head))
            assert change.path == "fragments/g7/f7.md"

    def compare_equal() -> None:
        with Repository.discover(root, environ=environ) or sys.exit() as found:
            assert not changed_paths(CommitTree(found, head), CommitTree(found, head))

    def work_tree() -> None:
        found = WorkTree(root)
        for path in found.list_paths(["fragments"]):
            found.blob_id(path)

    def plain_read() -> None:
        for place in sorted((root / "fragments").rglob("*.md")):
            place.read_bytes()

    def compare_disk() -> None:
        with Repository.discover(root, environ=environ) or sys.exit() as found:
            assert not changed_paths(CommitTree(found, head), open_work_tree(root, found), ["fragments"])

    def quiet() -> None:
        subprocess.run(["git", "diff", "--quiet", "HEAD", "HEAD"], cwd=root, check=True)

    found = measure(
        rounds,
        {
            "git cat-file --batch alone, 2,000 blobs": cat_file,
            "the same into /dev/null": cat_file_into_nothing,
            "read 2,000 blobs": read_blobs,
            "resolve, list, read 2,000 blobs": list_and_read,
            "git diff --quiet of equal revisions": quiet,
            "compare equal revisions": compare_equal,
            "compare revisions, 1 of 3,000 changed": compare,
            "pathlib reads 3,000 files": plain_read,
            "work tree: list, read, hash 3,000 files": work_tree,
            "compare work tree with HEAD, 3,000 files": compare_disk,
        },
    )
    against = {
        "read 2,000 blobs": "git cat-file --batch alone, 2,000 blobs",
        "resolve, list, read 2,000 blobs": "git cat-file --batch alone, 2,000 blobs",
        "compare equal revisions": "git diff --quiet of equal revisions",
        "work tree: list, read, hash 3,000 files": "pathlib reads 3,000 files",
    }
    for name, value in found.items():
        ratio = f"  {value / found[against[name]]:.2f} x {against[name]}" if name in against else ""
        print(f"  {name:44} {value * 1000:7.1f} ms{ratio}")


if __name__ == "__main__":
    main()
