"""Every row of the threat list and every public report has a test that carries its id."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

NO_TEST = {
    "T-105": "about where packages are installed from: nothing in this tree could show it",
}


@pytest.fixture(scope="module")
def tested(root: Path) -> str:
    own = Path(__file__).name
    files = [p for p in sorted((root / "tests").rglob("*.py")) if p.name != own]
    return "\n".join(p.read_text(encoding="utf-8") for p in files)


def test_every_threat(shared: Path, tested: str) -> None:
    ids = [json.loads(row)["id"] for row in (shared / "security/threats.jsonl").open(encoding="utf-8")]
    assert len(ids) > 70
    numbers = {int(number) for number in re.findall(r"(?:\bT-|_t)(\d{3})(?=\b|_)", tested)}
    assert [i for i in ids if int(i[2:]) not in numbers] == sorted(NO_TEST)


def test_every_report(shared: Path, tested: str) -> None:
    for case in sorted((shared / "cases").iterdir()):
        first, number = case.name.split("-")
        told = (case.name, f"test_{first}_{number}_", f"_and_{number}_")
        assert any(form in tested for form in told), case.name
