from __future__ import annotations

import pytest

from ctxc.detect.fidelity import compare_facts, find_facts
from ctxc.detect.quantities import han_number, plain_number, scaled


def facts(text: str) -> list[tuple[str, str]]:
    return [(fact.kind, fact.key) for fact in find_facts(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,200.50 USD", ("amount", "1200.5 USD")),
        ("$1200.5", ("amount", "1200.5 USD")),
        ("$1.2 million", ("amount", "1200000 USD")),
        ("EUR 300", ("amount", "300 EUR")),
        ("5 euros", ("amount", "5 EUR")),
        ("3万元", ("amount", "30000 CNY")),
        ("五百元", ("amount", "500 CNY")),
        ("￥88", ("amount", "88 CNY")),
        ("12 %", ("percent", "12%")),
        ("12.50 percent", ("percent", "12.5%")),
        ("百分之三十", ("percent", "30%")),
        ("30 days", ("quantity", "30 day")),
        ("30-day", ("quantity", "30 day")),
        ("30天", ("quantity", "30 day")),
        ("三十天", ("quantity", "30 day")),
        ("five weeks", ("quantity", "5 week")),
        ("3.5 km", ("quantity", "3.5 km")),
        ("3万公里", ("quantity", "30000 km")),
        ("20°C", ("quantity", "20 °C")),
        ("64000 tokens", ("quantity", "64000 token")),
        ("2026-10-31", ("date", "2026-10-31")),
        ("Oct 31, 2026", ("date", "2026-10-31")),
        ("31st October 2026", ("date", "2026-10-31")),
        ("2026年10月31日", ("date", "2026-10-31")),
        ("10月31日", ("date", "10-31")),
        ("May 2026", ("date", "2026-05")),
        ("5:30 PM", ("date", "17:30")),
        ("17:30", ("date", "17:30")),
        ("12:05 am", ("date", "00:05")),
        ("-5", ("number", "-5")),
        ("1,000,000", ("number", "1000000")),
        ("2k", ("number", "2000")),
        ("C-1042", ("id", "C-1042")),
        ("#123", ("id", "#123")),
        ("c_1", ("id", "c_1")),
        ("https://x.example/a?b=1", ("id", "https://x.example/a?b=1")),
        ("沪A12345", ("id", "沪A12345")),
        ("v1.2.3", ("id", "v1.2.3")),
        ("Ada Lovelace", ("name", "ada lovelace")),
        ("张先生", ("name", "张先生")),
        ("平安保险公司", ("name", "平安保险公司")),
        ("《保险法》", ("name", "保险法")),
        ("not covered", ("negation", "not cover")),
        ("can't cover", ("negation", "not cover")),
        ("不予赔付", ("negation", "not 赔付")),
        ("unless cancelled", ("condition", "unless cancell")),
        ("only if approved", ("condition", "only if approv")),
        ("如果超过", ("condition", "if 超过")),
        ("除非补充", ("condition", "unless 补充")),
    ],
)
def test_one_fact_in_one_form(text: str, expected: tuple[str, str]) -> None:
    assert facts(text) == [expected]
    around = "在此" + text + "。" if not text.isascii() else f"see {text} here"
    assert expected in facts(around) or expected[0] in ("negation", "condition", "name")


@pytest.mark.parametrize("text", ["", "plain words only", "非常好，不过无论如何", "a_b x.y", "the state of it"])
def test_no_fact(text: str) -> None:
    assert facts(text) == []


def test_places_and_overlaps() -> None:
    text = "理赔 C-1042：支付 1,200 USD（30 days）"
    found = find_facts(text)
    assert [(f.kind, text[f.start : f.end]) for f in found] == [
        ("id", "C-1042"),
        ("amount", "1,200 USD"),
        ("quantity", "30 days"),
    ]
    assert all(text[f.start : f.end] == f.text for f in found)


def test_a_faithful_rewording_keeps_everything() -> None:
    before = "Pay $1,200 by October 31, 2026 unless the claim C-1042 is cancelled. Ada Lovelace waits five weeks."
    after = "C-1042: 1200 USD until 2026-10-31, unless claimed; Ada Lovelace, 5 weeks"
    assert compare_facts(before, before).basis_points == 10_000
    assert [f.key for f in compare_facts(before, after).lost] == []


def test_what_a_cut_loses_is_named() -> None:
    before = "The excess is 500元. Do not repair before 2026-10-31. Wait 30 days, 30 days exactly. PIN 7."
    after = "The excess is 500元. Wait 90 days."
    result = compare_facts(before, after)
    assert [(f.kind, f.key) for f in result.lost] == [
        ("negation", "not repair"),
        ("date", "2026-10-31"),
        ("quantity", "30 day"),
        ("name", "pin"),
        ("number", "7"),
    ]
    assert (result.total, result.kept, result.basis_points) == (6, 1, 1666)
    assert ("amount", 1, 1) in result.by_kind
    assert ("quantity", 1, 0) in result.by_kind


def test_nothing_to_lose() -> None:
    assert compare_facts("plain words", "").basis_points == 10_000
    assert compare_facts("", "").total == 0


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("三百二十", "320"),
        ("十五", "15"),
        ("一万二千", "12000"),
        ("两亿三千万", "230000000"),
        ("二〇二六", "2026"),
        ("百", "100"),
    ],
)
def test_chinese_numerals(written: str, value: str) -> None:
    assert han_number(written) == value


def test_numbers() -> None:
    assert plain_number("007.50") == "7.5"
    assert plain_number("-0.0") == "-0"
    assert scaled("1.25", "k") == "1250"
    assert scaled("1.23456", "k") == "1234.56"
    assert scaled("3", "unknown") == "3"
    assert han_number("") is None
    assert han_number("元") is None
