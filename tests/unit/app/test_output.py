"""Files are written beside their place and then renamed; ids become safe file names."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from ctxc.app.output import file_name, write_text
from ctxc.base.errors import CtxcError


def test_a_text_is_written_as_utf8_with_line_feeds(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "er" / "a.json"
    write_text(target, "ä\n\ud800\n")
    assert target.read_bytes() == "ä\n\\ud800\n".encode()
    assert [p.name for p in target.parent.iterdir()] == ["a.json"]


def test_what_was_there_stays_when_writing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "a.json"
    target.write_text("old")

    def fail(self: Path, other: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(CtxcError, match="No space left on device"):
        write_text(target, "new")
    assert target.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_permissions_are_those_of_the_umask_or_of_the_old_file(tmp_path: Path) -> None:
    mask = os.umask(0o027)
    try:
        write_text(tmp_path / "new", "x")
        (tmp_path / "old").write_text("x")
        (tmp_path / "old").chmod(0o604)
        write_text(tmp_path / "old", "y")
    finally:
        os.umask(mask)
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "old").stat().st_mode & 0o777 == 0o604


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_a_folder_in_the_way_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a file")
    with pytest.raises(CtxcError, match="cannot write"):
        write_text(tmp_path / "a" / "b", "x")


HOSTILE = [
    "../../etc/passwd",
    "a/b",
    "A",
    "a",
    "con",
    "nul",
    ".",
    "..",
    "a:b",
    "a\\b",
    "a\0b",
    "ä",
    "a b",
    "x" * 300,
    "\ud800",
]


def test_file_names_are_safe_and_different() -> None:
    from ctxc.source.paths import fault_of_name

    names = [file_name(text) for text in HOSTILE]
    assert len({n.casefold() for n in names}) == len(HOSTILE)
    assert [n for n in names if fault_of_name(n + ".json")] == []
    assert all(len(n) <= 180 for n in names)
    assert file_name("motor_intake-2") == "motor_intake-2"
    assert file_name("rear.1") == "rear%2E1"
