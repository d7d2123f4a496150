"""The same inputs give the same bytes: under another hash seed, time zone, locale, folder, and with and without a cache."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from shell import clean_environment

ROOT = Path(__file__).parents[3]


def output(folder: Path, *arguments: str, **environment: str) -> bytes:
    clean = {k: v for k, v in clean_environment().items() if not k.startswith(("LC_", "LANG", "TZ"))}
    done = subprocess.run(
        [sys.executable, "-m", "ctxc", "-C", str(ROOT), *arguments],
        cwd=folder, capture_output=True, check=False, env={**clean, "PYTHONPATH": str(ROOT), **environment},
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr.decode()
    return done.stdout


ENVIRONMENTS = {
    "seed": {"PYTHONHASHSEED": "1"},
    "other seed": {"PYTHONHASHSEED": "2"},
    "east": {"TZ": "Asia/Tokyo", "LC_ALL": "de_DE.UTF-8", "PYTHONHASHSEED": "3"},
    "west": {"TZ": "America/Los_Angeles", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONHASHSEED": "4"},
}


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return output(tmp_path_factory.mktemp("here"), "compile", "--format", "json", "--no-cache")


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_json_is_byte_identical(expected: bytes, tmp_path: Path, name: str) -> None:
    assert output(tmp_path, "compile", "--format", "json", "--no-cache", **ENVIRONMENTS[name]) == expected


def test_json_is_byte_identical_from_the_cache(expected: bytes, tmp_path: Path) -> None:
    cache = str(tmp_path / "cache")
    for seed in "123":
        found = output(ROOT / "docs", "compile", "--format", "json", "--cache-dir", cache, PYTHONHASHSEED=seed)
        assert found == expected


def test_no_path_of_the_machine_is_printed(expected: bytes) -> None:
    assert str(ROOT).encode() not in expected
    assert os.environ.get("HOME", "/nowhere").encode() + b"/" not in expected
