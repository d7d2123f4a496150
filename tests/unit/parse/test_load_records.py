"""Records in the shapes that people use become neutral ones; what would weaken a filter is an error."""

from __future__ import annotations

from typing import Any

import pytest

from ctxc.base.spans import Origin
from ctxc.model.fixture import Record
from ctxc.model.section import Verification
from ctxc.parse.context import File, Shared
from ctxc.parse.load_records import read_records
from ctxc.source.memory import MemoryTree


def read(kind: str, *items: Any) -> tuple[tuple[Record, ...], list[tuple[str, str, str]]]:
    shared = Shared(MemoryTree({}))
    records = read_records(kind, list(items), File("e.json", shared), "/items")
    return records, [(p.name, p.pointer, p.message) for p in shared.problems.get("e.json", ())]


def clean(kind: str, item: Any) -> Record:
    records, problems = read(kind, item)
    assert problems == []
    return records[0]


def test_an_evidence_candidate() -> None:
    record = clean(
        "evidence",
        {
            "evidence_id": "E1", "text": "t", "source_uri": "doc://a", "title": "A", "score": 0.9, "authority": 0.8,
            "freshness": 0.7, "published_at": "2026-09-30", "tenant_id": "t1", "permissions": ["docs:read"],
            "metadata": {"k": 1},
        },
    )  # fmt: skip
    assert (record.id, record.text, record.source, record.tenant, record.time) == (
        "E1", "t", "doc://a", "t1", "2026-09-30"
    )  # fmt: skip
    assert record.permissions == ("docs:read",)
    assert record.scores == {"relevance": 0.9, "authority": 0.8, "freshness": 0.7}
    assert record.attributes == {"title": "A", "metadata": {"k": 1}, "published_at": "2026-09-30"}
    assert record.origin == Origin("e.json", "/items/0")


def test_an_evidence_packet() -> None:
    source = {"type": "metrics", "query": "q"}
    record = clean(
        "evidence",
        {
            "evidence_id": "E12", "source_id": "metrics/prod", "source_version": "snap-17", "locator": "metrics://p95",
            "visibility": "incident-team", "ACL_ref": "policy://incident-reader/current", "supported_claims": [],
            "candidate_claim": "p95 rose", "collected_at": "2026-04-29T11:05:00+08:00", "content": "p95 rose.",
            "source": source, "trust_level": "unverified", "limitations": ["not checked"],
        },
    )  # fmt: skip
    assert (record.source, record.version, record.locator) == ("metrics/prod", "snap-17", "metrics://p95")
    assert (record.claim, record.verification, record.limitations) == (
        "p95 rose", Verification.UNVERIFIED, ("not checked",)
    )  # fmt: skip
    assert record.permissions == ("policy://incident-reader/current",)
    assert record.attributes["source"] == source


def test_a_memory_record() -> None:
    record = clean(
        "memory",
        {
            "memory_id": "m2", "scope": {"tenant_id": "t1", "subject": "u"}, "kind": "preference", "content": "short",
            "source_ref": "feedback://2", "source_version": "v2", "valid_until": "2026-12-31T23:59:59+08:00",
            "supersedes": "m1", "status": "active", "confidence": 0.9,
        },
    )  # fmt: skip
    assert (record.id, record.tenant, record.source, record.version) == ("m2", "t1", "feedback://2", "v2")
    assert (record.valid_until, record.supersedes, record.status) == ("2026-12-31T23:59:59+08:00", ("m1",), "active")
    assert record.scores == {"confidence": 0.9}
    assert record.attributes["scope"] == {"tenant_id": "t1", "subject": "u"}


def test_a_tool_result_envelope() -> None:
    record = clean(
        "tool_results",
        {
            "tool_call_id": "call_1", "tool_name": "search", "status": "partial", "finished_at": "2026-10-31T10:00:02Z",
            "data": {"items": [], "total": 128}, "error": None, "truncated": True, "artifact_ref": "artifact://x",
            "permissions": ["orders:read"], "untrusted": True,
        },
    )  # fmt: skip
    assert (record.id, record.call_id, record.tool_name, record.status) == ("call_1", "call_1", "search", "partial")
    assert (record.value, record.has_value, record.truncated) == ({"items": [], "total": 128}, True, True)
    assert (record.artifact_ref, record.permissions) == ("artifact://x", ("orders:read",))
    assert record.verification is Verification.UNVERIFIED, "that a call succeeded verifies nothing"


def test_a_failed_call_keeps_its_error_beside_its_data() -> None:
    assert clean("tool_results", {"id": "c", "error": {"code": 5}}).value == {"error": {"code": 5}}
    both = clean("tool_results", {"id": "c", "data": [1], "error": "late"})
    assert both.value == {"data": [1], "error": "late"}
    assert clean("tool_results", {"id": "c", "output": "text"}).text == "text"


def test_a_handoff_packet_is_carried_whole() -> None:
    packet = {"handoff_id": "h1", "objective": "check", "permissions": ["docs:read"], "evidence_refs": ["E1"]}
    record = clean("handoff", packet)
    assert (record.id, record.value, record.permissions) == ("h1", packet, ("docs:read",))


def test_a_reference_shows_its_summary() -> None:
    record = clean("evidence", {"ref": "evidence:ev_1", "type": "photo", "summary": "Rear bumper", "version": 2})
    assert (record.id, record.text, record.version, record.artifact_ref) == (
        "evidence:ev_1", "Rear bumper", "2", "evidence:ev_1"
    )  # fmt: skip


def test_records_without_ids_are_named_after_their_place() -> None:
    records, problems = read("evidence", "plain text", {"text": "b"}, {"id": 7, "text": "c"})
    assert problems == []
    assert [(r.id, r.text) for r in records] == [("evidence-1", "plain text"), ("evidence-2", "b"), ("7", "c")]


@pytest.mark.parametrize("word", ["public", "all", ""])
def test_open_visibility_asks_for_no_permission(word: str) -> None:
    assert clean("evidence", {"text": "a", "visibility": word}).permissions == ()


@pytest.mark.parametrize(
    ("item", "revoked"),
    [
        ({"revoked": True}, True),
        ({"status": "revoked"}, True),
        ({"status": "deleted"}, True),
        ({"status": "active"}, False),
        ({"verification": "revoked"}, True),
        ({"trust_level": "expired"}, False),
    ],
)
def test_revocation(item: dict[str, Any], revoked: bool) -> None:
    assert clean("memory", {"content": "x", **item}).revoked is revoked


@pytest.mark.parametrize(
    ("key", "value", "good"),
    [
        ("valid_until", "2026-12-31", True),
        ("expires_at", "2026-12-31T10:00:00Z", True),
        ("expires", "2026-12-31T10:00:00+02:00", True),
        ("valid_until", "2026-12-31T10:00:00", False),
        ("valid_until", "next week", False),
        ("expires", "2026-02-30", False),
        ("valid_from", "soon", False),
    ],
)
def test_ends_that_nobody_could_compare_are_errors(key: str, value: str, good: bool) -> None:
    records, problems = read("memory", {"content": "x", key: value})
    assert [(name, at) for name, at, _ in problems] == ([] if good else [("bad-record", f"/items/0/{key}")])
    if good:
        assert records[0].valid_until == value


@pytest.mark.parametrize(
    ("item", "name", "at"),
    [
        ({"id": "a"}, "bad-record", "/items/0"),
        ({"id": "a", "text": ""}, "bad-record", "/items/0"),
        ({"text": "x", "verification": "verified"}, "bad-value", "/items/0/verification"),
        ({"text": "x", "trust_level": "high"}, "bad-value", "/items/0/trust_level"),
        ({"text": "x", "scores": {"relevance": "high"}}, "bad-record", "/items/0/scores"),
        (12, "bad-record", "/items/0"),
    ],
)
def test_what_cannot_be_read_is_reported(item: Any, name: str, at: str) -> None:
    _, problems = read("evidence", item)
    assert [(n, place) for n, place, _ in problems] == [(name, at)]


def test_an_id_that_stands_twice_is_an_error_and_the_first_stays() -> None:
    records, problems = read("evidence", {"id": "E1", "text": "a"}, {"id": "E1", "text": "b"})
    assert [r.text for r in records] == ["a"]
    assert [(name, at) for name, at, _ in problems] == [("duplicate-id", "/items/1")]


def test_scores_may_stand_together_or_alone() -> None:
    record = clean("evidence", {"text": "x", "score": 0.2, "scores": {"relevance": 0.9, "own": 1}, "freshness": 0.5})
    assert record.scores == {"relevance": 0.9, "own": 1.0, "freshness": 0.5}


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("tennant", "tenant"), ("tenantId", "tenant_id"), ("Tenant", "tenant"), ("permision", "permissions"),
        ("required-permissions", "permissions"), ("visiblity", "visibility"), ("acl", "acl_ref"),
        ("validUntil", "valid_until"), ("expire_at", "expires_at"), ("expiry", "valid_until"), ("revoke", "revoked"),
        ("is_deleted", "revoked"), ("superseeds", "supersedes"),
    ],
)  # fmt: skip
def test_a_misspelt_key_that_decides_who_sees_a_record_is_an_error(key: str, meant: str) -> None:
    _, problems = read("evidence", {"id": "E1", "text": "t", key: "other"})
    assert [(name, at) for name, at, _ in problems] == [("bad-record", f"/items/0/{key}")]
    assert problems[0][2].endswith(f'did you mean "{meant}"?')


def test_numbers_of_a_record_that_is_not_chosen_by_scores_have_no_scale() -> None:
    item = {"id": "R1", "data": {"x": 1}, "importance": 5, "importence": 7}
    for kind in ("tool_results", "handoff"):
        assert clean(kind, item).scores == {"importance": 5.0}
    assert len(read("memory", {"id": "R1", "text": "t", "importance": 5, "importence": 7})[1]) == 2


@pytest.mark.parametrize("value", [12, ["a.txt"], {"by": "mara"}])
def test_what_was_deleted_in_a_record_says_nothing_of_the_record(value: Any) -> None:
    assert clean("evidence", {"id": "E1", "text": "t", "deleted": value}).attributes == {"deleted": value}


def test_a_misspelt_score_is_an_error_and_a_remark_is_not() -> None:
    assert read("memory", {"id": "M1", "text": "t", "relevence": 0.9})[1][0][1] == "/items/0/relevence"
    assert clean("memory", {"id": "M1", "text": "t", "important": True}).attributes["important"] is True


@pytest.mark.parametrize(
    "key", ["title", "tags", "state", "stats", "author", "url_text", "trust", "import_id", "text2"]
)
def test_other_keys_are_attributes(key: str) -> None:
    assert clean("evidence", {"id": "E1", "text": "t", key: "x"}).attributes == {key: "x"}


@pytest.mark.parametrize(
    ("key", "value", "wanted"),
    [
        ("tenant", ["a", "b"], "a text"), ("tenant_id", {"id": "a"}, "a text"), ("revoked", "yes", "true or false"),
        ("revoked", 1, "true or false"), ("permissions", {"any": ["a"]}, "a list of texts"),
        ("permissions", [["a"]], "a list of texts"), ("valid_until", ["2026-01-01"], "a text"),
        ("supersedes", {"id": "E0"}, "a list of texts"), ("visibility", ["team"], "a text"), ("relevance", "0.9", "a number"),
        ("relevance", True, "a number"), ("score", 10**400, "a number"), ("score", "high", "a number"),
        ("authority", -(10**400), "a number"),
    ],
)  # fmt: skip
def test_a_deciding_value_of_the_wrong_type_is_an_error(key: str, value: Any, wanted: str) -> None:
    _, problems = read("evidence", {"id": "E1", "text": "t", key: value})
    assert [(name, at) for name, at, _ in problems] == [("bad-record", f"/items/0/{key}")]
    assert problems[0][2].endswith(f"which is not {wanted}")


@pytest.mark.parametrize(
    ("item", "at"),
    [
        ({"relevance": 7}, "relevance"), ({"score": -0.1}, "score"), ({"scores": {"authority": 1.5}}, "scores/authority"),
    ],
)  # fmt: skip
def test_a_score_off_the_scale_is_told_and_kept(item: dict[str, Any], at: str) -> None:
    records, problems = read("evidence", {"id": "E1", "text": "t", **item})
    assert [(name, place) for name, place, _ in problems] == [("bad-record", f"/items/0/{at}")]
    assert "from 0 to 1" in problems[0][2]
    assert len(records) == 1


@pytest.mark.parametrize("scores", [5, True, "relevance", ["relevance"]])
def test_a_score_off_the_scale_beside_scores_that_are_no_mapping_stands_at_its_own_key(scores: Any) -> None:
    _, problems = read("evidence", {"id": "E1", "text": "t", "score": 7, "scores": scores})
    assert [place for _, place, _ in problems] == ["/items/0/scores", "/items/0/score"]


def test_a_score_at_either_end_of_the_scale_is_fine() -> None:
    assert clean("evidence", {"id": "E1", "text": "t", "relevance": 0, "authority": 1}).scores["authority"] == 1
