"""Patterns of paths."""

from __future__ import annotations

import random
import time
from fnmatch import fnmatchcase

import pytest

from ctxc.base.globs import matches_glob


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.py", "pkg/mod/x.py", True),
        ("src/*.py", "src/a/b.py", True),
        ("?.py", "ab.py", False),
        ("**/a", "a", True),
        ("**/a", "b/c/a", True),
        ("**/a", "ba", False),
        ("src/**/x/**/*.ts", "src/x/a/b.ts", True),
        ("**/x/**/y/*.ts", "a/x/y/b.ts", True),
        ("**/x/**/y/*.ts", "ax/y/b.ts", False),
        ("x**/y", "xz/y", True),
        ("docs/**", "docs/a/b.md", True),
        ("**/*.{java,kt}", "A.kt", True),
        ("**/*.{java,kt}", "src/A.scala", False),
        ("a/{b,c/{d,e}}/f.ts{,x}", "a/b/f.tsx", True),
        ("a/{b,c/{d,e}}/f.ts{,x}", "a/c/e/f.ts", True),
        ("a/{b,c/{d,e}}/f.ts{,x}", "a/c/f.ts", False),
        ("{**/a,b}/c", "x/a/c", True),
        ("a{b.md", "a{b.md", True),
        ("a{b}.md", "a{b}.md", True),
        ("[{]x,y}/a", "{x,y}/a", True),
        ("**/[!x].b", "a.b", True),
        ("**/[!x].b", "x.b", False),
        ("**/[[]id]/p", "x/[id]/p", True),
        ("**/A", "a", False),
        ("", "", True),
    ],
)
def test_what_matches(pattern: str, path: str, expected: bool) -> None:
    assert matches_glob(path, pattern) is expected


def test_t043_a_pattern_of_many_stars_and_braces_ends_soon() -> None:
    start = time.process_time()
    assert not matches_glob("a" * 1_000, "{a,b}*a" * 40 + "{c,d}")
    assert not matches_glob("a" * 1_000, "**/" + "*a" * 40 + "b")
    assert not matches_glob("a" * 1_000, "{a,b}" * 1_001)
    assert matches_glob("a" * 300, "{a,b}" * 300)
    assert not matches_glob("c", "{a," * 300 + "b" + "}" * 300)
    assert time.process_time() - start < 5  # it takes about a quarter of a second; trying every way would take years


def test_without_folders_and_braces_it_is_the_standard_library() -> None:
    generator = random.Random(3)
    for _ in range(3_000):
        pattern = "".join(generator.choice("ab/*?[]!") for _ in range(generator.randint(0, 7)))
        path = "".join(generator.choice("ab/[]") for _ in range(generator.randint(0, 6)))
        # A pair of braces that says the same twice makes this module's own matcher run.
        assert matches_glob(path + "z", pattern + "{z,z}") == fnmatchcase(path + "z", pattern + "z") or "**/" in pattern
