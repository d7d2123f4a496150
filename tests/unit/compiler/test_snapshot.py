"""Snapshots: their id, the hash of the prefix, and that what a compiler remembers changes neither."""

from __future__ import annotations

from itertools import permutations, takewhile
from pathlib import Path

import pytest
from world import compiled, compiler, evidence, fixture, fragment, project, spec

import ctxc
from ctxc.base.canonical import canonical, digest_json, digest_text
from ctxc.compiler.entries import cache_json, decision_json, section_json, state_json
from ctxc.compiler.snapshot import snapshot_id, stable_prefix
from ctxc.model.contract import Contract
from ctxc.model.fixture import Principal
from ctxc.model.fragment import LoadMode
from ctxc.model.package import Decision, State
from ctxc.model.request import SERIALIZATION
from ctxc.model.section import DROP, Kind

FILES = {
    "policy.md": 'Say no. {"position":0,"x":1}',
    "core.md": "The core.",
    "named.md": "For {{product}} only.",
    "fixed.md": "Written by {{team}}.",
}


def shop():
    return project(
        sections=[
            spec("policy", source="policy.md", cacheable=True),
            spec("words", Kind.FRAGMENT, source="fragments", cacheable=True),
            spec("greeting", Kind.POLICY, source="literal", text="Hello, {{product}}.", cacheable=True),
            spec("evidence", source="retrieval"),
        ],
        files=FILES,
        fragments=[
            fragment("core", "core.md"),
            fragment("named", "named.md", mode=LoadMode.EXPLICIT),
            fragment("fixed", "fixed.md", mode=LoadMode.EXPLICIT, max_tokens=50),
        ],
        contract=Contract(id="c", version="1", schema={"type": "object", "properties": {"position": {"const": 0}}}),
        variables={"team": "us"},
    )


def cases():
    return [
        fixture(name="a", user="hi", route={"product": ["cars"]}, fragments=["named", "fixed"]),
        fixture(name="b", user="hi", route={"product": ["boats"]}, fragments=["fixed", "named"]),
        fixture(name="c", user="you", route={"product": ["cars"]}, evidence=[evidence("E", "A fact.")]),
        fixture(name="d", user="hi", route={"product": ["cars"]}, principal=Principal(tenant="t", subject="s")),
    ]


def test_what_other_fixtures_left_behind_changes_nothing():
    alone = {case.id: compiled(shop(), case) for case in cases()}
    for order in permutations(cases()):
        kept = compiler(shop())
        for case in order:
            package = kept.compile(case)
            assert package.snapshot == alone[case.id].snapshot
            assert canonical(package.snapshot) == canonical(alone[case.id].snapshot)
            assert package.request == alone[case.id].request
            assert package.dependencies == alone[case.id].dependencies


def test_a_text_with_a_variable_of_the_route_is_made_for_each_fixture():
    kept = compiler(shop())
    first, second = (kept.compile(case) for case in cases()[:2])
    assert "For cars only." in str(first.request)
    assert "For boats only." in str(second.request)
    assert "Hello, boats." in str(second.request)
    assert "Written by us." in str(second.request)


def test_the_id_is_the_hash_of_everything_but_itself_and_the_locations():
    kept = compiler(shop())
    for case in (*cases(), *cases()):
        taken = kept.compile(case).snapshot
        bare = {k: v for k, v in taken.items() if k != "snapshot_id"}
        bare["sections"] = [{k: v for k, v in s.items() if k != "location"} for s in taken["sections"]]
        assert taken["snapshot_id"] == snapshot_id(taken) == "ctx_" + digest_text(canonical(bare))[7:23]


def test_the_hash_of_the_prefix_covers_provider_model_tenant_and_the_exact_bytes():
    kept = compiler(shop())
    for case in cases():
        package = kept.compile(case)
        tenant = case.principal.tenant if case.principal else ""
        wires = [s.wire for s in stable_prefix(package.segments)]
        assert len(wires) > 2
        expected = digest_json([package.snapshot["provider"]["id"], "m", SERIALIZATION, tenant, wires])
        assert package.snapshot["cache"]["cache_prefix_hash"] == expected
        assert [s["hash"] for s in package.snapshot["cache"]["segments"]] == [
            digest_text(s.wire) for s in package.segments
        ]


def test_hashes_of_sections():
    package = compiled(shop(), cases()[0])
    for placed, entry in zip(package.placed, package.snapshot["sections"], strict=True):
        if placed.section.kind is not Kind.CONTRACT:
            assert entry["rendered_hash"] == digest_text(placed.rendered)
            assert entry["content_hash"] == digest_text(placed.content)
        assert entry["position"] == placed.position


def test_entries_are_written_as_canonical_json():
    entry = {
        "section_id": 'a/"1"\n',
        "kind": "evidence",
        "authority": "T4",
        "trust": "untrusted",
        "verification": "unverified",
        "tier": "P3",
        "zone": "data",
        "source_uri": "kb:\\索\u2028",
        "source_version": "v\t1",
        "content_hash": None,
        "rendered_hash": "sha256:00",
        "tokens": 7,
        "position": 3,
        "cacheable": False,
        "required": True,
        "truncated": False,
        "score": {"total": "0.500000", "terms": [{"name": "relevance", "value": "0.5", "weight": "0.40"}]},
        "item_id": "\x7f",
        "bucket": "b",
        "priority": -2,
        "overflow": "cut:evidence",
        "owner": "o",
        "time": "2026",
        "locator": "p. 3",
    }
    assert section_json(entry) == canonical(entry)
    assert section_json({**entry, "score": None, "content_hash": "x"}) == canonical(
        {**entry, "score": None, "content_hash": "x"}
    )
    for package in map(compiler(shop()).compile, cases()):
        for section in package.snapshot["sections"]:
            bare = {k: v for k, v in section.items() if k != "location"}
            assert bare.keys() == entry.keys()
            assert section_json(bare) == canonical(bare)


def test_lines_of_the_trail_states_and_segments_are_written_as_canonical_json():
    hostile = 'a/"1"\n\\\u2028索\x7f\t'
    for before, after in ((None, None), (7, None), (7, 0)):
        values = {"stage": "fit", "verdict": "kept", "before": before, "after": after}
        decision = Decision(section_id=hostile, reason=hostile, **values)
        assert decision_json(decision) == canonical({"section_id": hostile, "reason": hostile, **values})
    facts = {"discoverable": "yes", "selected": f"no:{hostile}", "loaded": f"no:{hostile}", "authorised": "yes"}
    assert state_json(State(candidate_id=hostile, **facts)) == canonical({"candidate_id": hostile, **facts})
    empty = {"segments": [], "marks": [], "prefix_tokens": 0, "cache_prefix_hash": None}
    segments = [
        {"id": hostile, "zone": "system", "stable": True, "tokens": 4, "hash": "sha256:00"},
        {"id": "history", "zone": "messages", "stable": False, "tokens": 0, "hash": None},
    ]
    marks = [{"after": hostile, "pointer": "/messages/0", "ttl": "default"}]
    full = {"segments": segments, "marks": marks, "prefix_tokens": 4, "cache_prefix_hash": "sha256:11"}
    assert [cache_json(c) for c in (empty, full)] == [canonical(c) for c in (empty, full)]


@pytest.mark.parametrize("fixture_id", ["q3_cross_check", "usage_dispute_on_claude", "rear_damage_report.5"])
def test_the_segments_of_a_section_add_up_to_it(fixture_id):
    """A contract stands in a field and in the system text, a tool set in one segment a tool: nothing counts twice."""
    snapshot = ctxc.compile(ctxc.load(Path(__file__).parents[3]), fixture_id).snapshot
    segments = snapshot["cache"]["segments"]
    tokens: dict[str, int] = {}
    for segment in segments:
        tokens[segment["id"]] = tokens.get(segment["id"], 0) + segment["tokens"]
    assert len(segments) > len(tokens)
    assert {s["section_id"]: s["tokens"] for s in snapshot["sections"]} == {k: v for k, v in tokens.items() if v}
    prefix = [s["tokens"] for s in takewhile(lambda s: s["stable"], segments)]
    assert snapshot["cache"]["prefix_tokens"] == sum(prefix) > 0


def test_what_left_before_it_was_counted_has_no_number_of_tokens():
    pieces = [evidence("other", "Closed on Mondays.", 0.9, tenant="t2"), evidence("long", "word " * 200, 0.9)]
    package = compiled(
        project(sections=[spec("evidence", source="retrieval", max_tokens=50, overflow=DROP)]),
        fixture(user="hi", evidence=pieces),
    )
    told = {d["section_id"]: (d["stage"], d["tokens"]) for d in package.snapshot["dropped_sections"]}
    assert told["evidence/other"] == ("authorise", None)
    stage, tokens = told["evidence/long"]
    assert (stage, tokens is not None and tokens > 200) == ("fit", True)
    decisions = [d for d in package.snapshot["decisions"] if d["verdict"] == "dropped"]
    assert {d["section_id"]: (d["before"], d["after"]) for d in decisions} == {
        "evidence/other": (None, None),
        "evidence/long": (tokens, 0),
    }
