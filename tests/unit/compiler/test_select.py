"""Routes, load modes, requirements, conflicts and scores."""

from __future__ import annotations

import pytest
from world import Record, compiled, evidence, fixture, fragment, project, spec

from ctxc.model.fragment import LoadMode
from ctxc.model.package import Outcome
from ctxc.model.section import Kind
from ctxc.model.template import Select

SECTIONS = [spec("prompt", Kind.FRAGMENT, source="fragments"), spec("evidence", source="retrieval"), spec("memory")]
FILES = {f"{n}.md": f"Text of {n}." for n in "abcdef"}


def package_of(*fragments, route=None, names=(), **more):
    made = project(sections=SECTIONS, files=FILES, fragments=fragments, **more)
    return compiled(made, fixture(user="hi", route=route, fragments=names))


def loaded(package):
    return [p.section.item_id for p in package.placed if p.section.kind is Kind.FRAGMENT]


def test_a_route_loads_what_matches_and_nothing_else():
    motor = fragment("family.motor", "a.md", "family", LoadMode.ROUTE_MATCH, applies_when={"family": ("motor",)})
    home = fragment("family.home", "b.md", "family", LoadMode.ROUTE_MATCH, applies_when={"family": ("home",)})
    both = fragment(
        "task.x", "c.md", "task", LoadMode.ROUTE_MATCH, applies_when={"family": ("motor",), "task": ("intake",)}
    )
    package = package_of(motor, home, both, route={"family": ["motor"]})
    assert loaded(package) == ["family.motor"]
    # What did not match is no candidate at all: an unrelated fragment must not change a snapshot.
    assert "family.home" not in str(package.snapshot)


def test_the_order_is_core_family_task_capability_then_priority_then_id():
    package = package_of(
        fragment("z.cap", "a.md", "capability"),
        fragment("b.core", "b.md", "core"),
        fragment("a.core", "c.md", "core"),
        fragment("c.core", "d.md", "core", priority=90),
        fragment("a.task", "e.md", "task"),
        fragment("a.fam", "f.md", "family"),
    )
    assert loaded(package) == ["c.core", "a.core", "b.core", "a.fam", "a.task", "z.cap"]


def test_requirements_are_loaded_recursively_with_their_cause():
    package = package_of(
        fragment("a", "a.md", requires=("b",)),
        fragment("b", "b.md", mode=LoadMode.EXPLICIT, requires=("c",)),
        fragment("c", "c.md", mode=LoadMode.EXPLICIT),
    )
    assert loaded(package) == ["a", "b", "c"]
    causes = {d.section_id: d.reason for d in package.decisions if d.stage == "select"}
    assert causes["prompt/c"] == "required by b"


@pytest.mark.parametrize(
    ("fragments", "name", "said"),
    [
        ((fragment("a", "a.md", requires=("b",)), fragment("b", "b.md", requires=("a",))), "requires-cycle", "->"),
        ((fragment("a", "a.md", requires=("bb",)), fragment("b", "b.md")), "unknown-fragment", "Did you mean 'b'"),
        ((fragment("a", "a.md", conflicts_with=("b",)), fragment("b", "b.md")), "fragment-conflict", "a (route)"),
        ((fragment("a", "a.md", max_tokens=2),), "fragment-overrun", "over its max_tokens of 2"),
        ((fragment("a", "missing.md"),), "missing-file", "'missing.md' does not exist"),
    ],
)
def test_a_selection_that_contradicts_itself_names_the_chain(fragments, name, said):
    package = package_of(*fragments)
    assert package.outcome is Outcome.INVALID
    assert package.request is None
    assert [f.name for f in package.findings if f.code < "CTX800"] == [name]
    assert said in package.findings[0].message


def test_load_modes():
    package = package_of(
        fragment("always", "a.md"),
        fragment("auto", "b.md", mode=LoadMode.AUTO_CANDIDATE, requires=("never",)),
        fragment("named", "c.md", mode=LoadMode.EXPLICIT),
        fragment("ref", "d.md", mode=LoadMode.REFERENCE, summary="What d is about", operations=("read",)),
        fragment("alone", "e.md", mode=LoadMode.ISOLATED),
        fragment("never", "f.md", mode=LoadMode.EXPLICIT),
        names=["named"],
    )
    assert loaded(package) == ["always", "named", "ref"]
    text = str(package.request)
    assert "Text of d" not in text
    assert "What d is about" in text
    states = {s.candidate_id: (s.selected, s.loaded) for s in package.states}
    assert states["prompt/auto"] == ("no:auto_candidate", "no:auto_candidate")
    assert states["prompt/alone"] == ("yes", "no:isolated")
    assert "prompt/never" not in states


def test_an_auto_candidate_that_is_named_or_required_is_loaded():
    auto = fragment("auto", "b.md", mode=LoadMode.AUTO_CANDIDATE)
    assert loaded(package_of(auto, names=["auto"])) == ["auto"]
    assert loaded(package_of(auto, fragment("a", "a.md", requires=("auto",)))) == ["a", "auto"]


def test_a_fragment_that_the_fixture_names_must_exist():
    package = package_of(fragment("core.tone", "a.md"), names=["core.tune"])
    assert "Did you mean 'core.tone'?" in package.findings[0].message


def test_scores_show_every_term():
    record = evidence("E", "x", 0.8, scores={"authority": 0.5, "freshness": 1.0, "scope_match": 0.0})
    package = compiled(project(sections=SECTIONS), fixture(user="hi", evidence=[record]))
    score = next(s["score"] for s in package.snapshot["sections"] if s["section_id"] == "evidence/E")
    assert score["total"] == f"{0.8 * 0.4 + 0.5 * 0.2 + 1.0 * 0.15 + 0.1:.6f}"
    assert [(t["name"], t["weight"]) for t in score["terms"]] == [
        ("relevance", "0.40"),
        ("authority", "0.20"),
        ("freshness", "0.15"),
        ("scope_match", "0.15"),
        ("diversity_bonus", "0.10"),
        ("redundancy_penalty", "-1.00"),
        ("conflict_penalty", "-1.00"),
    ]


def totals(**inputs):
    package = compiled(project(sections=SECTIONS), fixture(user="hi", **inputs))
    return {s["section_id"].partition("/")[2]: s["score"]["total"] for s in package.snapshot["sections"] if s["score"]}


def test_each_further_piece_of_one_source_adds_less():
    """The most relevant counts in full, the next half, the third a third; equals by id. Absent scores are zero."""
    records = [evidence(n, f"text {n}", r, source=s) for n, r, s in (("c", 0.5, "x"), ("b", 0.5, "x"), ("a", 0.4, "x"))]
    others = [evidence("d", "text d", 0.9, source="x"), Record(id="e", text="text e", source="y")]
    assert totals(evidence=[*records, *others]) == {
        "d": "0.460000",
        "b": "0.250000",
        "c": "0.233333",
        "a": "0.185000",
        "e": "0.100000",
    }


def test_an_open_conflict_costs_a_tenth_or_what_the_record_says():
    sides = [
        evidence("a", "30 days", 0.5, topic="d", source="a"),
        evidence("b", "90 days", 0.5, topic="d", source="b", scores={"conflict_penalty": 0.3}),
        evidence("c", "other", 0.5, source="c", scores={"redundancy_penalty": 0.05}),
    ]
    assert totals(evidence=sides) == {"a": "0.200000", "b": "0.000000", "c": "0.250000"}
    memories = [
        Record(id="a", text="30 days", topic="d", scores={"relevance": 1.0}),
        Record(id="b", text="90 days", topic="d", scores={"relevance": 1.0, "privacy_risk_penalty": 0.2}),
    ]
    assert totals(memory=memories) == {"a": "0.250000", "b": "0.050000"}


def test_memory_score():
    record = Record(
        id="M",
        text="x",
        scores={"relevance": 1, "confidence": 0.5, "recency": 1, "importance": 0, "source_authority": 1},
    )
    package = compiled(project(sections=SECTIONS), fixture(user="hi", memory=[record]))
    score = next(s["score"] for s in package.snapshot["sections"] if s["section_id"] == "memory/M")
    assert score["total"] == "0.700000"


def test_min_score_and_top():
    sections = [spec("evidence", source="retrieval", select=Select(min_score=0.2, top=2))]
    records = [evidence(n, f"text {n}", r, source=n) for n, r in (("A", 0.9), ("B", 0.8), ("C", 0.7), ("D", 0.0))]
    package = compiled(project(sections=sections), fixture(user="hi", evidence=records))
    assert {d.section_id: d.reason for d in package.dropped} == {
        "evidence/C": "not_in_top",
        "evidence/D": "low_score",
    }


def test_what_is_required_is_in_whatever_its_score_and_takes_no_place_of_the_best():
    sections = [spec("evidence", source="retrieval", select=Select(min_score=0.2, top=2))]
    records = [
        evidence("low", "text l", 0.0, source="l", required=True),
        evidence("best", "text b", 1.0, source="b", required=True),
        *(evidence(n, f"text {n}", r, source=n) for n, r in (("A", 0.9), ("B", 0.8), ("C", 0.7))),
    ]
    package = compiled(project(sections=sections), fixture(user="hi", evidence=records))
    assert {d.section_id: (d.reason, d.detail) for d in package.dropped} == {
        "evidence/C": ("not_in_top", "rank 3 of top 2")
    }
    verdicts = {d.section_id: d.reason for d in package.decisions if d.stage == "select" and d.verdict == "kept"}
    assert set(verdicts) == {f"evidence/{n}" for n in ("low", "best", "A", "B")}
    assert verdicts["evidence/low"] == "score 0.100"


def test_a_summary_of_a_fragment_points_to_what_it_sums_up():
    package = package_of(
        fragment("a", "a.md", mode=LoadMode.COMPACTED, source_range="docs/long.md#L1-L90"),
        fragment("b", "b.md", mode=LoadMode.COMPACTED),
        fragment("c", "c.md", source_range="docs/long.md#L1-L90"),
    )
    texts = {p.section.item_id: p.section.text for p in package.placed if p.section.kind is Kind.FRAGMENT}
    assert texts == {
        "a": "Text of a.\n(summary of docs/long.md#L1-L90)",
        "b": "Text of b.",
        "c": "Text of c.",
    }


def test_requirements_that_meet_again_and_again_are_walked_once():
    """Thirty layers of two that each require both of the next: a billion ways, sixty fragments."""
    layers = [
        fragment(f"{side}{n:02}", "a.md", requires=(f"x{n + 1:02}", f"y{n + 1:02}") if n < 29 else ())
        for n in range(30)
        for side in "xy"
    ]
    assert len(loaded(package_of(*layers))) == 60
