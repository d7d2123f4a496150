"""Explanations: the tokens add up, and a section that is not there says where it stopped and what would bring it in."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from ctxc.app.api import compile, load
from ctxc.app.explain import REMEDIES, explain, explain_fixture
from ctxc.app.selection import Selection
from ctxc.app.snapshots import check
from ctxc.app.workspace import open_workspace
from ctxc.base.errors import InvalidSource, NothingMatched
from ctxc.model.explanation import Explanation
from ctxc.report import View
from ctxc.report._explain import explain_json, explain_text

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def library() -> object:
    return load(ROOT)


def explained(library: object, fixture: str, section: str = "") -> Explanation:
    return explain(library, library.fixtures[fixture], compile(library, fixture), section)  # type: ignore[attr-defined,arg-type]


def test_the_tokens_of_the_tree_add_up(library: object) -> None:
    found = explained(library, "q3_cross_check")
    assert sum(s.tokens for s in found.spent) + (found.overhead or 0) == found.used
    assert [s.tokens for s in found.spent] == sorted((s.tokens for s in found.spent), reverse=True)
    text = explain_text(found, View())
    first, second = text.split("\n")[2:4]
    assert "100%" in first
    assert first.endswith(" request")
    assert second.startswith("├─ ")
    assert {line.split(" ")[0] for line in text.splitlines() if "evidence/" in line and "superseded" in line} == {
        "evidence/E3"
    }


@pytest.mark.parametrize(
    ("section", "stopped", "reason", "remedy"),
    [
        ("evidence/E11", "selected", "low_score", "min_score"),
        ("E11", "selected", "low_score", "min_score"),
        ("evidence/E9", "selected", "tenant", "another tenant"),
        ("evidence/E3", "selected", "superseded", "newer record"),
        ("evidence/E4-P", "selected", "duplicate", "the other id"),
        ("family.payroll", "selected", "route", "applies_when"),
    ],
)
def test_a_section_that_is_not_there(library: object, section: str, stopped: str, reason: str, remedy: str) -> None:
    (trail,) = explained(library, "q3_cross_check", section).trails
    assert trail.placed is None
    assert trail.stopped == stopped
    assert getattr(trail.state, stopped) == f"no:{reason}"
    assert remedy in trail.remedy
    assert trail.decisions[-1].verdict == "dropped"
    text = explain_text(explained(library, "q3_cross_check", section), View())
    assert f"not in the request: stopped at {stopped}" in text
    assert "what would bring it in" in text


def test_authority_that_is_lacking_is_told_from_selection(library: object) -> None:
    (trail,) = explained(library, "q3_cross_check", "evidence/E9").trails
    assert trail.state.authorised == "no:tenant"


def test_a_slot_shows_all_that_came_from_it(library: object) -> None:
    trails = explained(library, "q3_cross_check", "evidence").trails
    assert {t.candidate_id for t in trails} >= {"evidence/E1", "evidence/E3", "evidence/E11"}
    placed = next(t for t in trails if t.candidate_id == "evidence/E1")
    assert placed.placed is not None
    assert placed.stopped == ""
    assert placed.facts["score"]["total"] == "0.959"
    told = {t.facts["required"]: t.facts["overflow"] for t in trails}
    assert told == {True: "refuse", False: "cut:evidence"}, "what is required is never cut or dropped"


def test_an_unknown_section_names_the_nearest(library: object) -> None:
    with pytest.raises(NothingMatched) as caught:
        explained(library, "q3_cross_check", "evidnce")
    assert "did you mean evidence?" in caught.value.help


def test_a_route_that_needs_no_model_says_which_condition_and_what_is_answered(library: object) -> None:
    found = explained(library, "injury_interrupt")
    text = explain_text(found, View())
    assert "the route answers without a model: interrupt is injury" in text
    assert "Please call 112 now" in text
    value = json.loads(explain_json(found))
    jsonschema.validate(value, json.loads((ROOT / "ctxc/report/schemas/explain.schema.json").read_text()))
    assert value["ended"] == ["the route answers without a model: interrupt is injury"]
    assert value["reply"].startswith("Please call 112")
    for section in ("policy", "fragments", "family.motor"):
        (trail,) = explained(library, "injury_interrupt", section).trails
        assert (trail.stopped, trail.state.selected) == ("selected", "no:model_not_required")
        assert "`deterministic`" in trail.remedy
    with pytest.raises(NothingMatched):
        explained(library, "injury_interrupt", "nothing")


def test_a_refused_budget_says_by_how_much_and_what_to_do(library: object) -> None:
    found = explained(library, "motor_update_pileup_statements")
    text = explain_text(found, View())
    assert "CONTEXT_BUDGET_EXCEEDED" in text
    assert "What does not fit" in text
    assert re_over(text) == found.over[0]["over"]
    assert found.remedies
    assert f"what a caller can do: {', '.join(found.remedies)}" in text


def re_over(text: str) -> int:
    import re

    match = re.search(r"([\d,]+) over", text)
    assert match
    return int(match[1].replace(",", ""))


def test_every_drop_of_the_library_has_a_remedy(library: object) -> None:
    reasons = {
        d.reason
        for fixture in library.fixtures  # type: ignore[attr-defined]
        for d in compile(library, fixture).dropped  # type: ignore[arg-type]
    }
    assert reasons - REMEDIES.keys() == set()
    assert len(reasons) >= 8


@pytest.mark.parametrize("section", ["", "evidence", "family.payroll"])
def test_json_is_valid(library: object, section: str) -> None:
    value = json.loads(explain_json(explained(library, "q3_cross_check", section)))
    schema = json.loads((ROOT / "ctxc/report/schemas/explain.schema.json").read_text())
    jsonschema.validate(value, schema)
    assert sum(s["share_bp"] for s in value["sections"]) <= 10_000


@pytest.mark.parametrize(
    "fixture", ["interviews_word_for_word", "six_whole_timelines", "motor_update_pileup_statements"]
)
def test_the_tokens_of_a_refused_request_are_those_that_are_too_many(library: object, fixture: str) -> None:
    """The tree and the line below it say the same number, with the framing that belongs to no section."""
    found = explained(library, fixture)
    (whole,) = (o for o in found.over if not o["section_id"])
    assert found.required == whole["tokens"] == whole["over"] + whole["limit"]
    assert sum(s.tokens for s in found.spent) + found.framing == found.required
    text = explain_text(found, View())
    title = next(line for line in text.splitlines() if line.endswith(" what has to be in the request"))
    assert title.split()[:2] == [f"{found.required:,}", "100%"]
    assert f"  required sections: {'' if found.exact else '~'}{found.required:,} tokens, " in text
    assert f"└─ {found.framing:>{len(f'{found.required:,}')}} " in text and " framing of the request" in text
    value = json.loads(explain_json(found))
    assert (value["required"], value["used"]) == (found.required, None)
    assert sum(s["share_bp"] for s in value["sections"]) <= 10_000


def test_explain_and_compile_say_the_same_of_a_refused_request_and_name_the_band(library: object) -> None:
    from ctxc.app.rows import row_of
    from ctxc.app.workspace import compiler_for
    from ctxc.compiler.stage import Options
    from ctxc.report._run import spent

    fixture = library.fixtures["interviews_word_for_word"]  # type: ignore[attr-defined]
    options = Options(provider="anthropic", model="claude-sonnet-4-5")
    package = compiler_for(library, options).compile(fixture)  # type: ignore[arg-type]
    row, found = row_of(package, fixture), explain(library, fixture, package)  # type: ignore[arg-type]
    assert (row.exact, found.exact) == (False, False)
    assert row.limit is not None and row.available is not None and row.limit < row.available == 6000
    assert (row.over or 0) + row.limit == found.required
    line = next(line for line in explain_text(found, View()).splitlines() if line.startswith("  required sections"))
    assert line == (
        f"  required sections: ~{found.required:,} tokens, {spent(row)} {row.held_against:,}: "
        "6,000 less the error band of the count"
    )


def test_a_fixture_that_cannot_be_loaded_is_told_with_its_finding(starter: Path) -> None:
    path = starter / "tests/fixtures/refund_question.yaml"
    path.write_text(path.read_text(encoding="utf-8") + "labels: [\n", encoding="utf-8")
    workspace = open_workspace(starter, flags={}, environment={}, no_cache=True)
    for ask in (
        lambda: explain_fixture(workspace, "refund_question"),
        lambda: explain_fixture(workspace, "refund_question", "policy"),
        lambda: check(workspace, starter / "snapshots", Selection(fixtures=("refund_question",))),
    ):
        with pytest.raises(InvalidSource, match="'refund_question' could not be loaded: CTX001 syntax: ") as caught:
            ask()
        assert caught.value.exit_status == 1
        assert caught.value.location is not None
        assert caught.value.location.path == "tests/fixtures/refund_question.yaml"
        assert caught.value.help
    with pytest.raises(NothingMatched, match="there is no fixture 'refund'"):
        explain_fixture(workspace, "refund")
