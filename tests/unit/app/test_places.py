"""Where caches lie."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from ctxc.app.places import cache_folder


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
