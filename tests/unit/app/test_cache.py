"""``ctxc cache``: conversations, traffic with weights, logs of requests; in every format."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from ctxc.app.cache import assess_fixtures, assess_log, explain_cache
from ctxc.app.selection import Selection
from ctxc.app.workspace import Workspace, open_workspace
from ctxc.base.errors import NothingMatched, UnreadableSource, UsageError
from ctxc.report import View
from ctxc.report._cache import draw_cache
from ctxc.report._cache_text import explain_cache_text

ROOT = Path(__file__).parents[3]
SCHEMA = json.loads((ROOT / "ctxc/report/schemas/cache.schema.json").read_text(encoding="utf-8"))
FILLER = "Rule {n}: answer only from the evidence that the request carries, and name the record of every claim. "
POLICY = "".join(FILLER.format(n=n) for n in range(60))

TEMPLATE = """
template_id: desk
version: 1
provider: openai
model: gpt-5.6-sol
checkpoints: [policy]
sections:
  - {id: policy, source: policies/p.md, cacheable: true}
  - {id: history, source: runtime}
  - {id: user, source: runtime}
"""
TALK = """
conversation_id: talk
template: desk
turns:
  - {now: 2026-10-31T08:00:00Z, inputs: {user: "First question."}, reply: "First answer, in seven words or so."}
  - {now: 2026-10-31T08:01:00Z, inputs: {user: "Second question."}, reply: "Second answer."}
  - {now: 2026-10-31T09:31:00Z, inputs: {user: "Third question."}, reply: "Third answer."}
"""


@pytest.fixture
def desk(tmp_path: Path) -> Workspace:
    files = {
        "templates/desk.yaml": TEMPLATE,
        "policies/p.md": POLICY,
        "tests/fixtures/talk.yaml": TALK,
        "tests/fixtures/a.yaml": 'fixture_id: a\ntemplate: desk\nweight: 5\ninputs: {user: "Where?"}\n',
        "tests/fixtures/b.yaml": 'fixture_id: b\ntemplate: desk\ninputs: {user: "When?"}\n',
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return open_workspace(tmp_path, flags={}, environment={}, no_cache=True)


def test_a_conversation_turn_by_turn(desk: Workspace) -> None:
    (found,) = assess_fixtures(desk, Selection(fixtures=("talk",)))
    assert (found.id, found.kind, found.model, found.rules.mode) == (
        "talk", "conversation", "gpt-5.6-sol", "implicit_latest_message",
    )  # fmt: skip
    first, second, third = found.calls
    assert (first.id, first.reason, first.read) == ("talk.1", "first_request", 0)
    # Nothing stands between the turns, so each extends the one before.
    assert (second.reason, second.read) == ("cache_hit", first.written)
    assert [t.difference for t in found.turns] == [None, None]
    # An hour and a half later the entries of thirty minutes are gone.
    assert (third.reason, third.read, third.lost > 0) == ("expired", 0, True)
    assert first.at is not None and third.at is not None
    assert third.at - first.at == 5460
    assert [c.output > 0 for c in found.calls] == [True, True, False]
    assert found.cost is not None
    assert found.cost.total < found.cost.without_cache * 2


def test_a_turn_stands_for_the_turns_before_it(desk: Workspace) -> None:
    (found,) = assess_fixtures(desk, Selection(fixtures=("talk.2",)))
    assert [c.id for c in found.calls] == ["talk.1", "talk.2"]


def test_other_fixtures_are_traffic_with_weights(desk: Workspace) -> None:
    (found,) = assess_fixtures(desk, Selection(fixtures=("a", "b")))
    assert (found.id, found.kind) == ("desk", "traffic")
    assert [(c.id, c.weight) for c in found.calls] == [("a", 1), ("b", 1), ("a (again)", 4)]
    a, b, again = found.calls
    # The checkpoint keeps the policy for the other question.
    assert 0 < b.read < a.written
    # Further requests of a kind share tools and system text; their turns say something else.
    assert again.read == b.read
    assert again.written == a.written - b.read
    assert found.simulation.totals.calls == 6
    assert found.simulation.totals.read == b.read + 4 * again.read
    assert {f.kind for f in assess_fixtures(desk, Selection())} == {"conversation", "traffic"}


def test_nothing_that_is_selected_is_an_error(desk: Workspace) -> None:
    with pytest.raises(NothingMatched, match="no fixture matches 'tlak'"):
        assess_fixtures(desk, Selection(fixtures=("tlak",)))


def test_every_format_says_the_same(desk: Workspace) -> None:
    found = assess_fixtures(desk, Selection())
    value = json.loads(draw_cache("json", found, View()))
    jsonschema.validate(value, SCHEMA)
    assert value["schema"] == "ctxc.cache/1"
    assert [c["id"] for c in value["calls"]] == [c.id for a in found for c in a.calls]
    assert value["totals"]["input"] == sum(a.simulation.totals.input for a in found)
    assert (
        value["totals"]["read"] + value["totals"]["written"] + value["totals"]["uncached"] == value["totals"]["input"]
    )
    assert all(c["input"] == c["read"] + c["written"] + c["uncached"] for c in value["calls"])
    text, markdown, html = (draw_cache(f, found, View()) for f in ("text", "markdown", "html"))
    for call in value["calls"]:
        for drawn in (text, markdown, html):
            assert call["id"] in drawn
            assert f"{call['input']:,}" in drawn
    assert "breakpoints" in text
    assert "█" in text and "▓" in text and "░" in text
    assert draw_cache("json", assess_fixtures(desk, Selection()), View()) == draw_cache("json", found, View())


class Outside(HTMLParser):
    """Collects what a page would load or run."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [tag] if tag in ("script", "link", "img", "iframe", "object") else []
        self.found += [name for name, _ in attrs if name in ("src", "href") or name.startswith("on")]


def test_hostile_names_stay_text(desk: Workspace) -> None:
    hostile = '<img src=x onerror=alert(1)>|`a`\u202e[/red]"'
    request = {"model": "gpt-4o", "messages": [{"role": "user", "content": "x"}]}
    log = desk.root / "log.jsonl"
    log.write_text(json.dumps({"request": request, "id": hostile}) + "\n", encoding="utf-8")
    found = assess_log(desk, str(log))
    page = Outside()
    page.feed(draw_cache("html", found, View()))
    assert page.found == []
    markdown = draw_cache("markdown", found, View())
    assert "<img" not in markdown.replace(f"`` {hostile[:0]}", "").split("\n")[0]
    row = next(line for line in markdown.splitlines() if "alert" in line)
    assert row.replace("\\|", "").count("|") == 8
    for drawn in (draw_cache(f, found, View(width=80)) for f in ("text", "markdown", "html")):
        assert "\u202e" not in drawn


def log_of(desk: Workspace, *lines: Any) -> str:
    path = desk.root / "log.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return str(path)


def claude(user: str) -> dict[str, Any]:
    return {
        "model": "claude-opus-5",
        "system": [{"type": "text", "text": POLICY, "cache_control": {"type": "ephemeral"}}],
        "messages": [{"role": "user", "content": user}],
    }


def test_a_log_of_raw_requests(desk: Workspace) -> None:
    (found,) = assess_log(desk, log_of(desk, claude("a"), claude("b")))
    assert (found.provider, found.kind) == ("anthropic", "log")
    first, second = found.calls
    assert [c.id for c in found.calls] == ["line 1", "line 2"]
    assert (first.written > 0, second.read) == (True, first.written)


def test_recorded_usage_stands_beside_and_tells_a_warm_start(desk: Workspace) -> None:
    usage = {"input_tokens": 4, "cache_read_input_tokens": 1500, "cache_creation_input_tokens": 0, "output_tokens": 2}
    lines = [{"request": claude("a"), "usage": usage, "at": 0}, {"request": claude("b"), "at": "1970-01-01T00:10:00Z"}]
    (found,) = assess_log(desk, log_of(desk, *lines))
    first, second = found.calls
    assert first.recorded is not None and first.recorded.read == 1500
    assert (first.reason, first.read > 0, first.written) == ("cache_hit", True, 0)
    assert (second.at, second.reason) == (600, "expired")
    assert "the log begins warm" in found.notes[0]
    assert "1,500 + 0" in draw_cache("text", [found], View())
    (cold,) = assess_log(desk, log_of(desk, *lines), start="cold")
    assert cold.calls[0].reason == "first_request"
    (warm,) = assess_log(desk, log_of(desk, claude("a")), start="warm")
    assert warm.calls[0].reason == "cache_hit"


def test_each_model_of_a_log_has_its_own_cache(desk: Workspace) -> None:
    chat = {"model": "gpt-4o", "messages": [{"role": "user", "content": POLICY}]}
    found = assess_log(desk, log_of(desk, claude("a"), chat, claude("b"), chat))
    assert [(a.provider, len(a.calls)) for a in found] == [("anthropic", 2), ("openai", 2)]
    assert [c.id for c in found[1].calls] == ["line 2", "line 4"]
    jsonschema.validate(json.loads(draw_cache("json", found, View())), SCHEMA)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no request"),
        ('{"model": "gpt-4o", "messages": []}\n{oops\n', "not JSON"),
        ('{"request": {"messages": []}, "weight": 0}\n', "whole number"),
        ('{"request": {"messages": []}, "at": "soon"}\n', "RFC 3339"),
        ("[1]", "expected an object"),
    ],
)
def test_what_is_wrong_with_a_log_is_said(desk: Workspace, text: str, message: str) -> None:
    path = desk.root / "log.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UnreadableSource, match=message) as error:
        assess_log(desk, str(path), provider="openai", model="gpt-4o")
    if "oops" in text:
        assert error.value.location is not None and error.value.location.span is not None
        assert (error.value.location.span.line, error.value.location.span.column) == (2, 2)


def test_a_log_may_be_one_object_or_an_array(desk: Workspace) -> None:
    path = desk.root / "log.json"
    for text in (json.dumps(claude("a"), indent=1), json.dumps([claude("a"), claude("b")])):
        path.write_text(text, encoding="utf-8")
        (found,) = assess_log(desk, str(path))
        assert found.calls[0].reason == "first_request"


def test_the_reason_of_a_single_fixture(desk: Workspace) -> None:
    found = explain_cache(desk, "talk.3")
    assert (found.calls[-1].id, found.calls[-1].reason) == ("talk.3", "expired")
    text = explain_cache_text(found, View())
    assert "reason  expired: what was cached had expired" in text
    assert "breakpoint after policy (30m)" in text
    other = explain_cache(desk, "b")
    assert (other.calls[-1].id, other.calls[-1].reason) == ("b", "input_changed")
    assert other.calls[-1].difference is not None
    assert other.calls[-1].difference.id == "user"
    with pytest.raises(NothingMatched, match="no fixture"):
        explain_cache(desk, "talk.33")


def test_a_fixture_that_sends_nothing(desk: Workspace) -> None:
    path = desk.root / "templates/desk.yaml"
    path.write_text(TEMPLATE.replace("checkpoints", "budget: {ceiling: 100}\ncheckpoints"), encoding="utf-8")
    small = open_workspace(desk.root, flags={}, environment={}, no_cache=True)
    with pytest.raises(NothingMatched, match="none of these fixtures sends a request") as error:
        assess_fixtures(small, Selection(fixtures=("a", "talk")))
    assert "a: budget_exceeded" in error.value.help
    with pytest.raises((UsageError, NothingMatched)):
        explain_cache(small, "a")


def test_the_claims_conversation_shows_where_it_breaks() -> None:
    library = open_workspace(ROOT, flags={}, environment={}, no_cache=True)
    (found,) = assess_fixtures(
        library, Selection(fixtures=("rear_damage_report",)), provider="openai", model="gpt-5.6-sol"
    )
    assert len(found.calls) == 5
    text = draw_cache("text", [found], View())
    assert "not append-only: 4 of 4 turns change what stood before" in text
    assert "fragments/core.data_boundary" in text
    assert found.advice is not None
    assert found.advice.best.cost < found.advice.present.cost
    assert all(t.tools.is_stable for t in found.turns)
