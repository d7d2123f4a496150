"""Conflicts are found before duplicates are removed."""

from __future__ import annotations

from dataclasses import asdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from world import Record, compiled, evidence, fixture, project, spec

from ctxc.compiler.reconcile import _near as near_duplicates
from ctxc.model.package import Outcome
from ctxc.model.section import DEFAULTS, DROP, Kind, Section, Tier, Verification
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


@pytest.mark.parametrize(
    ("first", "second", "preferred", "reason"),
    [
        ({"source": "doc://x", "version": "9"}, {"source": "doc://x", "version": "10"}, "B", "a newer version"),
        ({"source": "doc://x", "version": "v2.1"}, {"source": "doc://x", "version": "v2.0.9"}, "A", "a newer version"),
        ({"source": "doc://x", "version": "9"}, {"source": "doc://y", "version": "10"}, "", "no side is verified"),
        ({"source": "", "version": "9"}, {"source": "", "version": "10"}, "", "no side is verified"),
        ({"source": "doc://x", "version": "9"}, {"source": "doc://x", "version": ""}, "", "no side is verified"),
        ({"source": "doc://x", "version": "9"}, {"source": "doc://x", "version": "9"}, "", "no side is verified"),
    ],
)
def test_which_side_is_preferred_and_why(first, second, preferred, reason):
    package = package_of(evidence("A", "30 days", topic="d", **first), evidence("B", "90 days", topic="d", **second))
    (conflict,) = package.conflicts
    assert conflict.preferred == (f"evidence/{preferred}" if preferred else "")
    assert conflict.reason.startswith(reason)
    verdicts = {d.section_id[-1]: d.verdict for d in package.decisions if d.stage == "reconcile"}
    assert verdicts == {n: "preferred" if n == preferred else "conflicted" for n in "AB"}


def test_two_verified_sides_leave_a_conflict_open():
    verified = {"topic": "d", "verification": Verification.VERIFIED_SCOPE}
    package = package_of(evidence("A", "30 days", **verified), evidence("B", "90 days", **verified))
    assert (package.conflicts[0].preferred, package.conflicts[0].reason) == ("", "several sides are verified in scope")
    assert [p.section.verification for p in package.placed[:2]] == [Verification.CONFLICTED] * 2


def test_conflicts_stand_by_topic():
    package = package_of(
        *(evidence(t + n, f"{n}0 days of {t}", topic=t) for t in ("late", "early", "middle") for n in "39")
    )
    assert [c.topic for c in package.conflicts] == ["early", "late", "middle"]


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


@pytest.mark.parametrize(
    "negation", ["isn't", "isn\u2019t", "ISN'T", "cannot", "never", "nothing", "nobody", "neither", "nor", "none", "no"]
)
def test_every_form_of_a_negation_counts(negation):
    text = (
        "Since the new terms hold for all of us the supplier {} liable for what was lost on the long way to the office."
    )
    package = package_of(evidence("A", text.format("is")), evidence("B", text.format(negation)))
    assert package.dropped == ()
    package = package_of(evidence("A", text.format("is")), evidence("B", text.format("was")))
    assert [d.reason for d in package.dropped] == ["near_duplicate"]


@pytest.mark.parametrize(("twin", "stays"), [({}, "A"), ({"relevance": 0.9}, "B"), ({"topic": "deadline"}, "B")])
def test_of_duplicates_the_one_stays_that_would_be_kept_longest(twin, stays):
    """A side of a conflict before the more relevant, the more relevant before the first by its id."""
    other = evidence("C", "90 days", 0.1, topic="deadline")
    second = evidence("B", "30 days", twin.get("relevance", 0.1), topic=twin.get("topic", ""))
    package = package_of(second, evidence("A", "30 days", 0.1 if "relevance" in twin or not twin else 0.5), other)
    gone = "AB".replace(stays, "")
    assert {d.section_id: d.detail for d in package.dropped} == {f"evidence/{gone}": f"of evidence/{stays}"}


def test_structured_records_are_duplicates_only_where_they_are_equal():
    rows = [{"text": LONG.format(30), "n": n} for n in (1, 1, 2)]
    records = [Record(id=name, value=row, has_value=True) for name, row in zip("ABC", rows, strict=True)]
    assert {d.section_id: d.detail for d in package_of(*records).dropped} == {"evidence/B": "of evidence/A"}


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.integers(4, 30), st.sets(st.integers(0, 29), max_size=4), st.sampled_from(["", "x", "y"])),
        min_size=2,
        max_size=8,
    )
)
def test_near_duplicates_are_exactly_those_that_share_nine_words_of_ten(texts):
    """Against every pair: the first that stands before it, of at least eight different words."""
    bags = {}
    for number, (length, other, word) in enumerate(texts):
        bags[f"n{number}"] = {f"{word}{chr(97 + i)}" if i in other else chr(97 + i) for i in range(length)}
    expected = {}
    for later, bag in bags.items():
        for earlier, before in bags.items():
            if earlier == later:
                break
            if len(bag) >= 8 and len(before) >= 8 and 10 * len(bag & before) >= 9 * len(bag | before):
                expected[later] = earlier
                break
    sections = [
        Section(
            section_id=name,
            slot="evidence",
            text=" ".join(sorted(bag)),
            source_uri="",
            kind=Kind.EVIDENCE,
            **asdict(DEFAULTS[Kind.EVIDENCE]) | {"overflow": DROP},
        )
        for name, bag in bags.items()
    ]
    assert dict(near_duplicates(sections)) == expected


def test_dedupe_can_be_switched_off():
    sections = [spec("evidence", source="retrieval", select=Select(dedupe=False))]
    package = compiled(
        project(sections=sections), fixture(user="hi", evidence=[evidence("A", "same"), evidence("B", "same")])
    )
    assert package.dropped == ()
