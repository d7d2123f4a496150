"""Where caches lie."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from ctxc.app.places import cache_folder, folder_in_repository


@pytest.mark.skipif(os.name == "nt" or sys.platform == "darwin", reason="the rules of XDG")
@pytest.mark.parametrize(
    ("environment", "named", "expected"),
    [
        ({"HOME": "/h"}, None, "/h/.cache/ctxc"),
        ({"HOME": "/h", "XDG_CACHE_HOME": "/x"}, None, "/x/ctxc"),
        ({"HOME": "/h", "XDG_CACHE_HOME": "relative"}, None, "/h/.cache/ctxc"),
        ({"HOME": "/h", "CTXC_CACHE_DIR": "/c"}, None, "/c"),
        ({"HOME": "/h", "CTXC_CACHE_DIR": "/c"}, "/flag", "/flag"),
        ({}, None, None),
    ],
)
def test_cache_folder(environment: dict[str, str], named: str | None, expected: str | None) -> None:
    assert cache_folder(environment, named) == (Path(expected) if expected else None)


def test_where_a_project_lies_in_its_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "services/desk").mkdir(parents=True)
    assert folder_in_repository(tmp_path) == ""
    assert folder_in_repository(tmp_path / "services/desk") == "services/desk/"

    def refuse(path: str, **how: object) -> os.stat_result:
        raise PermissionError(path)

    monkeypatch.setattr(os, "stat", refuse)  # a folder above may not be searched
    assert folder_in_repository(tmp_path / "services/desk") == ""
