"""In a share that borrows, what ranks higher is served before what ranks lower, whatever their sizes."""

from __future__ import annotations

import random

import pytest
from world import compiled, evidence, fixture, project, spec, user

from ctxc.model.package import Package
from ctxc.model.section import DROP, Kind, Section
from ctxc.model.template import Bucket, Budget


def pack(seed: int) -> tuple[Package, int]:
    source = random.Random(seed)
    pieces = [
        evidence(f"E{n}", "word " * source.randrange(1, 90), round(source.uniform(0.5, 1), 2), source=f"s{n}")
        for n in range(source.randrange(2, 12))
    ]
    soft = source.randrange(30, 160)
    most = soft + source.randrange(0, 120)
    buckets = (
        Bucket(id="evidence", min=source.choice((0, 20)), soft=soft, max=most, borrow=True),
        Bucket(id="history", soft=source.randrange(10, 80), borrow=True),
    )
    made = project(
        sections=[spec("history"), spec("evidence", source="retrieval", overflow=DROP)],
        budget=Budget(buckets=buckets),
    )
    turns = [user("go on " * source.randrange(1, 40)) for _ in range(source.randrange(0, 4))]
    return compiled(made, fixture(user="hi", history=turns, evidence=pieces)), most


def rank(section: Section) -> tuple[float, str]:
    assert section.score is not None
    return (-section.score.total, section.section_id)


def check(seeds: range) -> None:
    overtaken = 0
    for seed in seeds:
        package, most = pack(seed)
        kept = [p for p in package.placed if p.section.kind is Kind.EVIDENCE]
        assert sum(p.tokens for p in kept) <= most, seed
        for gone in (d for d in package.dropped if d.stage == "fit" and d.kind == "evidence"):
            assert gone.section is not None
            above = sum(p.tokens for p in kept if rank(p.section) < rank(gone.section))
            assert above + gone.tokens > most, (seed, gone.section_id)
            overtaken += any(rank(p.section) > rank(gone.section) for p in kept)
    assert overtaken  # smaller ones behind it do go in, where it has no room at all


def test_some_shares():
    check(range(150))


@pytest.mark.slow
def test_thousands_of_shares():
    check(range(3_000))
