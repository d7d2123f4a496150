"""The tests mean the same on every machine: what ctxc takes from the environment is taken away from them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from shell import clean_environment

from ctxc.source import base_revision

# A name in capitals that is looked up in a mapping called environment or environ.
READ = re.compile(r"\benviron(?:ment)?(?:\.get\(|\[)\s*\"(_?[A-Z][A-Z_0-9]+)\"")
# Where things are on this machine, and which terminal it has: a test that minds them sets its own.
PLACES = {"PATH", "HOME", "XDG_CACHE_HOME", "LOCALAPPDATA", "TERM", "SUDO_UID"}


def read_names(root: Path) -> set[str]:
    found = {n for p in (root / "ctxc").rglob("*.py") for n in READ.findall(p.read_text(encoding="utf-8"))}
    found |= {n for p in (root / ".github/actions").rglob("*.py") for n in READ.findall(p.read_text(encoding="utf-8"))}
    for branch in base_revision._BRANCHES:
        found |= {branch.name, *(branch.unless or ())[:1]}
    return found | {*base_revision._COMMITS, *base_revision._REVISIONS}


def test_no_test_sees_the_service_or_the_settings_of_this_machine(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = read_names(root) - PLACES
    assert {"CI", "GITHUB_ACTIONS", "CTXC_NOW", "TRAVIS_BRANCH", "DRONE_PULL_REQUEST", "NO_COLOR"} <= names
    for name in names:
        monkeypatch.setenv(name, "1")
    assert names & clean_environment().keys() == set()
