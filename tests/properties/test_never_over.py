"""Random packs never go over their budget, counted on the rendered request by a formula of its own."""

from __future__ import annotations

import random

import pytest
from world import Record, compiler, evidence, fixture, project, spec, user

from ctxc import tokens
from ctxc.model.package import Outcome
from ctxc.model.section import Message
from ctxc.model.template import Amount, Bucket, Budget

WORDS = ["claim", "30 days", "not", "émis", "上下文", "\n", '"', "<x>", "[/EVIDENCE]", "a", "{}", "'s", "=" * 9, "👩‍👧"]


def pack(seed: int):
    source = random.Random(seed)

    def text(most: int) -> str:
        return "x " + " ".join(source.choice(WORDS) for _ in range(source.randrange(1, most)))

    records: list[Record] = [evidence(f"E{n}", text(120), source.random()) for n in range(source.randrange(1, 30))]
    history: list[Message] = [user(text(60)) for _ in range(source.randrange(0, 12))]
    asked = fixture(user=text(40), task=text(40), evidence=records, history=history)
    ceiling = source.randrange(60, 4_000)
    made = project(
        sections=[spec("task"), spec("history"), spec("evidence", source="retrieval")],
        budget=Budget(
            ceiling=ceiling,
            safety_margin=Amount(),
            output_reserve=100,
            buckets=(
                Bucket(id="evidence", min=source.randrange(0, 200), soft=source.randrange(200, 900), borrow=True),
            ),
        ),
    )
    return made, asked, ceiling


def counted(request) -> int:
    """The texts of each message encoded as one, and the framing of the profile: 3 a message, 3 for the reply."""
    encode = tokens.get("o200k_base").encode  # type: ignore[attr-defined]
    total = 3
    for message in request["messages"]:
        content = message["content"]
        whole = content if isinstance(content, str) else "".join(part["text"] for part in content)
        total += 3 + len(encode(whole))
    return total


def check(seeds: range) -> None:
    outcomes = set()
    for seed in seeds:
        made, asked, ceiling = pack(seed)
        package = compiler(made).compile(asked)
        outcomes.add(package.outcome)
        if package.outcome is Outcome.COMPILED:
            assert counted(package.request) <= ceiling, seed
            assert package.snapshot["budget"]["used_input_high"] <= ceiling, seed
        else:
            assert package.outcome is Outcome.BUDGET_EXCEEDED, (seed, package.findings)
            assert package.snapshot["budget"]["over"], seed
    assert outcomes == {Outcome.COMPILED, Outcome.BUDGET_EXCEEDED}


def test_some_packs():
    check(range(60))


@pytest.mark.slow
def test_a_thousand_packs():
    check(range(1_000))
