"""Hard filters come before any score."""

from __future__ import annotations

import pytest
from world import Record, compiled, evidence, fixture, project, spec

from ctxc.model.fixture import Principal
from ctxc.model.package import Outcome
from ctxc.model.section import Verification

SECTIONS = [spec("evidence", source="retrieval"), spec("memory")]
READER = Principal(tenant="t1", permissions=frozenset({"read"}))


def reasons(asked):
    package = compiled(project(sections=SECTIONS), asked)
    assert package.outcome is Outcome.COMPILED, package.findings
    return {d.section_id: (d.stage, d.reason) for d in package.dropped}, package


@pytest.mark.parametrize(
    ("record", "principal", "reason"),
    [
        (evidence("E", "x", tenant="t1"), None, "no_principal"),
        (evidence("E", "x", permissions=("read",)), None, "no_principal"),
        (evidence("E", "x", tenant="t2"), READER, "tenant"),
        (evidence("E", "x", permissions=("write",)), READER, "permission"),
        (evidence("E", "x", revoked=True), READER, "revoked"),
        (evidence("E", "x", verification=Verification.EXPIRED), READER, "expired"),
        (evidence("E", "x", valid_until="2026-11-30T12:00:00Z"), READER, "expired"),
        (evidence("E", "x", valid_from="2026-12-01"), READER, "not_yet_valid"),
    ],
)
def test_a_record_that_may_not_be_shown_is_dropped_with_its_reason(record, principal, reason):
    gone, package = reasons(fixture(user="hi", evidence=[record], principal=principal))
    assert gone == {"evidence/E": ("authorise", reason)}
    state = next(s for s in package.states if s.candidate_id == "evidence/E")
    access = reason in ("no_principal", "tenant", "permission")
    assert state.authorised == (f"no:{reason}" if access else "yes")
    assert state.loaded == f"no:{reason}"


def test_a_time_of_validity_holds_from_its_first_instant_to_before_its_last():
    """The fixture's now is 12:00:00 in UTC."""
    held = [
        evidence("from", "a", valid_from="2026-11-30T12:00:00Z"),
        evidence("until", "b", valid_until="2026-11-30T12:00:01Z"),
        evidence("there", "c", valid_until="2026-11-30T14:00:01+02:00"),
    ]
    gone, _ = reasons(fixture(user="hi", evidence=held))
    assert gone == {}
    passed = [
        evidence("from", "a", valid_from="2026-11-30T12:00:01Z"),
        evidence("until", "b", valid_until="2026-11-30T12:00:00Z"),
        evidence("there", "c", valid_until="2026-11-30T14:00:00+02:00"),
    ]
    gone, _ = reasons(fixture(user="hi", evidence=passed))
    assert {name.partition("/")[2]: reason for name, (_, reason) in gone.items()} == {
        "from": "not_yet_valid",
        "until": "expired",
        "there": "expired",
    }


def test_every_permission_that_lacks_is_named():
    record = evidence("E", "x", permissions=("write", "read", "audit"))
    _, package = reasons(fixture(user="hi", evidence=[record], principal=READER))
    assert package.dropped[0].detail == "the principal lacks audit, write"


def test_the_best_score_does_not_buy_access():
    foreign = evidence("A", "secret of another tenant", 1.0, tenant="t2", scores={"authority": 1.0, "freshness": 1.0})
    own = evidence("B", "ours", 0.1, tenant="t1")
    gone, package = reasons(fixture(user="hi", evidence=[foreign, own], principal=READER))
    assert gone == {"evidence/A": ("authorise", "tenant")}
    assert "another tenant" not in str(package.request)


def test_a_superseded_record_stays_out_also_when_its_successor_is_hidden():
    old = Record(id="old", text="lives in Rome")
    new = Record(id="new", text="lives in Oslo", supersedes=("old",), permissions=("write",))
    gone, _ = reasons(fixture(user="hi", memory=[old, new], principal=READER))
    assert gone == {"memory/old": ("authorise", "superseded"), "memory/new": ("authorise", "permission")}


def test_a_revoked_successor_gives_the_old_record_its_standing_back():
    old = Record(id="old", text="lives in Rome")
    new = Record(id="new", text="lives in Oslo", supersedes=("old",), revoked=True)
    gone, _ = reasons(fixture(user="hi", memory=[old, new], principal=READER))
    assert gone == {"memory/new": ("authorise", "revoked")}


def test_a_successor_that_is_not_valid_yet_leaves_the_old_record_its_standing():
    old = Record(id="old", text="lives in Rome")
    new = Record(id="new", text="lives in Oslo", supersedes=("old",), valid_from="2027-03-01")
    gone, package = reasons(fixture(user="hi", memory=[old, new], principal=READER))
    assert gone == {"memory/new": ("authorise", "not_yet_valid")}
    assert "lives in Rome" in str(package.request)
    gone, _ = reasons(fixture(user="hi", memory=[old, new], principal=READER, now="2027-03-02T00:00:00Z"))
    assert gone == {"memory/old": ("authorise", "superseded")}


def test_another_tenant_supersedes_nothing():
    old = Record(id="old", text="open from nine to five")
    new = Record(id="new", text="open all night", supersedes=("old",), tenant="t2")
    gone, package = reasons(fixture(user="hi", memory=[old, new], principal=READER))
    assert gone == {"memory/new": ("authorise", "tenant")}
    assert "nine to five" in str(package.request)
    gone, _ = reasons(fixture(user="hi", memory=[old, new]))
    assert gone == {"memory/new": ("authorise", "no_principal")}


def test_an_id_is_superseded_among_its_own_kind():
    fact = evidence("A1", "a fact")
    old = Record(id="A1", text="a habit")
    new = Record(id="A2", text="a new habit", supersedes=("A1",))
    gone, _ = reasons(fixture(user="hi", evidence=[fact], memory=[old, new], principal=READER))
    assert gone == {"memory/A1": ("authorise", "superseded")}


def test_a_time_of_validity_without_now_is_an_error():
    asked = fixture(user="hi", evidence=[evidence("E", "x", valid_until="2027-01-01")], now="")
    package = compiled(project(sections=SECTIONS), asked)
    assert package.outcome is Outcome.INVALID
    assert [f.name for f in package.findings] == ["missing-now"]
