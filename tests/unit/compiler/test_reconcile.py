"""Conflicts are found before duplicates are removed."""

from __future__ import annotations

from world import compiled, evidence, fixture, project, spec

from ctxc.model.package import Outcome
from ctxc.model.section import Tier, Verification
from ctxc.model.template import Budget, Select

SECTIONS = [spec("evidence", source="retrieval")]
LONG = "The supplier has to answer every complaint in writing within {} days after it was received by the office."


def package_of(*records, **more):
    return compiled(project(sections=SECTIONS, **more), fixture(user="hi", evidence=records))


def test_both_sides_of_an_open_conflict_stay_and_are_marked():
    package = package_of(
        evidence("A", LONG.format(30), topic="deadline"), evidence("B", LONG.format(90), topic="deadline")
    )
    assert [(c.topic, c.sides, c.preferred) for c in package.conflicts] == [
        ("deadline", ("evidence/A", "evidence/B"), "")
    ]
    sides = [p.section for p in package.placed if p.section.kind.value == "evidence"]
    assert {s.verification for s in sides} == {Verification.CONFLICTED}
    assert {s.tier for s in sides} == {Tier.P2}


def test_an_exact_duplicate_of_one_side_does_not_remove_a_side():
    package = package_of(
        evidence("A", "30 days", topic="deadline"),
        evidence("B", "90 days", topic="deadline"),
        evidence("C", "90 days"),
    )
    assert {d.section_id: (d.reason, d.detail) for d in package.dropped} == {
        "evidence/C": ("duplicate", "of evidence/B")
    }
    assert package.conflicts[0].sides == ("evidence/A", "evidence/B")


def test_the_only_verified_side_is_preferred():
    package = package_of(
        evidence("A", "30 days", topic="deadline", verification=Verification.VERIFIED_SCOPE),
        evidence("B", "90 days", topic="deadline"),
    )
    assert package.conflicts[0].preferred == "evidence/A"
    assert all(p.section.verification is not Verification.CONFLICTED for p in package.placed)


def test_a_newer_version_of_the_same_source_is_preferred_and_a_later_date_is_not():
    newer = package_of(
        evidence("A", "30 days", topic="d", source="doc://x", version="9"),
        evidence("B", "90 days", topic="d", source="doc://x", version="10"),
    )
    assert newer.conflicts[0].preferred == "evidence/B"
    later = package_of(
        evidence("A", "30 days", topic="d", source="doc://x", time="2026-01-01"),
        evidence("B", "90 days", topic="d", source="doc://y", time="2026-02-01"),
    )
    assert later.conflicts[0].preferred == ""


def test_an_open_conflict_that_does_not_fit_refuses_the_compile():
    package = package_of(
        evidence("A", LONG.format(30) * 20, topic="d"),
        evidence("B", LONG.format(90) * 20, topic="d"),
        budget=Budget(window=400, output_reserve=10),
    )
    assert package.outcome is Outcome.BUDGET_EXCEEDED


def test_exact_and_near_duplicates_leave_with_the_record_that_stays():
    package = package_of(
        evidence("A", LONG.format(30), 0.9),
        evidence("B", "  " + LONG.format(30).replace(" ", "  "), 0.5),
        evidence("C", LONG.format(30) + " Yes.", 0.4),
    )
    assert {d.section_id: (d.reason, d.detail) for d in package.dropped} == {
        "evidence/B": ("duplicate", "of evidence/A"),
        "evidence/C": ("near_duplicate", "of evidence/A"),
    }


def test_of_several_near_duplicates_the_one_that_stays_is_named():
    package = package_of(
        *(
            evidence(name, LONG.format(30) + end, 0.5)
            for name, end in (("A", ""), ("B", " x"), ("C", " y"), ("D", " z"))
        )
    )
    assert {d.section_id: d.detail for d in package.dropped} == {f"evidence/{name}": "of evidence/A" for name in "BCD"}


def test_texts_that_differ_in_a_number_or_a_negation_are_not_near_duplicates():
    package = package_of(
        evidence("A", LONG.format(30)),
        evidence("B", LONG.format(90)),
        evidence("C", LONG.format(30).replace("has to", "has not to")),
    )
    assert package.dropped == ()


def test_dedupe_can_be_switched_off():
    sections = [spec("evidence", source="retrieval", select=Select(dedupe=False))]
    package = compiled(
        project(sections=sections), fixture(user="hi", evidence=[evidence("A", "same"), evidence("B", "same")])
    )
    assert package.dropped == ()
