"""Every rule on files of its own: exactly what the markers say is found, at these places, and nothing in good files."""

from __future__ import annotations

from pathlib import Path

import pytest
from rule_lab import differences, findings_of, read_case

from ctxc.rules import all_rules, rule

HERE = Path(__file__).parent
CASES = sorted(HERE.glob("*/*.case"))


@pytest.mark.parametrize("path", CASES, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_case(path: Path) -> None:
    made = rule(path.parent.name)
    case = read_case(path.read_text(encoding="utf-8"))
    assert bool(case.expected) is path.stem.startswith("bad"), "a bad case has markers, a good one has none"
    assert {e.code for e in case.expected} <= {made.code}
    found = findings_of(case.example, [made], compiled=made.needs == "packages")
    assert differences(case, found) == []


def test_every_rule_has_bad_and_good_files() -> None:
    judged = [r for r in all_rules() if r.emitter != "suppressing" and (r.needs == "sources" or r.emitter != "rule")]
    missing = [
        f"{r.code} {r.name}: {kind}"
        for r in judged
        for kind in ("bad", "good")
        if not any((HERE / r.code).glob(f"{kind}*.case"))
    ]
    assert not missing
    assert len(judged) >= 70


def test_no_case_is_left_of_a_rule_that_is_gone() -> None:
    codes = {r.code for r in all_rules()}
    assert {p.name for p in HERE.iterdir() if p.is_dir() and not p.name.startswith("_")} <= codes
