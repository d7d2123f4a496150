"""Budgets, buckets, the overflow ladder, and what happens when the required part does not fit."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest
from world import Record, compiled, evidence, fixture, project, provider, spec, user

from ctxc.compiler.fit import ladder
from ctxc.compiler.resolve import DEFAULT_OUTPUT_RESERVE
from ctxc.model.contract import Contract
from ctxc.model.package import Outcome
from ctxc.model.section import (
    DEFAULTS,
    DROP,
    REFERENCE,
    REFUSE,
    Kind,
    Message,
    Overflow,
    Score,
    Section,
    Strategy,
    Tier,
    ToolCall,
)
from ctxc.model.template import Amount, Bucket, Budget


def names(package):
    return [p.section.section_id for p in package.placed]


def reasons(package):
    return {d.section_id: d.reason for d in package.dropped}


def test_what_is_available_and_its_defaults():
    package = compiled(project(sections=[spec("task")]), fixture(user="hi", task="x"))
    budget = package.snapshot["budget"]
    assert budget["window"] == 128_000
    assert budget["output_reserve"] == DEFAULT_OUTPUT_RESERVE
    assert budget["safety_margin"] == 6_400
    assert budget["available_input"] == 128_000 - DEFAULT_OUTPUT_RESERVE - 6_400


def test_a_template_asks_for_no_more_than_the_window_of_a_known_model():
    row = provider().models[0]
    known = replace(provider(), models=(replace(row, pattern="m", window=8_000), replace(row, window=9_000)))
    for model, asked, window in (("m", 64_000, 8_000), ("m", 4_000, 4_000), ("m", None, 8_000), ("x", 64_000, 64_000)):
        made = project(sections=[spec("user")], budget=Budget(window=asked, output_reserve=100), providers=[known])
        budget = compiled(made, replace(fixture(user="hi"), model=model)).snapshot["budget"]
        assert (budget["window"], budget["available_input"]) == (window, window - 100 - window // 20)


def test_a_window_that_is_all_reserve_is_named_and_no_negative_number_is_shown():
    made = project(sections=[spec("task")], budget=Budget(window=4096, output_reserve=4096))
    package = compiled(made, fixture(user="hi", task="x"))
    assert package.outcome is Outcome.INVALID
    assert package.findings[0].name == "no-input-budget"
    assert "window 4,096" in package.findings[0].message
    assert "output_reserve 4,096" in package.findings[0].message
    assert "-" not in package.findings[0].message.replace("output-", "")


def test_the_required_part_that_does_not_fit_says_what_is_over_and_what_to_do():
    made = project(sections=[spec("task")], budget=Budget(window=300, output_reserve=100, safety_margin=Amount()))
    package = compiled(made, fixture(user="hi", task="word " * 400))
    assert package.outcome is Outcome.BUDGET_EXCEEDED
    assert package.request is None
    over = package.snapshot["budget"]["over"]
    assert over[0]["what"] == "required sections"
    assert over[0]["limit"] == 200
    assert over[0]["over"] == over[0]["tokens"] - 200 > 0
    assert package.snapshot["remedies"] == ["compress", "split_task", "ask"]
    exceeded = next(f for f in package.findings if f.name == "budget-exceeded")
    assert exceeded.message.startswith("CONTEXT_BUDGET_EXCEEDED")
    assert "task" in exceeded.help


def test_numbers_of_a_refused_budget_are_written_as_in_tables():
    made = project(sections=[spec("task")], budget=Budget(window=300, output_reserve=100, safety_margin=Amount()))
    package = compiled(made, fixture(user="hi", task="word " * 4000))
    over = package.snapshot["budget"]["over"][0]
    exceeded = next(f for f in package.findings if f.name == "budget-exceeded")
    assert over["tokens"] > 4000
    assert f"{over['tokens']:,} tokens, {over['over']:,} over 200" in exceeded.message
    assert "task 4," in exceeded.help


def test_max_tokens_of_a_required_section_is_a_ceiling_and_not_a_cut():
    made = project(sections=[spec("task", max_tokens=20)])
    package = compiled(made, fixture(user="hi", task="word " * 40))
    assert package.outcome is Outcome.BUDGET_EXCEEDED
    assert package.snapshot["budget"]["over"][0]["section_id"] == "task"
    assert package.snapshot["budget"]["over"][0]["what"] == "max_tokens"


def test_a_required_part_that_just_fits_is_not_refused_for_a_guess_of_the_framing():
    text = "word " * 100
    exact = compiled(project(sections=[]), fixture(user=text)).snapshot["budget"]["used_input"]
    fits = project(sections=[], budget=Budget(ceiling=exact))
    package = compiled(fits, fixture(user=text))
    assert package.outcome is Outcome.COMPILED
    assert package.snapshot["budget"]["used_input"] == exact
    short = compiled(project(sections=[], budget=Budget(ceiling=exact - 1)), fixture(user=text))
    assert short.outcome is Outcome.BUDGET_EXCEEDED
    assert short.snapshot["budget"]["over"][0]["over"] == 1


def test_a_required_part_whose_band_does_not_fit_is_refused_with_what_is_over():
    framing = {"per_message": 3, "priming": 3, "contract": {"base": 20, "low": 10, "high": 60}}
    contract = Contract(id="c", version="1", schema={"type": "object"})

    def made(ceiling):
        return compiled(
            project(contract=contract, providers=[provider(framing=framing)], budget=Budget(ceiling=ceiling)),
            fixture(user="word " * 100),
        )

    budget = made(None).snapshot["budget"]
    used, high = budget["used_input"], budget["used_input_high"]
    assert high > used + 50
    for ceiling in range(used - 2, high + 2):
        package = made(ceiling)
        assert package.outcome is (Outcome.COMPILED if ceiling >= high else Outcome.BUDGET_EXCEEDED), ceiling
        if ceiling < high:
            assert package.snapshot["budget"]["over"][0]["over"] == high - ceiling


def test_tier_goes_before_priority_and_priority_before_score():
    sections = [
        spec("a", Kind.STATE, source="runtime.a", tier=Tier.P4, priority=100, overflow=DROP),
        spec("b", Kind.STATE, source="runtime.b", tier=Tier.P3, priority=1, overflow=DROP),
        spec("c", Kind.STATE, source="runtime.c", tier=Tier.P4, priority=1, overflow=DROP),
    ]
    text = "word " * 100

    def left(ceiling):
        made = project(sections=sections, budget=Budget(ceiling=ceiling))
        return [n for n in names(compiled(made, fixture(user="hi", a=text, b=text, c=text))) if n != "user"]

    assert left(450) == ["a", "b", "c"]
    assert left(300) == ["a", "b"]
    assert left(200) == ["b"]


def test_the_lowest_score_leaves_first():
    records = [evidence(f"E{n}", f"fact {n} " * 20, n / 10) for n in range(1, 9)]
    made = project(sections=[spec("evidence", source="retrieval", overflow=DROP)], budget=Budget(ceiling=400))
    package = compiled(made, fixture(user="hi", evidence=records))
    gone = sorted(reasons(package))
    assert gone
    assert gone == [f"evidence/E{n}" for n in range(1, len(gone) + 1)]


def test_the_ladder_inside_one_tier_and_priority():
    long = "word " * 60
    sections = [
        spec("evidence", source="retrieval", tier=Tier.P3, overflow=DROP),
        spec("history", tier=Tier.P3),
        spec("tool_result", tier=Tier.P3, overflow=DROP),
        spec("memory", tier=Tier.P3, overflow=DROP),
    ]
    asked = fixture(
        user="hi",
        evidence=[evidence("low", long, 0.1), evidence("high", long + "x", 1.0, scores={"authority": 1.0})],
        history=[user(long + str(n)) for n in range(4)],
        memory=[Record(id="weak", text=long)],
        tool_results=[Record(id="t", text=long, status="ok")],
    )
    order = []
    for ceiling in range(1500, 100, -20):
        package = compiled(project(sections=sections, budget=Budget(ceiling=ceiling)), asked)
        for name in sorted(reasons(package), key=lambda n: (n.partition("/")[0], n)):
            if name not in order:
                order.append(name)
    assert order[:5] == ["evidence/low", "history/0", "history/1", "memory/weak", "tool_result/t"]


@pytest.mark.parametrize(
    ("kind", "total", "turn", "attributes", "rung"),
    [
        (Kind.EVIDENCE, 0.34, -1, {}, 0),
        (Kind.EVIDENCE, 0.35, -1, {}, 4),
        (Kind.HISTORY, None, 2, {}, 1),
        (Kind.HISTORY, None, 3, {}, 5),
        (Kind.HISTORY, None, -1, {"summary": True}, 6),
        (Kind.MEMORY, 0.34, -1, {}, 2),
        (Kind.MEMORY, 0.35, -1, {}, 4),
        (Kind.TOOL_RESULT, 0.1, -1, {}, 3),
        (Kind.HANDOFF, 0.1, -1, {}, 5),
        (Kind.EXAMPLES, None, -1, {}, 7),
    ],
)
def test_the_rung_of_each_kind_and_where_it_changes(kind, total, turn, attributes, rung):
    """Rungs of a conversation whose newest turn is 4."""
    section = Section(
        section_id="s",
        slot="s",
        kind=kind,
        source_uri="",
        turn=turn,
        attributes=attributes,
        score=None if total is None else Score(total=total),
        **asdict(DEFAULTS[kind]) | {"overflow": DROP},
    )
    assert ladder(section, 4) == rung


def _sentences(word, count):
    return " ".join(f"The {word} {n} is number {n * 7}." for n in range(count))


def test_the_lowest_score_leaves_before_a_higher_one_is_cut():
    best = {"authority": 1.0, "freshness": 1.0, "scope_match": 1.0}
    records = [
        evidence("best", _sentences("order", 90), 0.95, scores=best),
        evidence("next", _sentences("bill", 30), 0.9, scores={"authority": 1.0}),
    ]
    made = project(sections=[spec("evidence", source="retrieval", max_tokens=620)])
    package = compiled(made, fixture(user="hi", evidence=records))
    after = {c.section_id: c.after for c in package.compression}
    assert after["evidence/best"] > 500
    assert after.get("evidence/next", 0) < 120


def test_a_part_of_a_higher_tier_goes_before_a_whole_of_a_lower_one():
    sections = [spec("tool_result", source="runtime.tool_results"), spec("memory")]
    rows = [{"id": n, "text": "some words in a row"} for n in range(40)]
    asked = fixture(
        user="hi",
        tool_results=[Record(id="t", value={"rows": rows}, has_value=True, status="ok")],
        memory=[Record(id="m", text="word " * 120)],
    )
    package = compiled(project(sections=sections, budget=Budget(ceiling=300)), asked)
    assert reasons(package) == {"memory/m": "budget"}
    assert [(c.section_id, c.strategy) for c in package.compression] == [("tool_result/t", "json")]
    assert package.compression[0].after > 150


def test_low_relevance_evidence_is_shortened_only_into_room_that_nobody_takes():
    sections = [spec("evidence", source="retrieval"), spec("memory")]
    asked = fixture(
        user="hi",
        evidence=[evidence("low", _sentences("order", 60), 0.1)],
        memory=[Record(id="m", text="word " * 120)],
    )
    package = compiled(project(sections=sections, budget=Budget(ceiling=300)), asked)
    assert reasons(package) == {}
    assert [(c.section_id, c.after < 150) for c in package.compression] == [("evidence/low", True)]


@pytest.mark.parametrize("strategy", [Strategy.EVIDENCE, Strategy.LINES])
def test_a_cut_that_leaves_nothing_but_its_mark_is_no_cut(strategy):
    """One line, one sentence, neither of which fits: the section leaves and is not shown empty."""
    cut = Overflow(action="cut", strategy=strategy)
    text = "é" * 2000 if strategy is Strategy.EVIDENCE else "word " * 400
    made = project(sections=[spec("evidence", source="retrieval", overflow=cut, max_tokens=46)])
    package = compiled(made, fixture(user="hi", evidence=[evidence("E", text, 1.0)]))
    assert reasons(package) == {"evidence/E": "max_tokens"}
    assert package.compression == ()


def test_a_bucket_floor_is_kept_free_for_it():
    sections = [
        spec("notes", Kind.STATE, source="runtime.notes", tier=Tier.P3, priority=90, overflow=DROP),
        spec("evidence", source="retrieval", priority=1, overflow=DROP),
    ]
    asked = fixture(user="hi", notes="word " * 150, evidence=[evidence("E", "fact " * 80)])
    without = compiled(project(sections=sections, budget=Budget(ceiling=250)), asked)
    assert reasons(without) == {"evidence/E": "budget"}
    floor = (Bucket(id="evidence", min=110, soft=200),)
    with_floor = compiled(project(sections=sections, budget=Budget(ceiling=250, buckets=floor)), asked)
    assert reasons(with_floor) == {"notes": "budget"}


@pytest.mark.parametrize("strategy", [s for s in Strategy if s is not Strategy.ROLE])
def test_each_strategy_cuts_into_the_limit_and_marks_it(strategy):
    text = json.dumps({"rows": ["word " * 10] * 40}) if strategy is Strategy.JSON else "A sentence of words.\n" * 80
    cut = Overflow(action="cut", strategy=strategy)
    made = project(sections=[spec("handoff", overflow=cut, max_tokens=150)])
    package = compiled(made, fixture(user="hi", handoff=[Record(id="h", text=text)]))
    placed = next(p for p in package.placed if p.section.section_id == "handoff/h")
    assert placed.truncated
    assert placed.tokens <= 150
    assert package.compression[0].strategy == strategy.value
    json.loads(placed.content)


@pytest.mark.parametrize(
    ("asked_for", "applied"),
    [(Strategy.JSON, "middle"), (Strategy.ROLE, "head"), (Strategy.TAIL, "tail")],
)
def test_the_strategy_that_was_applied_is_the_one_that_is_recorded(asked_for, applied):
    """A text that is no JSON is not cut as JSON, and one without messages not by role."""
    cut = Overflow(action="cut", strategy=asked_for)
    made = project(sections=[spec("handoff", overflow=cut, max_tokens=150)])
    package = compiled(made, fixture(user="hi", handoff=[Record(id="h", text="A sentence of words. " * 80)]))
    assert [(c.section_id, c.strategy) for c in package.compression] == [("handoff/h", applied)]


def _large_result():
    rows = [{"id": n, "text": "some words in a row"} for n in range(60)]
    return Record(id="t", value={"rows": rows}, has_value=True, status="ok", artifact_ref="artifact://t")


def test_what_refuses_is_whole_in_every_tier():
    for kind, records in (
        ("tool_result", {"tool_results": [_large_result()]}),
        ("memory", {"memory": [Record(id="m", text="word " * 400)]}),
    ):
        made = project(sections=[spec(kind, overflow=REFUSE)], budget=Budget(ceiling=200))
        package = compiled(made, fixture(user="hi", **records))
        assert package.outcome is Outcome.BUDGET_EXCEEDED
        assert package.snapshot["budget"]["over"][0]["over"] > 0


def test_what_is_to_be_dropped_is_not_replaced_by_a_reference():
    asked = fixture(user="hi", tool_results=[_large_result()])
    for overflow, strategies in ((DROP, []), (REFERENCE, ["reference"]), (None, ["json"])):
        made = project(sections=[spec("tool_result", overflow=overflow)], budget=Budget(ceiling=200))
        package = compiled(made, asked)
        assert [c.strategy for c in package.compression] == strategies
        assert reasons(package) == ({} if strategies else {"tool_result/t": "budget"})


def test_a_reference_stands_for_a_large_result():
    record = Record(
        id="t", value={"rows": ["word " * 50] * 50}, has_value=True, status="ok", artifact_ref="artifact://r/1"
    )
    made = project(sections=[spec("tool_result", overflow=REFERENCE, max_tokens=120)])
    package = compiled(made, fixture(user="hi", tool_results=[record]))
    placed = next(p for p in package.placed if p.section.kind is Kind.TOOL_RESULT)
    assert json.loads(placed.content) == {"ref": "artifact://r/1", "type": "tool_result", "status": "ok"}
    assert [d.verdict for d in package.decisions if d.stage == "fit" and d.section_id == "tool_result/t"] == [
        "referenced"
    ]


def test_a_cut_tool_result_keeps_status_and_reference():
    record = Record(
        id="t",
        value={"rows": [{"n": n, "text": "word " * 10} for n in range(60)]},
        has_value=True,
        status="partial",
        artifact_ref="artifact://r/1",
        call_id="c9",
    )
    package = compiled(
        project(sections=[spec("tool_result", max_tokens=220)]), fixture(user="hi", tool_results=[record])
    )
    body = json.loads(next(p for p in package.placed if p.section.kind is Kind.TOOL_RESULT).content)
    assert (body["call_id"], body["status"], body["artifact_ref"], body["truncated"]) == (
        "c9",
        "partial",
        "artifact://r/1",
        True,
    )
    assert body["data"]["rows"]


def test_order_edges_puts_the_strongest_at_both_ends():
    records = [evidence(f"E{n}", f"fact {n}", n / 10, source=f"s{n}") for n in range(1, 6)]
    made = project(sections=[spec("evidence", source="retrieval", order="edges")])
    package = compiled(made, fixture(user="hi", evidence=records))
    assert [n for n in names(package) if n != "user"] == [f"evidence/E{n}" for n in (5, 3, 1, 2, 4)]


def test_special_tokens_in_text_are_counted_as_text():
    package = compiled(project(sections=[]), fixture(user="<|endoftext|><|im_start|>"))
    assert package.placed[0].tokens > 8


def _steps(count):
    steps = [user("Go on.")]
    for n in range(count):
        call = ToolCall(id=f"call_{n}", name="search_orders", arguments=json.dumps({"query": f"order {n}", "limit": n}))
        steps.append(Message(role="assistant", content="", tool_calls=(call,)))
        steps.append(Message(role="tool", content=f"row {n} of the orders " * 6, tool_call_id=f"call_{n}"))
    return steps


@pytest.mark.parametrize("shape", ["openai_chat", "anthropic_messages", "openai_responses", "text"])
@pytest.mark.parametrize("bound", [300, 450, 700])
def test_the_tokens_that_the_shape_adds_to_tool_calls_are_inside_the_bounds(shape, bound):
    asked = fixture(user="hi", history=_steps(16))
    for sections, budget in [
        ([spec("history", max_tokens=bound)], Budget()),
        ([spec("history")], Budget(buckets=(Bucket(id="history", soft=bound),))),
    ]:
        made = project(sections=sections, budget=budget, providers=[provider(shape_id=shape)])
        package = compiled(made, asked)
        tokens = {p.section.section_id: p.tokens for p in package.placed if p.section.kind is Kind.HISTORY}
        assert package.outcome is Outcome.COMPILED
        assert package.dropped
        assert 100 < sum(tokens.values()) <= bound
        fitted = {d.section_id: d.after for d in package.decisions if d.stage == "fit" and d.section_id in tokens}
        assert fitted == tokens
        if budget.buckets:
            assert package.snapshot["budget"]["buckets"]["history"]["used"] == sum(tokens.values())


def _turns_with_a_long_step():
    said = ["one", "two", "word " * 200, "three"]
    asked = [user(text) for text in ("first", "second", "third")]
    replies = [Message(role="assistant", content=text) for text in said]
    return [asked[0], replies[0], asked[1], replies[1], asked[2], replies[2], replies[3]]


@pytest.mark.parametrize(
    ("section", "budget", "bound"),
    [
        ({"max_tokens": 100}, None, "max_tokens"),
        ({}, Budget(buckets=(Bucket(id="history", max=100),)), "bucket"),
        ({}, Budget(ceiling=140), "budget"),
    ],
)
def test_a_conversation_that_lost_steps_takes_no_older_turn_back(section, budget, bound):
    made = project(sections=[spec("history", **section)], budget=budget)
    package = compiled(made, fixture(user="hi", history=_turns_with_a_long_step()))
    assert names(package) == ["history/4", "history/6", "user"]
    assert reasons(package) == dict.fromkeys([f"history/{n}" for n in (0, 1, 2, 3, 5)], bound)
    details = {d.section_id: d.detail for d in package.dropped}
    assert details["history/5"] == "older steps of the turn"
    assert {details[f"history/{n}"] for n in range(4)} == {"older than a turn that did not fit whole"}


def test_a_turn_that_would_fit_is_out_because_a_newer_one_is():
    history = [user("short"), user("word " * 200), user("newest")]
    made = project(sections=[spec("history", max_tokens=100)])
    package = compiled(made, fixture(user="hi", history=history))
    assert names(package) == ["history/2", "user"]
    assert {d.section_id: (d.reason, d.detail) for d in package.dropped} == {
        "history/1": ("max_tokens", "201 tokens, room for 98"),
        "history/0": ("max_tokens", "older than a turn that did not fit whole"),
    }


@pytest.mark.parametrize("share", ["bucket", "max_tokens"])
def test_a_turn_of_nothing_but_its_question_goes_in_up_to_the_last_token(share):
    """Its share knows no framing: a token more is out, a token less is in."""
    whole = compiled(project(sections=[spec("history")]), fixture(user="hi", history=[user("word " * 50)]))
    tokens = whole.placed[0].tokens
    for limit, there in ((tokens, ["history/0", "user"]), (tokens - 1, ["user"])):
        section = spec("history", max_tokens=limit) if share == "max_tokens" else spec("history")
        buckets = (Bucket(id="history", max=limit),) if share == "bucket" else ()
        made = project(sections=[section], budget=Budget(buckets=buckets))
        package = compiled(made, fixture(user="hi", history=[user("word " * 50)]))
        assert names(package) == there
        assert list(reasons(package).values()) == [share] * (2 - len(there))


@pytest.mark.parametrize("tier", [Tier.P3, Tier.P4])
def test_a_summary_neither_closes_a_conversation_nor_leaves_with_its_turns(tier):
    made = project(sections=[spec("history", tier=tier, max_tokens=140)])
    package = compiled(made, fixture(user="hi", summary="They want a refund.", history=_turns_with_a_long_step()))
    assert sorted(names(package)) == ["history/4", "history/6", "history/summary", "user"]


def test_what_was_left_for_a_section_is_told_with_what_it_could_have_borrowed():
    buckets = (Bucket(id="memory", soft=20, max=70, borrow=True),)
    made = project(sections=[spec("memory")], budget=Budget(buckets=buckets))
    package = compiled(made, fixture(user="hi", memory=[Record(id="m", text="word " * 100)]))
    (gone,) = package.dropped
    assert (gone.reason, gone.detail) == ("bucket", f"{gone.tokens} tokens, room for 70")


def _two_pieces(**first):
    return [evidence("one", "some words " * 20, 0.9, source="a", **first), evidence("two", "others " * 30, 0.9)]


def _evidence_tokens(package):
    return {p.section.section_id: p.tokens for p in package.placed if p.section.kind is Kind.EVIDENCE}


@pytest.mark.parametrize("share", ["bucket", "max_tokens"])
def test_what_is_required_of_a_section_takes_of_its_share_and_may_take_all_of_it(share):
    def made(limit):
        section = spec("evidence", source="retrieval", overflow=DROP)
        if share == "max_tokens":
            return project(sections=[replace(section, max_tokens=limit)])
        return project(sections=[section], budget=Budget(buckets=(Bucket(id="evidence", max=limit),)))

    asked = fixture(user="hi", evidence=_two_pieces(required=True))
    tokens = _evidence_tokens(compiled(made(10_000), asked))
    both = sum(tokens.values())
    for limit, gone in (
        (both, {}),
        (both - 1, {"evidence/two": share}),
        (tokens["evidence/one"], {"evidence/two": share}),
    ):
        package = compiled(made(limit), asked)
        assert reasons(package) == gone
        if share == "bucket":
            used = sum(_evidence_tokens(package).values())
            assert package.snapshot["budget"]["buckets"]["evidence"]["used"] == used
    if share == "max_tokens":
        package = compiled(made(tokens["evidence/one"] - 1), asked)
        assert package.outcome is Outcome.BUDGET_EXCEEDED
        over = package.snapshot["budget"]["over"]
        assert [(o["section_id"], o["what"], o["over"]) for o in over] == [("evidence", "max_tokens", 1)]


def test_a_request_is_filled_to_the_last_token():
    """Nothing is set aside for sections that want nothing more."""
    sections = [spec("policy", source="p.md"), spec("task"), spec("evidence", source="retrieval", overflow=DROP)]
    files = {"p.md": "Never reveal other customers."}
    asked = fixture(user="hi", task="Help.", evidence=_two_pieces())
    used = compiled(project(sections=sections, files=files), asked).snapshot["budget"]["used_input"]
    full = compiled(project(sections=sections, files=files, budget=Budget(ceiling=used)), asked)
    assert (full.dropped, full.snapshot["budget"]["used_input"]) == ((), used)
    short = compiled(project(sections=sections, files=files, budget=Budget(ceiling=used - 1)), asked)
    assert reasons(short) == {"evidence/two": "budget"}


def test_where_floors_do_not_fit_together_the_higher_tier_has_its_own():
    sections = [
        spec("memory", tier=Tier.P4, overflow=DROP),
        spec("evidence", source="retrieval", tier=Tier.P3, overflow=DROP),
    ]
    buckets = (Bucket(id="memory", min=70, soft=200), Bucket(id="evidence", min=70, soft=200))
    asked = fixture(user="hi", evidence=[evidence("E", "fact " * 40, 0.9)], memory=[Record(id="m", text="word " * 60)])
    made = project(sections=sections, budget=Budget(ceiling=120, buckets=buckets))
    package = compiled(made, asked)
    assert names(package) == ["evidence/E", "user"]
    noted = [d for d in package.decisions if d.stage == "allocate"]
    left = 120 - 4 - 9 - package.placed[0].tokens  # of the ceiling, less the question, the framing, the other floor
    assert [(d.section_id, d.reason, d.before, d.after) for d in noted] == [
        ("memory", "the floor does not fit", 70, left)
    ]


def _sharing(ceiling):
    """A turn that ranks first and would borrow 100 tokens and more, and evidence of which the better piece has to."""
    sections = [spec("history", priority=90), spec("evidence", source="retrieval", overflow=DROP)]
    buckets = (
        Bucket(id="history", soft=10, borrow=True),
        Bucket(id="evidence", soft=100, max=200, borrow=True),
    )
    pieces = [evidence("best", "word " * 90, 0.9, source="a"), evidence("rest", "other " * 20, 0.6, source="b")]
    budget = Budget(ceiling=ceiling, safety_margin=Amount(), buckets=buckets)
    return compiled(
        project(sections=sections, budget=budget), fixture(user="hi", history=[user("turn " * 100)], evidence=pieces)
    )


def test_a_share_is_kept_for_what_waits_in_it_while_another_borrows():
    roomy = _sharing(10_000)
    assert reasons(roomy) == {}
    tokens = {p.section.section_id: p.tokens for p in roomy.placed}
    assert tokens["evidence/best"] > 100 >= tokens["evidence/rest"]
    used = roomy.snapshot["budget"]["used_input"]
    seen = set()
    for ceiling in range(used - 170, used + 20, 10):
        package = _sharing(ceiling)
        there = set(names(package)) - {"user"}
        seen.add(frozenset(there))
        # The turn ranks first, and borrows nothing of the share that the better piece waits for.
        if "history/0" in there:
            taken = package.snapshot["budget"]["overhead"] + tokens["history/0"] + tokens["user"]
            assert ceiling - taken >= 100
    assert {frozenset({"evidence/best", "evidence/rest"}), frozenset(tokens) - {"user"}} <= seen
