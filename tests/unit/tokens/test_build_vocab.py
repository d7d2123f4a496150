"""The packing tool reproduces the shipped tables and refuses anything else."""

from __future__ import annotations

import gzip
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from conftest_tokens import rank_file

from ctxc.tokens.vocabulary import FOLDER


def run(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    script = str(root / "tools" / "build_vocab.py")
    return subprocess.run([sys.executable, script, *arguments], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("compress", [False, True])
def test_packing_the_published_file_gives_the_shipped_table(root: Path, tmp_path: Path, compress: bool) -> None:
    published = rank_file("cl100k_base")
    source = tmp_path / "any-name"
    source.write_bytes(gzip.compress(published) if compress else published)
    done = run(root, "cl100k_base", str(source), "-o", str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert "(as recorded)" in done.stdout
    packed = (tmp_path / "cl100k_base.bin").read_bytes()
    assert zlib.decompress(packed) == zlib.decompress((FOLDER / "cl100k_base.bin").read_bytes())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["any-name", "cl100k_base.bin"]


def test_another_file_is_refused_and_nothing_is_written(root: Path, tmp_path: Path) -> None:
    source = tmp_path / "ranks"
    source.write_bytes(rank_file("cl100k_base").replace(b" 7\n", b" 8\n", 1))
    done = run(root, "cl100k_base", str(source), "-o", str(tmp_path))
    assert done.returncode == 1
    assert "refused" in done.stderr and "223921b76ee9" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["ranks"]
